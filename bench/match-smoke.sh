#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# match-smoke.sh - tests that bench/match measures all engines and computes its summary from the
# medians, and that bench/locks_bench measures all locks and rings.  Times are not checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"

# -- synthetic data --------------------------------------------------------------------
printf '%s\n' 'tags 8 list 10 0' 'tags 8 fuzzy 30 0' 'tags 8 auto 10.5 0' 'tags 8 list 10 0' \
    'tags 8 fuzzy 20 0' 'tags 8 auto 10.5 0' 'tags 8 list 99 0' 'tags 8 fuzzy 10 0' 'tags 8 auto 99 0' \
    'tags 1024 list 1000 0' 'tags 1024 fuzzy 100 0' 'tags 1024 auto 100 0' >"$work/data"
awk -v mode=engines -f "$here/median.awk" -f "$here/match.awk" "$work/data" >"$work/table"
for line in 'worst auto / list, at most 16 entries: 1.050 (tags 8)' \
    'worst fuzzy / list, at most 16 entries: 2.000 (tags 8)' \
    'worst fuzzy / list, 1024 entries: 0.100 (tags 1024)'; do
    grep -qxF "$line" "$work/table" || wrong "the table does not contain: $line"
done

# -- the programs ----------------------------------------------------------------------
run_mode() {
    lines=$1
    shift
    timeout -k 5 100 sh "$here/match" -r 1 "$@" >"$work/table" 2>"$work/err" ||
        wrong "match $* ended with status $?"
    [ "$(grep -c '^[a-z0-9][^ ]*  *[0-9]*  *[0-9]' "$work/table")" = "$lines" ] ||
        wrong "match $*: not $lines lines"
}
# The locks and rings, which verify that no operation is lost
"$top_builddir/bench/locks_bench" -n 1 -t 0.001 >"$work/table" || wrong "locks_bench: status $?"
[ "$(grep -c . "$work/table")" = 23 ] || wrong "locks_bench: not 23 lines"
run_mode 18 -n 256 -t 1000
run_mode 18 -m bins -n 32 -t 1000
run_mode 36 -m lanes -n 32 -t 1000
run_mode 6 -m heat -n 256 -t 3 # two tables
run_mode 4 -m threads -n 32 -t 0.001
