#!/usr/bin/env python3
"""results.py DIR... - the tables of RESULTS.md, from the folders of experiments: means over seeds of what a
run came to, and of the first column the difference to the first case, paired by seed, with its 95 % interval."""
import csv
import json
import math
import pathlib
import sys

# Two-sided 95 % quantiles of Student's t, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
# Title, column of rounds.csv, and of which rounds: the last tenth, or all.
COLUMNS = [("test accuracy, end", "test_accuracy", "end"),
           ("on arrivals", "prequential_accuracy", "all"), ("on present mix", "mix_present", "all"),
           ("on worst mix, end", "mix_worst", "end"), ("forgetting, end", "mix_forgetting", "end"),
           ("worst tenth of clients, end", "client_worst_tenth", "end"),
           ("age of samples, end", "mean_age_stored", "end"), ("joules of a round", "energy_j", "all")]


def value(rows, column, which):
    chosen = rows[-max(1, len(rows) // 10):] if which == "end" else rows
    numbers = [float(row[column]) for row in chosen if row[column] != ""]
    return sum(numbers) / len(numbers) if numbers else math.nan


def runs_of(folder):
    """{seed: rows of rounds.csv} of the finished runs of a case."""
    runs = {}
    for model in folder.glob("seed-*/model.safetensors"):
        table = model.with_name("rounds.csv")
        with open(table, newline="") as file:
            runs[int(table.parent.name.split("-")[1])] = list(csv.DictReader(file))
    return runs


def difference(runs, reference):
    seeds = sorted(runs.keys() & reference.keys())
    each = [value(runs[s], *COLUMNS[0][1:]) - value(reference[s], *COLUMNS[0][1:]) for s in seeds]
    n = len(each)
    if n - 1 not in STUDENT:
        return "-"
    mean = sum(each) / n
    half = STUDENT[n - 1] * math.sqrt(sum((x - mean) ** 2 for x in each) / (n - 1) / n)
    return "%+.3f ± %.3f" % (mean, half)


def print_table(folder):
    with open(next(folder.glob("grid-*.json"))) as file:
        cells = list(json.load(file)["cells"])
    print("\n## %s\n" % folder.name)
    titles = ["case", "seeds", COLUMNS[0][0], "difference"] + [title for title, *_ in COLUMNS[1:]]
    print("| %s |\n|%s" % (" | ".join(titles), "---|" * len(titles)))
    first = {}  # by the values that vary besides the case
    for cell in cells:
        runs = runs_of(folder / cell.replace(",", "_").replace("=", "_"))
        case, _, varied = cell.partition(",") if "=" not in cell.split(",")[0] else ("", "", cell)
        reference = first.setdefault(varied, runs)
        if not runs:
            continue
        means = [sum(value(rows, column, which) for rows in runs.values()) / len(runs)
                 for _, column, which in COLUMNS]
        print("| %s | %d | %.3f | %s | %s |" % (
            cell.replace(",", ", "), len(runs), means[0],
            "-" if reference is runs else difference(runs, reference),
            " | ".join("%.3g" % mean for mean in means[1:])))


for name in sys.argv[1:]:
    print_table(pathlib.Path(name))
