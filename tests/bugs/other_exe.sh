#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# other_exe.sh - a job of two executables, under oshrun and under mpirun.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

run 0 -n 2 sh -c 'case $PMIX_RANK in 0) exec "$0" ;; *) exec "$1" ;; esac' \
    "$bugs/other_a" "$bugs/other_b"
if have_mpirun; then
    got=0
    env "$mark" TMPDIR="$work/tmp" timeout -k 5 30 "$mpirun" --oversubscribe \
        -n 1 "$bugs/other_a" : -n 1 "$bugs/other_b" </dev/null >"$work/err" 2>&1 ||
        got=$?
    [ $got -eq 0 ] || wrong 'mpirun of two executables should end with 0'
else
    echo 'not tested under mpirun: no Open MPI; apt-get install openmpi-bin'
fi
rm -rf "$work"/tmp/* # mpirun may leave its directories behind
finish
