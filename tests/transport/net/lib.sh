# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# lib.sh - shared by the tests of jobs on several virtual nodes.  Sourced, not run.
# Each test runs with every usable transport.  $long: run everything (PGAS_TEST_LONG);
# $brief: run a small part (sanitizer builds and distcheck, which repeat the plain build).

. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
# shellcheck disable=SC2034 # used by the scripts that source this
long=${PGAS_TEST_LONG:-} brief=${SANITIZED:-}${DISTCHECK:-}
# skip_tests TEST..: exit with status 77 if this script is one of these, because the plain
# build has run it.
skip_tests() {
    for test in "$@"; do
        [ "$test" != "$(basename "$0")" ] || {
            echo "skipped: the plain build has run it"
            exit 77
        }
    done
}
[ -z "${SANITIZED:-}" ] || skip_tests multi_vnodes.sh sleeper.sh lost.sh
[ -z "${DISTCHECK:-}" ] ||
    skip_tests multi_vnodes.sh sleeper.sh lost.sh conform_ucx.sh conform_tcp.sh hammer.sh faults.sh
net=$top_builddir/tests/transport/net
stacks_s=50 # timeout after which oshrun prints stacks and ends the job
SHMEM_LAUNCH_TIMEOUT=20 # daemons start slowly on a busy machine
export SHMEM_LAUNCH_TIMEOUT

# job STATUS VNODES PES PROGRAM ARGS...: the job ends with STATUS within stacks_s; output as
# with run.
job() {
    status=$1 vnodes=$2 pes=$3
    shift 3
    run "$status" --timeout $stacks_s --vnodes "$vnodes" -n "$pes" "$@"
}

# usable TRANSPORT: true if it is built in and works; otherwise sets $reason.  The test fails
# if a transport is built in and does not work.
usable() {
    got=0
    SHMEM_TRANSPORT=$1 "$OSHRUN" --timeout $stacks_s --vnodes 2 -n 2 \
        "$top_builddir/examples/ring" 1 >"$work/out" 2>"$work/err" </dev/null || got=$?
    [ $got != 0 ] || return 0
    reason=$(sed -n "s/.*is usable (.*\($1: pgas was built without [^;)]*\).*/\1/p" \
        "$work/err")
    [ -n "$reason" ] || {
        fail "$1 does not work between two virtual nodes"
        sed 's/^/    /' "$work/err"
        reason="$1: does not work"
    }
    return 1
}

# for_each 'TRANSPORT..' FUNCTION ARGUMENT..: call FUNCTION with SHMEM_TRANSPORT set to each
# usable transport; print the unusable ones.
skipped=0
for_each() {
    these=$1
    shift
    for transport in $these; do
        usable "$transport" || {
            echo "skipped in part: $reason"
            skipped=$((skipped + 1))
            continue
        }
        SHMEM_TRANSPORT=$transport
        export SHMEM_TRANSPORT
        "$@"
        unset SHMEM_TRANSPORT
    done
}

# end: exit with the status of the test; 77 if a transport was skipped.
end() {
    finish || exit 1
    [ "$skipped" = 0 ] || exit 77
}
