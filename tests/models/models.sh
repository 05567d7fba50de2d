#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# models.sh - Spin models of the failure protocols, of locks and queues, of sleeps and of the
# collectives of a node, searched exhaustively, and of each a version with a defect, which Spin
# must find.  README.md lists them.  The short form searches each model once, and one defect of
# it: the models do not depend on the code, only on these files.  PGAS_TEST_LONG: all defects and
# litmus tests, and larger cases, which take minutes and gigabytes.
set -eu
command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }
models=$(CDPATH='' cd -- "${top_srcdir:-$(dirname -- "$0")/../..}/tests/models" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/models.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# Without optimization, which takes gcc minutes.  tcc compiles in a twentieth of the time, most of
# that of the short form; what it makes is a fifth slower, which counts in the long one.
compiler="${CC:-cc} -O0"
[ -n "${PGAS_TEST_LONG:-}" ] || ! command -v tcc >/dev/null || compiler=tcc

# search MODEL DEFINITION...: writes Spin's report on the whole state space.
search() {
    model=$1
    shift
    spin "$@" -a "$models/$model.pml" >spin.out 2>&1 || { cat spin.out && return 1; }
    # shellcheck disable=SC2086 # lists of options
    $compiler -w $compiled -DCOLLAPSE -DVECTORSZ=4096 -DMEMLIM=12000 -o pan pan.c
    # shellcheck disable=SC2086
    ./pan $options -w18 -m400000 >report 2>&1 || :
    states=$(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' report)
}

# With SAFETY: assertions and deadlocks; otherwise also what must happen, with fair scheduling.
safety() { compiled=-DSAFETY options=; }
liveness() { compiled=-DNFAIR=3 options='-a -f'; }
safety

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
    if grep -q '^pan:[0-9]*: \(assertion violated\|invalid end state\|acceptance cycle\)' report; then
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
right shrink
wrong shrink -DFAULT_LOCAL_SET
right commit
wrong commit -DFAULT_NO_BARRIER
right mcs
wrong mcs -DFAULT_STORE
right ticket
wrong ticket -DFAULT_NO_FENCE
right spsc
wrong spsc -DFAULT_HEAD
right mpsc
wrong mpsc -DFAULT_READ
right adaptive
wrong adaptive -DFAULT_SPLIT
right tail -DLONG
wrong tail -DFAULT_SPLIT
right regions
wrong regions -DFAULT_FREE
right sleep
wrong sleep -DFAULT_NO_BARRIER
right progress
wrong progress -DFAULT_PENDING
right private -DWAKER
wrong private -DWAKER -DFAULT_LINK
right serve
wrong serve -DFAULT_SKIP
right drained -DOTHERS=0
wrong drained -DFAULT_LIMIT
right eager -DCALLS=3
wrong eager -DCALLS=3 -DFAULT_EARLY
right arrival -DCALLS=1
wrong arrival -DN=2 -DFAULT_UNUSED
right combiner -DN=2
wrong combiner -DFAULT_CLAIM
right forwarder
wrong forwarder -DFAULT_ATOMIC
wrong litmus -DMP -DRELEASE
right litmus -DMP -DRELEASE -DACQUIRE
liveness
right adaptive -DFOREVER
wrong adaptive -DFOREVER -DFAULT_NO_LIMIT
safety
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    wrong agree -DN=3 -DFAULT_NO_EARLY
    wrong agree -DN=3 -DFAULT_NO_OLD
    wrong shrink -DFAULT_NO_UNWIND
    right agree -DKILLS=1
    wrong tail -DLONG -DFAULT_LONG
    wrong sleep -DFAULT_WAKE
    wrong progress -DFAULT_CHANGED
    wrong eager -DCALLS=3 -DFAULT_FIRST
    right arrival -DN=2 -DCALLS=3
    wrong arrival -DN=2 -DFAULT_SPLIT
    right combiner -DCALLS=1
    wrong litmus -DSB -DFENCE_0
    right litmus -DSB -DMEMBARRIER
    wrong litmus -DSB
    right litmus -DSB -DFENCE_0 -DFENCE_1
    wrong litmus -DMP -DACQUIRE
    right litmus -DMP -DFENCE_0 -DFENCE_1
    right litmus -DMP -DRELEASE -DACQUIRE -DUPDATE
    wrong litmus -DMP -DRELEASE -DUPDATE
    wrong litmus -DWRC
    right litmus -DWRC -DRELEASE -DACQUIRE
    wrong litmus -DIRIW -DACQUIRE
    right litmus -DIRIW -DACQUIRE -DFENCE_1
    right litmus -DCOH
    wrong litmus -DRACE -DRELEASE
    wrong litmus -DRACE -DACQUIRE
    right litmus -DRACE -DRELEASE -DACQUIRE
    right sleep -DN=2 -DROUNDS=1
    right sleep -DN=2 -DROUNDS=1 -DTWO_LINES
    wrong sleep -DN=2 -DROUNDS=1 -DFAULT_MASK
    for fault in EARLY CHECK_FIRST SEEN; do
        wrong sleep -DFAULT_$fault
    done
    right progress -DCHANGES=2
    wrong progress -DFAULT_RECORD
    wrong progress -DFAULT_LATE
    right private -DQUIET -DCALLS=2
    for fault in CHANGED ARM SEEN WOKEN RESET LEAVE RESULT LOAD; do
        wrong private -DWAKER -DFAULT_$fault
    done
    wrong private -DQUIET -DFAULT_WORD
    right serve -DSHARED
    right serve -DSHARED -DWAITS=2
    right serve -DSLEEPS=3
    right serve -DPOLLER -DSLEEPS=1
    right serve -DWAITS=2
    for fault in UNATTEND SWAP TEST RECHECK ATTEND LOCK KICK SLEEP STATE; do
        wrong serve -DFAULT_$fault
    done
    for fault in COUNT OPEN; do
        wrong serve -DSHARED -DFAULT_$fault
    done
    right drained
    right drained -DOTHERS=0 -DCREDIT=2
    right drained -DOTHERS=0 -DLEAVE
    for fault in BEFORE AFTER LOCK CLOSE OPEN CLEAR NEW; do
        wrong drained -DFAULT_$fault
    done
    wrong drained -DLEAVE -DFAULT_FLUSH
    right eager
    right eager -DN=3 -DCALLS=2
    for fault in STORE LOAD DONE CREDIT; do
        wrong eager -DCALLS=3 -DFAULT_$fault
    done
    right arrival
    right arrival -DN=2 -DWRAP=1
    wrong arrival -DN=2 -DWRAP=1 -DFAULT_COUNT
    for fault in ORDER LEAVE BARRIER; do
        wrong arrival -DN=2 -DFAULT_$fault
    done
    right forwarder -DMEMBERS=3 -DCALLS=7
    for fault in SIDE CLOSE LEADER CREDIT; do
        wrong forwarder -DFAULT_$fault
    done
    right combiner -DN=2 -DCALLS=3
    right combiner -DONLY_FIRST
    right combiner -DONLY_LAST
    wrong combiner -DONLY_FIRST -DFAULT_OLD
    wrong combiner -DONLY_LAST -DFAULT_SHARED
    wrong combiner -DONLY_LAST -DFAULT_RELEASE
    wrong combiner -DN=2 -DCALLS=3 -DFAULT_CREDIT
    wrong commit -DFAULT_NO_CHECK
    wrong mcs -DFAULT_NO_LINK
    right ticket -DN=3 -DROUNDS=1
    for fault in RELAXED LATE BIT; do
        wrong ticket -DFAULT_$fault
    done
    for fault in TAIL LOAD FULL; do
        wrong spsc -DFAULT_$fault
    done
    right mpsc -DPRODUCERS=3 -DVALUES=1
    for fault in TURN POP CLAIM FULL CHECK; do
        wrong mpsc -DFAULT_$fault
    done
    right adaptive -DN=4 -DLOSSES=2 -DROUNDS=2
    wrong adaptive -DFAULT_STORE
    wrong adaptive -DFAULT_NO_RESERVE
    right tail
    wrong tail -DLONG -DFAULT_YOUNG
    wrong tail -DFAULT_NO_INBOX
    wrong tail -DFAULT_LATE
    right regions -DAPART
    right regions -DOWNERS=1 -DREADS=2
    for fault in OR LEAK CLEAR RETIRE ADDRESS; do
        wrong regions -DFAULT_$fault
    done
    right ring -DKILLS=3
    right shrink -DKILLS=3
    wrong agree -DFAULT_OLD_VIEW
    right agree
fi
[ $failures -eq 0 ]
