#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exits.sh - the exit status and the output of jobs that end in the ways of exits.c.
set -eu
exits=$top_builddir/tests/api/multi/exits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# job WAY STATUS PES: run exits WAY; it must end with STATUS; the output is in $work/out.
job() {
    status=0
    timeout -k 5 60 "$OSHRUN" -n "$3" "$exits" "$1" >"$work/out" 2>"$work/err" ||
        status=$?
    if [ "$status" -ne "$2" ]; then
        echo "exits $1 with $3 PEs: status $status, should be $2"
        cat "$work/err"
        failed=1
    fi
}

# count_lines PATTERN COUNT: COUNT lines of the output must match PATTERN.
count_lines() {
    n=$(grep -c "$1" "$work/out" || :)
    if [ "$n" -ne "$2" ]; then
        echo "$n lines match '$1', expected $2:"
        cat "$work/out"
        failed=1
    fi
}

for n in 1 2 5; do
    job return 0 $n
    count_lines 'returns without finalize' $n
    job exit 0 $n
    job atexit 0 $n
    count_lines 'at exit of PE' $n
    job finalize 0 $n
    count_lines '^after finalize: initialized 0$' $n
    job status 3 $n
    job global 42 $n
    job global-0 0 $n
    job no-init 0 $n
done
start=$(date +%s)
job global-busy 42 4
if [ $(($(date +%s) - start)) -gt 30 ]; then
    echo "shmem_global_exit did not end computing PEs within 30 s"
    failed=1
fi
exit $failed
