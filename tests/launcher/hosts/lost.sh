#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lost.sh - a host is cut off while PEs of other hosts access its PE or wait for it: the job
# ends with a message that names the lost host or PE, and leaves no process on any host.
# Under oshrun the daemons detect the loss; mpirun and srun are slower than the PEs.  These
# two do not kill the PEs of the host that was cut off, and mpirun sometimes does not end
# after its PEs have: this test kills those.
# LOST_LAUNCHERS, LOST_OPERATIONS: only these.  Only the long form has srun and more
# operations.
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
. "$top_srcdir/tests/launcher/hosts/shmem-lib.sh"
lost=$top_builddir/tests/transport/net/lost
launchers='oshrun mpirun' operations=get
[ -z "$long" ] || launchers='oshrun mpirun srun' operations='quiet get add wait barrier'
[ -z "$brief" ] || launchers=oshrun
SHMEM_LAUNCH_TIMEOUT=3 SHMEM_NET_TIMEOUT=5
export SHMEM_LAUNCH_TIMEOUT SHMEM_NET_TIMEOUT
end_ms=20000 # after the cut; 3 s or 5 s of them are those timeouts
[ -z "$brief" ] || end_ms=30000
limit_s=40

hosts_up 3

all_there() {
    [ "$(grep -c 'is running' "$work/out")" = $npes ] || gone "$pid"
}

# The message must name the host, or one of its PEs and the operation.
message_of() {
    case $1 in
    oshrun) echo '^oshrun: .*\(n2\|10\.7.\.0\.3\)\|^pgas: PE [0-3,-]*: .*PE [45] ' ;;
    *) echo 'pgas: PE [0-3]: shmem[a-z_]*: \(lost \)\?PE [45] ' ;;
    esac
}

said() {
    grep -q "$message" "$work/err"
}

# n2 can reach n0 again: n0 refuses a connection to its port 9 (discard).
reached() {
    "$hosts" exec n2 timeout 2 bash -c ': </dev/tcp/n0/9' 2>&1 | grep -q refused
}

lose_host() {
    what="$launcher, $way of n2, $operation"
    : >"$work/out"
    launch "$launcher" $npes "$lost" stay "$operation" \
        </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    until_true 30 all_there || fail "$what: the PEs do not start"
    begin=$(now_ms)
    "$hosts" "$way" n2
    message=$(message_of "$launcher")
    [ "$launcher" = oshrun ] || until_true $limit_s said || :
    if [ "$launcher" = oshrun ]; then await $limit_s; else await $patience_s; fi
    took=$(($(now_ms) - begin))
    "$hosts" heal n2
    until_true 20 reached || fail "$what: n2 is not back on the network"
    [ "$launcher" != oshrun ] || [ "$got" != 137 ] || got=0 # was killed
    [ "$got" != 0 ] || fail "$what: it has not ended, or with status 0"
    [ $took -le $end_ms ] || fail "$what: the end lasted $took ms"
    grep -q "$message" "$work/err" || {
        fail "$what: no message '$message'"
        show
    }
    [ "$launcher" = oshrun ] || "$hosts" wipe
    check_hosts "$what" || :
    echo "$what: $took ms, status $got: $(grep "$message" "$work/err" | head -n 1)"
}

cuts() {
    for operation in ${LOST_OPERATIONS:-$operations}; do
        for way in cut ${long:+mute}; do
            lose_host
        done
    done
}

for_each "${LOST_LAUNCHERS:-$launchers}" cuts
end
