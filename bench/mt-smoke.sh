#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mt-smoke.sh - tests that the benchmarks of bench/mt transfer correct data with both kinds
# of context, on one node and two; that wrong data are detected; that the table has a line
# for each.  Times are not checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"
script=mt

bench() {
    timeout -k 5 100 "$OSHRUN" "$@" >"$work/table" 2>"$work/err" </dev/null
}

bench -n 2 bench/mt_bench -T 2 -t 0 || wrong "mt_bench on one node ended with status $?"
rows 18 '^[a-z]*\.[a-z_]* 2 \(default\|private\) 8 [0-9.e+-]* \(us\|GB/s\|M/s\)$'
bench --vnodes 2 -n 2 bench/mt_bench -T 3 -t 0 -s 4096 halo bandwidth ||
    wrong "mt_bench on two nodes ended with status $?"
rows 6 '^[a-z]*\.[a-z]* 3 \(default\|private\) 4096 [0-9.e+-]* \(GB/s\|M/s\)$'
for name in latency.put rate.get rate.add; do
    status=0
    bench -n 2 bench/mt_bench -t 0 -w $name || status=$?
    [ $status = 1 ] || wrong "mt_bench $name: wrong data are not detected"
    grep -q "^mt_bench: $name with 1 threads (default): wrong data at PE [01]" "$work/err" ||
        wrong "mt_bench $name: no message about the wrong data"
done

timeout -k 5 100 sh "$here/mt" -q -L pgas rate.put >"$work/table" 2>"$work/err" </dev/null ||
    wrong "bench/mt ended with status $?"
rows 2 '^rate\.put  *8  *[12]  *[0-9.]'

rejects "'nobody' is none of the libraries" -L nobody
rejects "'two' should be a whole number above 0" -n two
rejects '^usage: bench/mt' -Z
