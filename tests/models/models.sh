#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# models.sh - Spin models of the failure protocols, of locks and of tail queues, searched
# exhaustively, and of each a version with a defect, which Spin must find.  PGAS_TEST_LONG: further
# defects; agreement of 4 nodes with 2 failures (minutes, gigabytes), and 3 failures of the ring and
# of shrink.
set -eu
command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }
models=$(CDPATH='' cd -- "${top_srcdir:-$(dirname -- "$0")/../..}/tests/models" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/models.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# search MODEL DEFINITION...: writes Spin's report on the whole state space.  Compiled without
# optimization, which takes gcc minutes.
search() {
    model=$1
    shift
    spin "$@" -a "$models/$model.pml" >spin.out 2>&1 || { cat spin.out && return 1; }
    ${CC:-cc} -O0 -w -DSAFETY -DCOLLAPSE -DMEMLIM=12000 -o pan pan.c
    ./pan -m400000 >report 2>&1 || :
    states=$(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' report)
}

right() {
    search "$@" || { failures=$((failures + 1)) && return; }
    if grep -q 'errors: 0' report && ! grep -q 'not completed\|max search depth too' report; then
        echo "right: $*: $states states"
    else
        cat report
        echo "FAIL: $*"
        failures=$((failures + 1))
    fi
}

wrong() {
    search "$@" || { failures=$((failures + 1)) && return; }
    if grep -q '^pan:[0-9]*: \(assertion violated\|invalid end state\)' report; then
        echo "found: $*: $states states"
    else
        echo "FAIL: $*: the defect was not found"
        failures=$((failures + 1))
    fi
}

right ring
wrong ring -DFAULT_NO_REQUEST
right agree -DN=3
wrong agree -DN=3 -DFAULT_NO_ASK
wrong agree -DN=3 -DFAULT_NO_EARLY
wrong agree -DN=3 -DFAULT_NO_OLD
right shrink
wrong shrink -DFAULT_LOCAL_SET
wrong shrink -DFAULT_NO_UNWIND
right agree -DKILLS=1
right commit
wrong commit -DFAULT_NO_BARRIER
right mcs
wrong mcs -DFAULT_STORE
right adaptive
wrong adaptive -DFAULT_SPLIT
right tail -DLONG
wrong tail -DFAULT_SPLIT
wrong tail -DLONG -DFAULT_LONG
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    wrong commit -DFAULT_NO_CHECK
    wrong mcs -DFAULT_NO_LINK
    right adaptive -DN=4 -DLOSSES=2
    wrong adaptive -DFAULT_STORE
    wrong adaptive -DFAULT_NO_RESERVE
    right tail
    wrong tail -DLONG -DFAULT_YOUNG
    wrong tail -DFAULT_NO_INBOX
    wrong tail -DFAULT_LATE
    right ring -DKILLS=3
    right shrink -DKILLS=3
    wrong agree -DFAULT_OLD_VIEW
    right agree
fi
[ $failures -eq 0 ]
