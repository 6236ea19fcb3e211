#!/usr/bin/env bash
# make_man.sh PROGRAM - writes the man page osafl(1), made of what the program says of its commands.
set -euo pipefail
program=$1

roff() { # text for a line of roff
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"
}

verbatim() {
    printf '.EX\n'
    roff
    printf '.EE\n'
}

version=$("$program" --version)
cat <<END
.\\" Made by sdk/make_man.sh from the program's own help.
.TH OSAFL 1 "" "$(cut -d' ' -f1,2 <<< "$version")" "User Commands"
.SH NAME
osafl \\- federated learning experiments for resource\\-constrained wireless clients
.SH SYNOPSIS
.B osafl
.I COMMAND
[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]
.SH DESCRIPTION
.B osafl
runs experiments in federated learning: a server trains a model with clients that have little power
and storage, a fading radio link, and data that keep arriving.
An experiment is one file; every algorithm in it is a plugin that is named there.
.SH COMMANDS
END

"$program" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | while read -r command; do
    printf '.SS osafl %s\n' "$command"
    if [ "$command" = plugin ]; then
        "$program" plugin --help | verbatim
        for sub in new check list; do
            printf '.SS osafl plugin %s\n' $sub
            "$program" plugin $sub --help | verbatim
        done
    else
        "$program" "$command" --help | verbatim
    fi
done

cat <<'END'
.SH EXIT STATUS
.TP
0
success
.TP
1
a run failed, or a plugin broke a rule
.TP
2
the command line or an experiment is wrong
.TP
3
a run was interrupted, and the same command goes on with it
.SH ENVIRONMENT
.TP
.B OSAFL_PLUGIN_PATH
Folders, absolute and separated by colons, in which plugins are looked for as
.IR KIND / NAME .so
before those of the program.
.TP
.B OSAFL_ISA
The instruction set that numeric kernels use: baseline, avx2 or avx512; by default the best one that
the processor has.
.TP
.BR OPENBLAS_CORETYPE ", " OPENBLAS_NUM_THREADS
Set by the program where the user has not set them.
.SH FILES
.TP
.IR results / NAME / CASE / seed\-N\-HASH
The results of a run: rounds.csv, clients.csv, model.safetensors, manifest.json, environment.json,
timing.csv, checkpoints.
.SH SEE ALSO
The documents of the program, among them RULES.md and FIRST_AGGREGATOR.md for authors of plugins, and
REFERENCE.md for all settings.
END
