#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ft-smoke.sh - tests that bench/ft prints a figure for everything that it measures.  Times
# are not checked.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$top_builddir"

timeout -k 5 200 sh "$top_srcdir/bench/ft" -q pe node cost bfs idle >"$work/out" 2>"$work/err" || {
    echo "bench/ft: status $?"
    cat "$work/out" "$work/err"
    exit 1
}
status=0
for text in 'known .* median [0-9.]* us' 'returned .* median' 'killed, 1 random: .* median' \
    'silent, 1 random: .* median' 'cost node put .* ratio [0-9.]*; fastest .* ratio [0-9.]*$' 'cost node reduce .* ratio' \
    'cost vnodes amo .* ratio' 'bfs node 10 .* ratio' 'bfs vnodes 100 .* ratio' \
    'idle .* barriers, [0-9]* false'; do
    grep -q "$text" "$work/out" || {
        echo "bench/ft printed no line like: $text"
        status=1
    }
done
[ $status -eq 0 ] || cat "$work/out" "$work/err"
exit $status
