#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# buffers.sh - runs all cases of buffers.c, with stdout a pipe (under oshrun) and a file.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

for n in 1 2; do
    for way in full none; do
        run 0 -n $n "$bugs/buffers" $way
        prints '^kept$'
    done
    run_fails -n $n "$bugs/buffers" error
    prints 'before the error'
    says "argument 'pe' = 99"
done
got=0
timeout -k 5 "$limit_s" "$bugs/buffers" error >"$work/out" 2>"$work/err" || got=$?
[ $got -eq 1 ] || fail "alone, buffers error ended with $got, should be 1"
prints 'before the error'
finish
