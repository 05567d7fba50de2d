#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# offsets.sh - the kernels of copies, reductions and packing with operands at all offsets (offsets.c), and
# whether each loop of wide stores in pgas/datatype has its row: the functions that offsets.awk finds in the
# source are those of offsets.txt, whose families offsets.c has run.  Families of an instruction set that
# this processor lacks need not run; those of SVE are run by sve.sh.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
if [ -n "${PGAS_UNDER_TEST:-}" ]; then
    echo "skipped: the kernels are internal, an installed library does not export them"
    exit 77
fi
here=$top_srcdir/tests/unit/kernels
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-offsets.XXXXXX")
trap 'rm -rf "$work"' EXIT

failed=0
timeout -k 5 60 "$top_builddir/tests/unit/kernels/offsets" >"$work/out" || failed=1
grep -v '^family' "$work/out" || :
find "$top_srcdir/pgas/datatype" -name '*.[ch]' | LC_ALL=C sort >"$work/files"
# shellcheck disable=SC2046 # file names of the project
awk -f "$here/offsets.awk" $(cat "$work/files") | LC_ALL=C sort -u >"$work/source"
awk '!/^#/ { print $1, $2 }' "$here/offsets.txt" | LC_ALL=C sort >"$work/table"
LC_ALL=C comm -23 "$work/source" "$work/table" >"$work/missing"
LC_ALL=C comm -13 "$work/source" "$work/table" >"$work/gone"
while read -r file function; do
    echo "pgas/datatype/$file: $function stores in a loop and has no row in offsets.txt"
    failed=1
done <"$work/missing"
while read -r file function; do
    echo "offsets.txt: $function is no loop of wide stores of pgas/datatype/$file (any more)"
    failed=1
done <"$work/gone"
sed -n 's/^family \(.*\): [1-9][0-9]* rows$/\1/p' "$work/out" | tr ' ' _ >"$work/families"
lacks=$(grep -q '^op_avx512$' "$work/families" || echo 'avx512|permute|indexed_from')
lacks=$lacks$(grep -q '^op_avx2$' "$work/families" || echo '|avx2|^stores')
awk '!/^#/ { print $3 }' "$here/offsets.txt" | sort -u >"$work/wanted"
while read -r family; do
    ! echo "$family" | grep -Eq "^sve$|${lacks:-^$}" || continue
    grep -q "^$family" "$work/families" || {
        echo "offsets.txt: no row of offsets.c belongs to $family"
        failed=1
    }
done <"$work/wanted"
exit "$failed"
