#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# env.sh - messages of a job about variables in its environment: once, whatever the number
# of PEs.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"

hello=$top_builddir/examples/hello
# Leaks are tested elsewhere; hello does not free its memory.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
for name in $(env | sed -n 's/^\(SHMEM_[^=]*\|SMA_[^=]*\)=.*/\1/p'); do
    unset "$name"
done

# says_once TEXT: standard error has one such line.
says_once() {
    [ "$(grep -c -e "$1" "$work/err")" = 1 ] && return 0
    fail "standard error has '$1' $(grep -c -e "$1" "$work/err") times"
    sed 's/^/    /' "$work/err"
}

# with NAME=VALUE...: runs hello with 3 PEs and these variables.
with() {
    want=$1
    shift
    for assignment; do
        export "${assignment?}"
    done
    run "$want" -n 3 "$hello"
    for assignment; do
        unset "${assignment%%=*}"
    done
}

with 0
[ ! -s "$work/err" ] || fail "unexpected message: $(cat "$work/err")"
with 0 SHMEM_SYMMETRIC_SIZE=1m SHMEM_CC=cc SHMEM_CXX=c++ OSHMEM_CC=cc SMA_DEBUG=0 \
    SHMEM_SPIN_NS=100
[ ! -s "$work/err" ] || fail "message about a valid variable: $(cat "$work/err")"

with 0 SHMEM_SYMETRIC_SIZE=1m SMA_SPIN_NS=1 SHMEM_WORLD_PEACE=1 SHMEM_INF=
says_once '^pgas: SHMEM_SYMETRIC_SIZE is unknown.*did you mean SHMEM_SYMMETRIC_SIZE?$'
says_once '^pgas: SMA_SPIN_NS is unknown.*did you mean SHMEM_SPIN_NS?$'
says_once '^pgas: SHMEM_INF is unknown.*did you mean SHMEM_INFO?$'
says_once '^pgas: SHMEM_WORLD_PEACE is unknown and ignored; SHMEM_INFO=1 lists all$'
[ "$(wc -l <"$work/err")" = 4 ] || fail "more than one line each: $(cat "$work/err")"

for name in SHMEM SMA; do
    with 0 "${name}_VERSION="
    says_once '^pgas [0-9].*OpenSHMEM 1\.6$'
    with 0 "${name}_INFO=x"
    for each in $(sed -n 's/^ *[ET](\([A-Z_0-9]*\),.*/\1/p' \
        "$top_srcdir/pgas/core/base/env.def"); do
        says_once "^SHMEM_$each "
    done
done
with 0 SHMEM_INFO=1 SMA_SYMMETRIC_SIZE=7m SHMEM_CC=colourful
says_once '^ *SHMEM_SYMMETRIC_SIZE *7m *(default 512M): size of the symmetric heap'
says_once '^SHMEM_CC *colourful *(for oshcc): '
says_once '^Network transport: none (all PEs are on one node)$'
with 0 SHMEM_INFO=1 SMA_SYMMETRIC_SIZE=many SHMEM_SYMMETRIC_SIZE=8m
says_once '^SHMEM_SYMMETRIC_SIZE *8m '

# The instruction set of the kernels: the best one of this processor, or the selected one.
best=$("$OSHMEM_INFO" --parsable | sed -n 's/^package:isa://p')
for isa in auto baseline "$best"; do
    with 0 SHMEM_INFO=1 SHMEM_ISA="$isa"
    case $isa in auto) says_once "^Instruction set: $best\$" ;; *) says_once "^Instruction set: $isa\$" ;; esac
done
with 1 SHMEM_ISA=mmx
says "SHMEM_ISA=mmx: not an instruction set; use auto, baseline"
case $best in
sve) absent=avx2 ;;
*) absent=sve ;;
esac
with 1 SHMEM_ISA=$absent
says "SHMEM_ISA=$absent: not supported by this processor; use auto"

with 0 SHMEM_PACK_KERNEL=fixed
with 1 SHMEM_PACK_KERNEL=quick SHMEM_ISA=baseline
says "SHMEM_PACK_KERNEL=quick: not a kernel of this processor with SHMEM_ISA=baseline; use auto, scalar, block, fixed"

# An invalid value ends the job, whichever part of the library reads it first.
with 1 SHMEM_SYMMETRIC_SIZE=1q
says 'SHMEM_SYMMETRIC_SIZE="1q" is not valid: it takes a number'
with 1 SMA_SYMMETRIC_SIZE=1q
says 'SMA_SYMMETRIC_SIZE="1q" is not valid: it takes a number'

finish
