#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lost.sh - a PE is killed or stopped while PEs of its own and of another node access its
# memory or wait for it: the job ends soon, with a message that names the PE, and leaves no
# processes or files behind.  tests/launcher/hosts/lost.sh tests hosts that are cut off.
# LOST_WAYS, LOST_OPERATIONS, LOST_TRANSPORTS: lists that restrict the test.
# shellcheck disable=SC2016 # for the PEs
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
lost=$net/lost
timeout_s=2 # SHMEM_NET_TIMEOUT, to detect stopped PEs
[ -z "$long$brief" ] || timeout_s=4
end_ms=12000 # from the detection of the loss to the end of the job
[ -z "$brief" ] || end_ms=15000
every='put quiet get amo add flood fence barrier wait reduce'

# expect_end HOW OPERATION SECONDS STATUS MESSAGE COMMAND...: the job ends with STATUS and
# MESSAGE, at most SECONDS and end_ms after it has started.
expect_end() {
    how=$1 operation=$2 after_s=$3 want=$4 message=$5
    shift 5
    what="$SHMEM_TRANSPORT, $how, $operation"
    steady_begin
    run "$want" --timeout $stacks_s --vnodes 2 -n 4 "$@" "$lost" "${how##*-}" "$operation"
    steady_within $((after_s * 1000 + end_ms)) "$what"
    [ "$(grep -c 'is running' "$work/out")" = 4 ] || fail "$what: it ended too early"
    grep -q "$message" "$work/err" || {
        fail "$what: no message '$message'"
        sed 's/^/    /' "$work/err"
    }
    check_nothing_left "$what"
    echo "$what: $took ms, $(grep "$message" "$work/err" | head -n 1)"
}

# Messages of a PE whose peer does not respond; they start with the name of the routine.
no_response="pgas: PE [01,]*: shmem[a-z_]*: \\(PE 3 has not answered for $timeout_s s\\|lost PE 3 .*timed out\\)"
hidden="pgas: PE [01,]*: \(shmem[a-z_]*: \)\?\(lost PE 3\|PE 3 has not answered\)"
hide='"$0" "$@" || s=$?; [ "${s:-0}" != 137 ] || sleep 15; exit $s'

lose() {
    case $1 in
    kill) expect_end kill "$2" 0 137 '^oshrun: PE 3 .* killed by signal 9' ;;
    # The launcher's child is a shell, so the launcher does not detect that the PE was
    # killed: the other PEs must, at the latest after SHMEM_NET_TIMEOUT.
    hidden-kill)
        SHMEM_NET_TIMEOUT=$timeout_s
        export SHMEM_NET_TIMEOUT
        expect_end hidden-kill "$2" $timeout_s 1 "$hidden" sh -c "$hide"
        unset SHMEM_NET_TIMEOUT
        ;;
    stop)
        SHMEM_NET_TIMEOUT=$timeout_s
        export SHMEM_NET_TIMEOUT
        expect_end stop "$2" $timeout_s 1 "$no_response"
        unset SHMEM_NET_TIMEOUT
        ;;
    esac
}

# Without PGAS_TEST_LONG: a subset of the combinations.
operations_of() {
    case ${LOST_OPERATIONS:+some}${long:+all}:${brief:+brief}:$SHMEM_TRANSPORT:$1 in
    some*) echo "$LOST_OPERATIONS" ;;
    all*) echo "$every" ;;
    :brief:*) echo get ;;
    :*:ofi:kill) echo barrier ;;
    :*:ofi:hidden-kill) echo 'put get amo' ;;
    :*:ofi:stop) echo 'quiet amo wait' ;;
    :*:ucx:kill) echo quiet ;;
    :*:ucx:hidden-kill) echo get ;;
    :*:ucx:stop) echo flood ;;
    :*:tcp:kill) echo quiet ;;
    :*:tcp:hidden-kill) echo get ;;
    :*:tcp:stop) echo put ;;
    esac
}

all_ways() {
    for way in ${LOST_WAYS:-kill hidden-kill stop}; do
        for op in $(operations_of "$way"); do
            lose "$way" "$op"
        done
    done
}

transports=${LOST_TRANSPORTS:-ofi ucx tcp}
[ -z "$brief" ] || transports=ofi
for_each "$transports" all_ways
end
