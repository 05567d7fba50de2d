#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lost.sh - a PE is killed, or stopped, while PEs of its own and of another node use it in
# all ways or wait for it: the job ends soon, with a sentence that names it, and nothing is
# left.  Hosts that are cut off are in tests/launcher/hosts/lost.sh.
# LOST_WAYS, LOST_OPERATIONS, LOST_TRANSPORTS: only these.
# shellcheck disable=SC2016 # for the PEs
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
lost=$net/lost
timeout_s=2 # SHMEM_NET_TIMEOUT, for those that are stopped
[ -z "$long$brief" ] || timeout_s=4
end_ms=12000 # after the loss was, or could be, noticed
[ -z "$brief" ] || end_ms=15000
every='put quiet get amo add flood fence barrier wait reduce'

# ends HOW OPERATION SECONDS STATUS SENTENCE COMMAND...: the job ends so, that long after
# the loss.
ends() {
    how=$1 operation=$2 after_s=$3 want=$4 sentence=$5
    shift 5
    what="$SHMEM_TRANSPORT, $how, $operation"
    begin=$(now_ms)
    run "$want" --timeout $stacks_s --vnodes 2 -n 4 "$@" "$lost" "${how##*-}" "$operation"
    took=$(($(now_ms) - begin))
    [ "$(grep -c 'is there' "$work/out")" = 4 ] || fail "$what: it ended too early"
    grep -q "$sentence" "$work/err" || {
        fail "$what: no sentence '$sentence'"
        sed 's/^/    /' "$work/err"
    }
    [ $took -le $((after_s * 1000 + end_ms)) ] || fail "$what: it took $took ms"
    check_nothing_left "$what"
    echo "$what: $took ms, $(grep "$sentence" "$work/err" | head -n 1)"
}

# What a PE says whose peer does not answer; the name of its routine comes first.
silent="pgas: PE [01]: shmem[a-z_]*: \\(PE 3 has not answered for $timeout_s s\\|lost PE 3 .*timed out\\)"
hidden="pgas: PE [01]: \(shmem[a-z_]*: \)\?\(lost PE 3\|PE 3 has not answered\)"
hide='"$0" "$@" || s=$?; [ "${s:-0}" != 137 ] || sleep 15; exit $s'

lose() {
    case $1 in
    kill) ends kill "$2" 0 137 '^oshrun: PE 3 .* killed by signal 9' ;;
    # Behind a shell that the launcher watches in its place: the PEs must notice.
    # A PE that is not answered takes that for a failure after SHMEM_NET_TIMEOUT.
    hidden-kill)
        SHMEM_NET_TIMEOUT=$timeout_s
        export SHMEM_NET_TIMEOUT
        ends hidden-kill "$2" $timeout_s 1 "$hidden" sh -c "$hide"
        unset SHMEM_NET_TIMEOUT
        ;;
    stop)
        SHMEM_NET_TIMEOUT=$timeout_s
        export SHMEM_NET_TIMEOUT
        ends stop "$2" $timeout_s 1 "$silent"
        unset SHMEM_NET_TIMEOUT
        ;;
    esac
}

# The short form tries each way and each operation, not all with each other.
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
    esac
}

all_ways() {
    for way in ${LOST_WAYS:-kill hidden-kill stop}; do
        for op in $(operations_of "$way"); do
            lose "$way" "$op"
        done
    done
}

transports=${LOST_TRANSPORTS:-ofi ucx}
[ -z "$brief" ] || transports=ofi
for_each "$transports" all_ways
end
