#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pack-smoke.sh - tests that bench/pack measures all contestants and that its summary is
# computed from the medians.  Times are not checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"

# -- synthetic data --------------------------------------------------------------------
# The chosen kernel is the best one in one of two cells, and slower than generic in one.
awk 'BEGIN {
    for (r = 1; r <= 3; r++) {
        key = "ours " r " pack 16 8 12 "
        print key "fixed", 10; print key "block", 8; print key "memcpy", 20
        print key "generic", 4; print key "chosen", (r == 2 ? 1 : 10); print key "again", 9
        print "ompi " r " pack 16 8 12 ompi 2"
        key = "ours " r " unpack 64 32 64 "
        print key "fixed", 10; print key "block", 8; print key "memcpy", 20
        print key "generic", 9; print key "chosen", 8
        print "ompi " r " unpack 64 32 64 ompi 4"
    }
}' >"$work/data"
awk -f "$here/median.awk" -f "$here/pack.awk" "$work/data" >"$work/table"
for line in 'chosen within 5 % of the best kernel: 1 of 2 cells (50 %)' \
    'noise: two measurements of chosen differ by more than 5 % in 1 of 1 cells; chosen is within 5 % in 0 of the others' \
    'chosen slower than generic memcpy per block: 1 cells, by more than 5 %: 1' \
    'pack: chosen / ompi  *1 cells  median  *5.00  least  *5.00' \
    'unpack: chosen / ompi  *1 cells  median  *2.00  least  *2.00' \
    '  pack  *16 bytes:  *50 % of memcpy, 10.0 GB/s'; do
    grep -q "^$line$" "$work/table" || wrong "the table does not contain: $line"
done

# -- the programs ----------------------------------------------------------------------
# With sanitizers, a comparison with other libraries is meaningless.
contestants='ours ompi mpich'
[ -z "${SANITIZED:-}" ] || contestants=ours
# shellcheck disable=SC2086 # words
timeout -k 5 100 sh "$here/pack" -m quick -r 1 -t 0.00001 $contestants >"$work/table" 2>"$work/err" ||
    wrong "pack ended with status $?"
[ "$(grep -c '^\(un\)*pack  *[0-9]* ' "$work/table")" = 4 ] || wrong "not 4 cells"
grep -q '^in pairs: slower than generic in [0-4] cells' "$work/table" || wrong "no cell was compared in pairs"
grep -q '^chosen within 5 % of the best kernel: [0-4] of 4 cells' "$work/table" || wrong "no summary"
"${PACK_BENCH:-bench/pack_bench}" -o -c 1024:8:12 -r 1 -t 0.000001 >"$work/table"
[ "$(awk '$5 == "fixed" && $7 ~ /^(0|8|16|48),(0|8|16|48)$/' "$work/table" | sort -u | wc -l)" = 32 ] ||
    wrong "pack_bench -o does not print each combination of offsets"
# -- instruction counts ----------------------------------------------------------------
if [ -x bench/pack_count ] && [ -z "${SANITIZED:-}" ] && command -v objdump >"$work/objdump"; then
    timeout -k 5 60 sh "$here/pack-count" 1024:8:12 >"$work/counts" 2>"$work/err.count" ||
        wrong "pack-count ended with status $?"
    grep -Eq '^unpack +scalar +1[0-9][0-9]\.[0-9] .* 100\.0 %$' "$work/counts" || wrong "no count of scalar"
    grep -Eq '^pack +fixed +[2-4][0-9]\.[0-9] +8\.[0-9] +8\.[0-9] ' "$work/counts" ||
        wrong "fixed does not load and store 8 blocks of 8 bytes"
fi

if grep 'is left out' "$work/err"; then
    echo "skipped: not all contestants of bench/pack are installed"
    exit 77
fi
