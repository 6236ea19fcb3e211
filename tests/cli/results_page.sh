#!/bin/bash
# The tables of experiments/paper/RESULTS.md are what "osafl report" says of the runs that are kept
# beside it.
set -eu
OSAFL=$1 exec "$2/experiments/paper/results.sh" page --check
