#!/usr/bin/env Rscript
# get-air.R FILE.csv - daily air quality as a table for dataset/csv: how much dust will there be tomorrow?
#
# The data are those of Debian's package r-cran-spacetime (apt-get install --no-install-recommends
# r-cran-spacetime; GPL 2 or later): PM10 at 70 rural stations in Germany, 1998 to 2009, of the European
# air quality database AirBase (E. Pebesma, spacetime, J. Stat. Softw. 51(7), 2012). They are no part of this
# program, and neither is the table.
#
# Each day of a station whose value and last three values are known is a row:
#   station, day   where, and when: days since 1998-01-01
#   pm10           log of the value in ug/m3, to predict
#   last_1 ... 3   the same of the days before
#   others         mean of the other stations the day before
#   year_sin, year_cos, weekday   season, and day of the week (0: Thursday)
# An experiment with a round for each week from 2004 on, and what came before in the stores, has
#   dataset:   { plugin = "csv"; csv: { path = "air.csv"; label = "pm10"; target = "real"; client = "station";
#                                       time = "day"; categorical = "weekday"; }; };
#   partition: { plugin = "natural"; };
#   arrival:   { plugin = "timed"; timed: { start = 2191.0; period = 7.0; }; };
#   model:     { plugin = "network"; network: { loss = "squared_error"; layers = ({ linear = "classes"; }); }; };
#   optimizer: { sgd: { learning_rate = 0.01; }; };
file <- commandArgs(trailingOnly = TRUE)
if (length(file) != 1) stop("usage: get-air.R FILE.csv")
if (!requireNamespace("spacetime", quietly = TRUE))
    stop("spacetime is missing: apt-get install --no-install-recommends r-cran-spacetime")
data(air, package = "spacetime")
pm10 <- log(pmax(air, 1))
days <- ncol(pm10)
known <- !is.na(pm10)
sums <- colSums(pm10, na.rm = TRUE)

of_station <- function(s) {
    x <- pm10[s, ]
    day <- 4:days
    others <- (sums - ifelse(known[s, ], x, 0)) / (colSums(known) - known[s, ])
    angle <- 2 * pi * day / 365.25
    table <- data.frame(station = rownames(pm10)[s], day = day - 1, pm10 = round(x[day], 4),
                        last_1 = round(x[day - 1], 4), last_2 = round(x[day - 2], 4),
                        last_3 = round(x[day - 3], 4), others = round(others[day - 1], 4),
                        year_sin = round(sin(angle), 4), year_cos = round(cos(angle), 4),
                        weekday = (day - 1) %% 7)
    table[complete.cases(table), ]
}

table <- do.call(rbind, lapply(seq_len(nrow(pm10)), of_station))
write.csv(table, file, row.names = FALSE, quote = FALSE)
cat(sprintf("%s: %d days of %d stations\n", file, nrow(table), length(unique(table$station))))
