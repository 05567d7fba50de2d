#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# interfaces.sh - hosts with two networks, one of which is broken: oshrun finds the other
# by itself or by --if.
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
limit_s=40
start_ms=25000 # with one network that does not answer
SHMEM_LAUNCH_TIMEOUT=2 SHMEM_LAUNCH_START_TIMEOUT=12
export SHMEM_LAUNCH_TIMEOUT SHMEM_LAUNCH_START_TIMEOUT
hosts_up 2

# job STATUS OPTION...: one PE on each host, with these options.
job() {
    want=$1
    shift
    got=0
    begin=$(now_ms)
    (guard="timeout -s KILL $limit_s" && on n0 "$OSHRUN" --host n0,n1 \
        --launch-agent "$hosts agent" "$@" "$boot_map") \
        </dev/null >"$work/out" 2>"$work/err" || got=$?
    took=$(($(now_ms) - begin))
    check_hosts "$*" || :
    if [ "$got" != "$want" ]; then
        fail "$what: oshrun $*: status $got, expected $want"
        show
    elif [ "$got" != 0 ]; then
        [ "$(wc -l <"$work/err")" = 1 ] || {
            fail "$what: oshrun $*: not one message"
            show
        }
    fi
}

# wire NODE INTERFACE up|down
wire() {
    (on "$1" ip link set "$2" "$3")
}

what='both networks work'
job 0
ways='eth1 10.78.0.0/24 lo,eth1'
[ -z "${PGAS_TEST_LONG:-}" ] || ways='eth0 eth1 eth1,eth0 10.77.0.0/16 10.78.0.0/24 lo,eth1'
for which in $ways; do
    job 0 --if "$which"
done
job 1 --if no-such
says 'no-such'
job 1 --if 10.99.0.0/16
says '10\.99\.0\.0/16'
job 1 --if "$(printf 'eth0,%.0s' $(seq 300))eth0"
says 'at most 1023'

for broken in eth0 eth1; do
    what="$broken of n1 is down"
    other=eth1
    [ "$broken" = eth0 ] || other=eth0
    wire n1 "$broken" down
    job 0
    job 0 --if "$other"
    job 1 --if "$broken"
    says n1
    wire n1 "$broken" up
done

# The start is slower, but succeeds, if one network drops packets.
what='eth0 drops everything'
"$hosts" mute n1 eth0
job 0
[ "$took" -le "$start_ms" ] || fail "$what: the start lasted $took ms"
"$hosts" heal n1
finish
