#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench-smoke.sh - tests that shmem_bench runs with 1 and 3 PEs, prints parsable lines and
# measures every benchmark that it lists, and that compare and against print tables.  Times
# are not checked.
set -eu
bench=$top_builddir/bench/shmem_bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for npes in 1 3; do
    timeout -k 5 120 "$OSHRUN" -n $npes "$bench" -t 0.0005 >"$work/out"
    timeout -k 5 60 "$OSHRUN" -n $npes "$bench" -l >"$work/list"
    awk '$1 == "#" { next }
         NF == 4 && $2 ~ /^[0-9]+$/ && $3 ~ /^[0-9]+\.[0-9]+$/ && $3 > 0 &&
             $4 ~ /^(ns|us|GB\/s|M\/s)$/ { next }
         { print "not a figure: " $0; bad = 1 }
         END { exit bad }' "$work/out"
    awk '$1 != "#" { print $1, $2, $NF }' "$work/out" | sort >"$work/done"
    awk '$1 != "#" { print $1, $2, $NF }' "$work/list" | sort >"$work/listed"
    if ! cmp -s "$work/done" "$work/listed"; then
        echo "with $npes PEs, these were listed but not measured, or measured but not listed:"
        diff "$work/listed" "$work/done" || :
        exit 1
    fi
done

# Each combination of offsets once a row
timeout -k 5 60 "$OSHRUN" -n 2 "$bench" -o -z 1024 -t 0.0001 >"$work/out"
awk '$1 !~ /^#/ && NF == 5 && $2 == 1024 && $3 > 0 && $5 ~ /^(0|8|16|48),(0|8|16|48)$/ && !seen[$1, $5]++ { n++ }
    END { if (n != 64) print n + 0 " lines with offsets instead of 64"; exit n != 64 }' "$work/out"

cd "$top_builddir"
THEIR_OSHRUN=/nonexistent sh "$top_srcdir/bench/compare" -r 1 -t 0.0005 \
    put get fetch_add raw hello >"$work/table" 2>"$work/err" || {
    cat "$work/err"
    exit 1
}
for name in put get fetch_add raw_pingpong hello; do
    if ! grep -q "^$name " "$work/table"; then
        echo "compare printed no line for $name:"
        cat "$work/table"
        exit 1
    fi
done

sh "$top_srcdir/bench/against" -r 1 -t 0.0001 -o -z 1024 "$top_builddir" bw_put >"$work/table"
awk '$1 == "bw_put" && $3 ~ /^(0|8|16|48),(0|8|16|48)$/ { n++ } END { exit n != 16 }' "$work/table" || {
    echo "against -o printed no row for each combination of offsets:"
    cat "$work/table"
    exit 1
}

# against: the build compared with itself.
sh "$top_srcdir/bench/against" -r 2 -t 0.0005 "$top_builddir" put get >"$work/table"
for name in put get put_nbi_rate; do
    awk -v name="$name" '$1 == name && $3 > 0 && $4 > 0 && $6 > 0 { found = 1 }
        END { exit !found }' "$work/table" || {
        echo "against printed no figures for $name:"
        cat "$work/table"
        exit 1
    }
done
