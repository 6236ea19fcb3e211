#!/usr/bin/env bash
# report_latex.sh OSAFL SOURCE-TREE - every table of "osafl report --format latex" compiles and fits
# into a column of two-column IEEE pages (3.5 inches).  Skipped without pdflatex.
set -euo pipefail
osafl=$1
golden=$2/tests/golden/report
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! command -v pdflatex >/dev/null || ! kpsewhich booktabs.sty graphicx.sty >/dev/null; then
    echo "pdflatex, booktabs or graphicx is not installed (apt-get install texlive-latex-recommended): skipped"
    exit 77
fi
cd "$work"
n=0
table() { # ARGUMENT...: of osafl report
    n=$((n + 1))
    "$osafl" report --format latex "$@" >"table$n.tex"
    printf '\\typeout{TABLE %s}\\input{table%d}\\clearpage\n' "$*" "$n" >>body.tex
}
table "$golden/paper-table"
table --percent --against M-FedAvg "$golden/paper-table"
table --compute "$golden/paper-table"
table "$golden/levels"
table --by quantizer.qsgd.levels "$golden/levels"

cat >all.tex <<'END'
\documentclass[10pt,twocolumn]{article}
\usepackage{booktabs,graphicx}
\setlength{\textwidth}{7.16in}
\setlength{\columnsep}{0.16in}
\begin{document}
\typeout{COLUMN \the\columnwidth}
\input{body}
\end{document}
END
if ! pdflatex -draftmode -interaction=nonstopmode -halt-on-error all.tex >out || grep -q '^Overfull' out; then
    echo "FAILED: a table does not compile, or does not fit:"
    grep -E '^(TABLE|COLUMN|Overfull|!)' -A2 out
    exit 1
fi
grep -q '^COLUMN 252\.' out || { echo "FAILED: the column: $(grep COLUMN out)"; exit 1; }
[ "$(grep -c '^TABLE' out)" -eq $n ] || { echo "FAILED: not $n tables"; exit 1; }
