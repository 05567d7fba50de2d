#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mini-smoke.sh - tests that the mini-applications of bench/mini have correct results with
# both kinds of context, on one node and two; that a wrong number is detected; that the
# tables have a line for each layout.  Times are not checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"
script=mini

bench() {
    timeout -k 5 100 "$OSHRUN" "$@" >"$work/table" 2>"$work/err" </dev/null
}

figures='\(default\|private\) [0-9]* [0-9.e+-]* ms$'
bench -n 2 bench/mini_bench -T 3 -t 0 cg=7 fe=5 md=4 || wrong "mini_bench ended with status $?"
rows 12 "^[a-z]*\(\.comm\)\? 3 $figures"
bench -n 4 bench/mini_bench -t 0 cg=7 fe=5 halo=16 || wrong "mini_bench ended with status $?"
rows 12 "^[a-z]*\(\.comm\)\? 1 $figures"
bench --vnodes 2 -n 2 bench/mini_bench -T 2 -t 0 cg=7 fe=5 md=4 ||
    wrong "mini_bench on two nodes ended with status $?"
rows 12 "^[a-z]*\(\.comm\)\? 2 $figures"
for app in cg=8 fe=5 md=4 halo=8; do
    status=0
    bench -n 2 bench/mini_bench -t 0 -w $app || status=$?
    [ $status = 1 ] || wrong "mini_bench $app: the wrong number is not detected"
    grep -q "^mini_bench: ${app%=*}: .* PE [01] of 2" "$work/err" ||
        wrong "mini_bench $app: no message about the wrong number"
done

# -- synthetic data: medians and ratios ----------------------------------------------------
awk 'BEGIN {
    for (r = 1; r <= 3; r++)
        for (threads = 1; threads <= 2; threads++) {
            key = r " 1 " 2 / threads
            print "pgas", key, "cg", threads, "default", 8, (r == 1 ? 50 : 12), "ms"
            print "pgas", key, "cg", threads, "private", 8, 12 / threads, "ms"
            print "pgas", key, "cg.comm", threads, "private", 8, 1, "ms"
            print "oshmem", key, "cg", threads, "private", 8, 24 * threads, "ms"
        }
}' >"$work/data"
awk -v processors=2 -f "$here/median.awk" -f "$here/mini.awk" "$work/data" >"$work/table"
rows 1 '^cg  *8  *2 x 1  *12.0  *12.0  *1  *-  *24.0 |  *1.00  *1.00  *1.00  *2.00$'
rows 1 '^cg  *8  *1 x 2  *12.0  *6  *1  *-  *48.0 |  *2.00  *2.00  *0.50  *8.00$'

# -- the script ----------------------------------------------------------------------------
timeout -k 5 100 sh "$here/mini" -q -L pgas -t 0 -c '2x1 1x2' cg=8 \
    >"$work/table" 2>"$work/err" </dev/null || wrong "bench/mini ended with status $?"
rows 2 '^cg  *8  *[12] x [12]  *[0-9.]'

rejects "'nothing=8' is none of the applications" -c 1x1 nothing=8
rejects "cg=2 with 3 PEs of 1 threads: there are fewer planes than PEs" -c 3x1 cg=2
rejects "the layout '4' should be like 2x4" -c 4
rejects "'nobody' is none of the libraries" -c 1x1 -L nobody
rejects '^usage: bench/mini' -Z
