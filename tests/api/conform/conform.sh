#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# conform.sh - run the conformance programs and print how many cases of how many routines
# they have tested.  Each program runs with 1 and 5 PEs, and with 3 PEs under SHMEM_DEBUG=2
# (all arguments checked, collectives compared between PEs); with PGAS_TEST_LONG with 1, 2,
# 3, 5 and 8 PEs both ways.  Fails also if a routine of the specification
# (tests/api/abi/api-1.6.txt) was not tested.
# CONFORM_ONLY="rma amo": run only these programs, and skip that comparison.
# CONFORM_DEBUG: 0 or 2: only with this level of SHMEM_DEBUG.
set -eu

programs='life memory rma strided amo signal wait wait_sets lock teams contexts coll_sync
coll_move coll_reduce aset old generics'
pes=${PES_SIZES:-1 5} debug_pes=${PES_SIZES:-3}
[ -z "${PGAS_TEST_LONG:-}" ] || pes=${PES_SIZES:-1 2 3 5 8} debug_pes=${PES_SIZES:-1 2 3 5 8}
[ -z "${SANITIZED:-}" ] || [ -n "${PGAS_TEST_LONG:-}" ] || CONFORM_DEBUG=${CONFORM_DEBUG:-2} # a slow build
[ -z "${DISTCHECK:-}" ] || pes=${PES_SIZES:-3} # the plain build has run the others
here=$top_srcdir/tests/api/conform
there=$top_builddir/tests/api/conform
work=$(mktemp -d "${TMPDIR:-/tmp}/conform.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

failed=0
LC_ALL=C
export LC_ALL

# run NAME NOTE VARIABLE=VALUE...: run one program; print its output except the names of
# routines.
run() {
    name=$1
    note=$2
    shift 2
    status=0
    env CONFORM_NAMES=1 "$@" sh "$top_srcdir/tests/run-pes" "$there/$name.pes" \
        >"$work/out" 2>&1 || status=$?
    sed -n 's/^name: //p' "$work/out" >>"$work/names"
    sed -n 's/^conform: .*: \([0-9]*\) cases, .*/\1/p' "$work/out" >>"$work/cases"
    grep -v '^name: ' "$work/out" | sed "s/^/$note/" || :
    if [ $status -ne 0 ]; then
        echo "conform: $note$name failed with status $status"
        failed=$((failed + 1))
    fi
}

for program in ${CONFORM_ONLY:-$programs}; do
    [ -x "$there/$program.pes" ] || {
        echo "conform: $there/$program.pes does not exist: run 'make check' to build it"
        exit 1
    }
    [ "${CONFORM_DEBUG:-0}" != 0 ] || run "$program" '' PES_SIZES="$pes"
    [ "${CONFORM_DEBUG:-2}" != 2 ] ||
        run "$program" 'SHMEM_DEBUG=2: ' PES_SIZES="$debug_pes" SHMEM_DEBUG=2
done

sort -u "$work/names" >"$work/tested"
grep -v '^#' "$here/../abi/api-1.6.txt" | awk -F'|' \
    '$2 == "C" || $2 == "OLD" || $2 == "C11" { print $1 }' | sort -u >"$work/all"
if [ -z "${CONFORM_ONLY:-}" ]; then
    comm -13 "$work/tested" "$work/all" >"$work/missing"
    comm -23 "$work/tested" "$work/all" | grep -v '^shmemx_' >"$work/unknown" || :
    if [ -s "$work/missing" ]; then
        echo "conform: routines of the specification that no case has tested:"
        sed 's/^/    /' "$work/missing"
        failed=$((failed + 1))
    fi
    if [ -s "$work/unknown" ]; then
        echo "conform: tested, but not in the specification:"
        sed 's/^/    /' "$work/unknown"
        failed=$((failed + 1))
    fi
fi
awk -v routines="$(comm -12 "$work/tested" "$work/all" | wc -l)" '{ sum += $1 }
    END { printf "conform: %d cases of %d routines\n", sum, routines }' "$work/cases"
[ "$failed" -eq 0 ]
