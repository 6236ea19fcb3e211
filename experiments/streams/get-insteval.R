#!/usr/bin/env Rscript
# get-insteval.R FILE.csv - ratings of lectures as a table for dataset/csv: which mark does a student give?
#
# The data are those of Debian's package r-cran-lme4 (apt-get install --no-install-recommends r-cran-lme4; GPL 2
# or later): 73,421 ratings of 1,128 lecturers by students of ETH Zurich over six semesters.  They are no part of
# this program, and neither is the table.
#
# Each rating is a row:
#   dept, semester   which department's lecture, and when: 0 to 5
#   mark             1 to 5, to predict
#   studage          semesters that the student had been enrolled: 2, 4, 6, or 8 and more
#   service          1: a lecture for students of another department
#   rated, earlier   log(1 + number) and mean of the lecturer's ratings in earlier semesters (none: 3)
# The semester is all that the data say of time, so a round is a semester.  An experiment with the departments as
# clients, and what came before semester 1 in the stores, has
#   dataset:   { plugin = "csv"; csv: { path = "insteval.csv"; label = "mark"; client = "dept"; time = "semester";
#                                       categorical = "studage"; standardise = true; }; };
#   partition: { plugin = "natural"; };
#   arrival:   { plugin = "timed"; timed: { start = 1.0; period = 1.0; }; };
#   model:     { plugin = "logistic"; };
#   optimizer: { sgd: { learning_rate = 0.1; }; };
file <- commandArgs(trailingOnly = TRUE)
if (length(file) != 1) stop("usage: get-insteval.R FILE.csv")
if (!requireNamespace("lme4", quietly = TRUE))
    stop("lme4 is missing: apt-get install --no-install-recommends r-cran-lme4")
data(InstEval, package = "lme4")

# lectage is the number of semesters back: 1 to 6.
semester <- 6 - as.integer(as.character(InstEval$lectage))
lecturer <- as.integer(InstEval$d)
number <- matrix(0, nlevels(InstEval$d), 7)
total <- number
for (t in 0:5) {
    now <- semester == t
    number[, t + 2] <- number[, t + 1] + tabulate(lecturer[now], nlevels(InstEval$d))
    total[, t + 2] <- total[, t + 1] +
        tapply(InstEval$y[now], factor(lecturer[now], seq_len(nlevels(InstEval$d))), sum, default = 0)
}
before <- cbind(lecturer, semester + 1)
table <- data.frame(dept = InstEval$dept, semester = semester, mark = InstEval$y, studage = InstEval$studage,
                    service = InstEval$service, rated = round(log1p(number[before]), 4),
                    earlier = round(ifelse(number[before] > 0, total[before] / number[before], 3), 4))
table <- table[order(table$semester), ]
write.csv(table, file, row.names = FALSE, quote = FALSE)
cat(sprintf("%s: %d ratings in %d departments\n", file, nrow(table), length(unique(table$dept))))
