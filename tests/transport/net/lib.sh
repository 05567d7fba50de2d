# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# lib.sh - what the tests of jobs over several (virtual) nodes share.  Sourced, not run.
# They try each transport that can be used; $long, $brief: all of a test, or a taste of it
# (PGAS_TEST_LONG; slow builds and the archive, where the build has tried the rest).

. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
# shellcheck disable=SC2034 # for those who source this
long=${PGAS_TEST_LONG:-} brief=${SANITIZED:-}${DISTCHECK:-}
# tried_in_build TEST..: a slow build or the archive leaves these out, which the plain build
# has run; said as a skip.
tried_in_build() {
    for test in "$@"; do
        [ "$test" != "$(basename "$0")" ] || {
            echo "skipped: the plain build has run it"
            exit 77
        }
    done
}
[ -z "${SANITIZED:-}" ] || tried_in_build multi_vnodes.sh sleeper.sh lost.sh
[ -z "${DISTCHECK:-}" ] ||
    tried_in_build multi_vnodes.sh sleeper.sh lost.sh conform_ucx.sh hammer.sh faults.sh
net=$top_builddir/tests/transport/net
stacks_s=50 # after which oshrun prints stacks and ends a job
SHMEM_LAUNCH_TIMEOUT=20 # daemons on a busy machine; how one is lost is tested elsewhere
export SHMEM_LAUNCH_TIMEOUT

# job STATUS VNODES PES PROGRAM ARGS...: ends so, in time; output as that of run.
job() {
    status=$1 vnodes=$2 pes=$3
    shift 3
    run "$status" --timeout $stacks_s --vnodes "$vnodes" -n "$pes" "$@"
}

# usable TRANSPORT: it is built in and works here; if not, $reason.  One that is built in
# and does not work is a failure.
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

# for_each 'TRANSPORT..' FUNCTION: calls it with SHMEM_TRANSPORT set, where it can be used;
# says which cannot.
skipped=0
for_each() {
    for transport in $1; do
        usable "$transport" || {
            echo "skipped in part: $reason"
            skipped=$((skipped + 1))
            continue
        }
        SHMEM_TRANSPORT=$transport
        export SHMEM_TRANSPORT
        "$2"
        unset SHMEM_TRANSPORT
    done
}

# end: the status of the test.
end() {
    finish || exit 1
    [ "$skipped" = 0 ] || exit 77
}
