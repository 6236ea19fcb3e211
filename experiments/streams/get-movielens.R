#!/usr/bin/env Rscript
# get-movielens.R FILE.csv - the next requests of MovieLens users, a table for requests.cfg.
#
# The data are those of Debian's package r-cran-dslabs (apt-get install --no-install-recommends
# r-cran-dslabs): the 100,004 ratings of 671 users of MovieLens Latest Small (F. M. Harper and J. A. Konstan, The
# MovieLens Datasets, ACM TiiS 5(4), 2015). The package is under the Artistic License 2.0; GroupLens, whose
# data they are, asks to cite the article and to ask before any commercial use
# (https://grouplens.org/datasets/movielens). They are no part of this program, and neither is the table.
#
# A rating is taken for a request. Of each user with at least 300 of them, and no more than 30 in a minute (who
# has more sent a list), every request but the first is a row:
#   user, time    who, and when: minutes since the user's first request, with pauses of more than 10 minutes
#                 shortened to 10, so that sessions that lie years apart follow each other
#   popularity    the class to predict: how often all users request the movie, in four classes of about
#                 equally many requests (1: rare, 4: popular); taken from all the years, as a catalogue would know it
#   last          class of the user's last request
#   all_1 ... 4   share of each class in the user's earlier requests
#   late_1 ... 4  share of each class in the last 10
#   year, gap, earlier   year of the last movie; log of the minutes since then, and of the number of earlier requests
#   day_sin, day_cos     time of day
file <- commandArgs(trailingOnly = TRUE)
if (length(file) != 1) stop("usage: get-movielens.R FILE.csv")
if (!requireNamespace("dslabs", quietly = TRUE))
    stop("dslabs is missing: apt-get install --no-install-recommends r-cran-dslabs")
data(movielens, package = "dslabs")
m <- movielens[order(movielens$userId, movielens$timestamp, movielens$movieId), ]
m$year[is.na(m$year)] <- median(m$year, na.rm = TRUE)
requests <- ave(rep(1, nrow(m)), m$movieId, FUN = sum)
m$class <- as.integer(cut(requests, quantile(requests, 0:4 / 4), include.lowest = TRUE))

# Share of each class among the up to `most` requests before each one but the first.
shares_before <- function(class, most, name) {
    n <- length(class)
    sums <- rbind(0, apply(outer(class, 1:4, "=="), 2, cumsum))
    from <- pmax(0, seq_len(n - 1) - most)
    shares <- (sums[2:n, ] - sums[from + 1, ]) / (seq_len(n - 1) - from)
    colnames(shares) <- paste0(name, 1:4)
    round(shares, 4)
}

of_user <- function(i) {
    after <- i[-1]
    before <- i[-length(i)]
    gap <- diff(m$timestamp[i]) / 60
    day <- m$timestamp[after] %% 86400 / 86400 * 2 * pi
    data.frame(user = m$userId[after], time = round(cumsum(pmin(gap, 10)), 4), popularity = m$class[after],
               last = m$class[before], shares_before(m$class[i], Inf, "all_"),
               shares_before(m$class[i], 10, "late_"), year = m$year[before], gap = round(log1p(gap), 4),
               earlier = round(log(seq_along(before)), 4), day_sin = round(sin(day), 4),
               day_cos = round(cos(day), 4))
}

most_a_minute <- function(i) max(table(m$timestamp[i] %/% 60))
rows <- split(seq_len(nrow(m)), m$userId)
rows <- rows[lengths(rows) >= 300]
rows <- rows[vapply(rows, most_a_minute, 0) <= 30]
table <- do.call(rbind, lapply(rows, of_user))
write.csv(table, file, row.names = FALSE, quote = FALSE)
cat(sprintf("%s: %d requests of %d users\n", file, nrow(table), length(rows)))
