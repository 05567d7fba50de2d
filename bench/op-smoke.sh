#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# op-smoke.sh - tests that op_bench measures all operations in all forms, in cache and
# out of cache, and prints parsable lines.  Times are not checked.
set -eu
bench=$top_builddir/bench/op_bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# lines N: fails unless the output has N lines and each consists of figures.
lines() {
    awk -v wanted="$1" '
        $1 == "#" { contestants = NF - 6; next }
        { figures = 0; for (i = 3; i <= NF; i++) figures += $i ~ /^[0-9]+(\.[0-9]+|%)$/ && $i > 0 }
        figures != contestants + 2 { print "not a line of figures: " $0; bad = 1 }
        { n++ }
        END { if (n != wanted) print n " lines instead of " wanted; exit bad || n != wanted }
    ' "$work/out"
}
# 3 rounds: the median of one round can be 0.00 GB/s on a loaded machine.
timeout -k 5 100 "$bench" -a -f two -s 4k -r 3 -t 0.00001 >"$work/out"
lines 74
# With offsets: 16 lines of two operands, 64 of three; the last column is a ratio to the first line.
timeout -k 5 100 "$bench" -o -f two -f three -s 1k -r 1 -t 0.000001 'SUM double' >"$work/out"
awk '$1 == "two" && $3 ~ /^(0|8|16|48),(0|8|16|48)$/ && $NF > 0 { two++ }
    $1 == "three" && $3 ~ /^(0|8|16|48),(0|8|16|48),(0|8|16|48)$/ && $NF > 0 { three++ }
    END { if (two != 16 || three != 64) print two + 0, "and", three + 0, "lines with offsets"
        exit two != 16 || three != 64 }' "$work/out"
timeout -k 5 100 "$bench" -s 4k -s 9m -r 3 -t 0.00001 'SUM int8' 'PROD complex float' \
    >"$work/out"
lines 12
