#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sve.sh - the reduction, pack and matching kernels for 64-bit Arm, cross-compiled and run under qemu:
# SVE with registers of 128 to 2048 bits, and a processor without SVE, on which SVE must not be selected.
# Some of the lengths; all of them with PGAS_TEST_LONG.
set -eu
cross=${AARCH64_CC:-aarch64-linux-gnu-gcc}
qemu=${QEMU_AARCH64:-qemu-aarch64-static}
for program in "$cross" "$qemu"; do
    command -v "$program" >/dev/null 2>&1 || {
        echo "$program is not here (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross" \
            "qemu-user-static)"
        exit 77
    }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-sve.XXXXXX")
trap 'rm -rf "$work"' EXIT

flags="-std=gnu11 -O2 -ffp-contract=off -fno-math-errno -Wall -Wextra -Werror \
    -I$top_builddir -I$top_srcdir"
# compile FILE.c FLAG...: into $work
compile() {
    file=$1
    shift
    # shellcheck disable=SC2086 # a list
    "$cross" $flags "$@" -c "$top_srcdir/$file" -o "$work/$(basename "$file" .c).o"
}
for file in isa op/op op/op_base op/op_rest; do
    compile pgas/datatype/$file.c
done
compile pgas/datatype/op/op_sve.c -march=armv8.2-a+sve
compile tests/unit/kernels/check.c
compile tests/unit/kernels/sve.c
"$cross" -static "$work"/*.o -lm -o "$work/sve"
rm "$work"/*.o
for file in isa op/op op/op_base copy layout/layout layout/layout_cursor layout/layout_overlap \
    pack/pack pack/pack_base pack/pack_choice pack/pack_indexed pack/pack_plan pack/pack_tune; do
    compile pgas/datatype/$file.c
done
compile pgas/datatype/op/op_sve.c -march=armv8.2-a+sve
compile pgas/datatype/op/op_rest.c
compile pgas/datatype/pack/pack_sve.c -march=armv8.2-a+sve
for file in check_pack random_layout sve_pack; do
    compile tests/unit/kernels/$file.c
done
"$cross" -static "$work"/*.o -lm -o "$work/sve_pack"
rm "$work"/*.o
compile pgas/datatype/isa.c
compile pgas/threads/adaptive.c
compile pgas/threads/mcs.c
for file in match match_base match_bins match_nodes match_queue match_regions match_tail; do
    compile compat/mpi/match/$file.c
done
compile compat/mpi/match/match_sve.c -march=armv8.2-a+sve
for file in check_match sve_match; do
    compile tests/unit/kernels/$file.c
done
"$cross" -static "$work"/*.o -o "$work/sve_match"

# on PROGRAM WANTED ARGUMENT CPU: the program must detect WANTED, and all kernels must be
# correct.
failed=0
on() {
    program=$1
    shift
    timeout -k 5 600 "$qemu" -cpu "$3" "$work/$program" "$2" >"$work/out" 2>&1 || {
        echo "FAIL: $3 ends with status $?"
        failed=1
    }
    found=$(grep -v FAIL "$work/out" | tr '\n' ' ')
    echo "$3: $found"
    [ "$found" = "$1" ] || {
        echo "FAIL: that should be: $1"
        failed=1
    }
    grep FAIL "$work/out" && failed=1 || :
}

step=${PGAS_TEST_LONG:+1}
layouts=150 operations=8000
[ -z "$step" ] || layouts=10000 operations=1000000
on sve 'baseline ' "${step:-37}" cortex-a72
on sve_pack 'scalar block fixed auto ' $layouts cortex-a72
on sve_match 'baseline ' $operations cortex-a72
for bits in 128 256 512 1024 2048; do
    cpu="max,sve-default-vector-length=$((bits / 8)),sve$bits=on"
    on sve "baseline sve $bits " "${step:-37}" "$cpu"
    on sve_pack 'scalar block fixed fixed_sve gather_sve structure_sve auto ' $layouts "$cpu"
    on sve_match 'baseline sve ' $operations "$cpu"
done
exit "$failed"
