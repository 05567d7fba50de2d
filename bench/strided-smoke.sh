#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# strided-smoke.sh - tests that the stencil and the FFT of bench/strided have correct results
# with each form of exchange, on one node and two; that a wrong result is detected; that the
# tables have a figure for each; that bench/strided_put runs; and SHMEM_PACK_TABLE.  Times are
# not checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"
script=strided

bench() {
    timeout -k 5 100 "$OSHRUN" "$@" >"$work/table" 2>"$work/err" </dev/null
}

for where in '-n 1' '-n 4' '--vnodes 2 -n 2' '--vnodes 2 -n 4'; do
    # shellcheck disable=SC2086 # words
    bench $where bench/strided_bench -t 0 stencil=8,24 fft=8,32 ||
        wrong "strided_bench with $where ended with status $?"
    rows 48 '^stencil\.r[123]\(\.comm\)\? [a-z_]* \(8\|24\) [0-9.e+-]* us$'
    rows 20 '^fft\(\.comm\)\? [a-z_]* \(8\|32\) [0-9.e+-]* us$'
done
# The exchanges do not rely on an order that the specification does not promise.
for pes in 2 4; do
    SHMEM_FAULTS=reorder,delay=200us bench -n $pes bench/strided_bench -t 0 stencil=8 fft=8 ||
        wrong "strided_bench with $pes PEs and reordered operations ended with status $?"
done
for app in stencil=8 fft=8; do
    status=0
    bench -n 2 bench/strided_bench -t 0 -w $app || status=$?
    [ $status = 1 ] || wrong "strided_bench $app: the wrong element is not detected"
    grep -q "^strided_bench: ${app%=*}, .* of PE 0 of 2 is" "$work/err" ||
        wrong "strided_bench $app: no message about the wrong element"
done

# Strided puts and gets between two nodes: each number of elements has a row.
bench -n 2 --vnodes 2 bench/strided_put -q 2 16 ||
    wrong "strided_put ended with status $?"
rows 8 '^ *\(2\|16\)  *\(16\|64\|256\|1024\)\(  *[0-9.]*\)\{6\}$'

# -- the kernels that a job has found are known to the next one ----------------------------
table=$work/pack.table
pack_table() {
    SHMEM_PACK_TABLE=$table bench -n 2 "$@" bench/strided_put -q 2 ||
        wrong "strided_put with SHMEM_PACK_TABLE ended with status $?"
}
pack_table
[ "$(head -n 1 "$table")" = 'pgas-pack-table 1' ] || wrong 'no table of kernels was written'
grep -q '^machine [a-z0-9]* .' "$table" || wrong 'the table of kernels names no machine'
grep -Eq '^[a-z0-9_]+ +8 +16 +16 [0-9]+$' "$table" || wrong 'no kernel was found for stride 2'
! [ -s "$work/err" ] || wrong "a new table of kernels: $(cat "$work/err")"
sed -i 's/^[a-z0-9_]* *8  *16  *16/scalar 8 16 16/' "$table" # is it read?
cp "$table" "$work/before"
pack_table
cmp -s "$table" "$work/before" || wrong 'known kernels were measured again'
pack_table -x SHMEM_ISA=baseline
grep -q 'is ignored and not changed: line [0-9]*: it was measured on .*, this is .baseline ' \
    "$work/err" || wrong 'no message about a table of another instruction set'
sed -i 's/^scalar 8/8/' "$table"
cp "$table" "$work/before"
pack_table
grep -q 'is ignored and not changed: line [0-9]*: fewer than 5 columns' "$work/err" ||
    wrong 'no message about a damaged table'
cmp -s "$table" "$work/before" || wrong 'a damaged table was changed'
SHMEM_PACK_TABLE=$table "$top_builddir/oshmem_info" --algorithms --parsable >"$work/table" 2>&1
grep -q '^selection:pack_state:bad$' "$work/table" || wrong 'oshmem_info does not report it'

# -- the tables; with sanitizers, a comparison with other libraries is meaningless --------
libraries='pgas ompi'
[ -z "${SANITIZED:-}" ] || libraries=pgas
# shellcheck disable=SC2086 # words
timeout -k 5 100 sh "$here/strided" -q -a 'stencil=8 fft=8' -v '1 2' $libraries \
    >"$work/table" 2>"$work/err" </dev/null || wrong "bench/strided ended with status $?"
rows 1 '^2 PEs on 1 node: us per step$'
rows 1 '^2 PEs on 2 nodes (virtual): us per step$'
rows 12 '^stencil\.r[123]\(\.comm\)\?  *8  *[0-9.]'
rows 4 '^fft\(\.comm\)\?  *8  *[0-9.]'

rejects "'nothing=8' is none of the applications" -a nothing=8
rejects "the order 24 should be a power of two" -a fft=24
rejects "'nobody' is none of the libraries" nobody
rejects "-v 'two' should be a whole number from 1 to 64" -v two
rejects '^usage: bench/strided' -Z
