#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# survive.sh - SHMEM_FT=continue on three hosts: a daemon is killed, or a host is cut off,
# while all PEs wait in collectives of PMIx.  The PEs of the other hosts get an event for
# each PE of that host, complete their collectives, and end with status 0; nothing is left
# on any host, that which was cut off included.  SURVIVE_WAYS: only these.  The long form
# also has hosts whose frames are dropped silently, and the same under Slurm.
#
# lossy: no host fails, but every 20th TCP segment between them is lost.  TCP needs at least
# 200 ms to notice the loss of a heartbeat without help (ft_mesh.h), which is the timeout.
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
ft=$top_builddir/tests/launcher/cli/oshrun-ft-client
ways=${SURVIVE_WAYS:-'kill cut lossy'}
[ -z "${PGAS_TEST_LONG:-}" ] || ways=${SURVIVE_WAYS:-'kill cut mute slurm lossy'}
npes=6
end_ms=20000   # the job, after the fault
alone_s=30     # a host that is cut off is clean, after the fault
limit_s=30
SHMEM_FT=continue SHMEM_LAUNCH_TIMEOUT=1
export SHMEM_FT SHMEM_LAUNCH_TIMEOUT

launcher() {
    case $way in
    slurm)
        on n0 salloc -Q -N 3 --ntasks-per-node=2 --overcommit --no-kill "$OSHRUN" "$@"
        ;;
    *) on n0 "$OSHRUN" --host 'n[0-2]:2' --launch-agent "$hosts agent" "$@" ;;
    esac
}

all_there() {
    [ "$(grep -c 'is there' "$work/out")" = $npes ] || gone "$pid"
}

# Prints the daemon of n2, not its reaper.
find_daemon() {
    for p in $("$hosts" pids n2); do
        case $({ tr '\0' ' ' <"/proc/$p/cmdline"; } 2>/dev/null || :) in
        "$OSHRUN --node-daemon ") ;;
        *) continue ;;
        esac
        [ "$(cat "/proc/$p/comm" 2>/dev/null)" = oshrun-reaper ] || echo "$p"
    done
}

strike() {
    case $way in
    kill | slurm) kill -KILL "$(find_daemon | head -n 1)" ;;
    cut | mute) "$hosts" "$way" n2 ;;
    esac
}

mend() {
    case $way in
    cut | mute) "$hosts" heal n2 ;;
    esac
}

lose_host() {
    : >"$work/out"
    launcher -v -n $npes "$ft" 4,5 hang fence connect get \
        </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    until_true 20 all_there || fail "$way: the PEs do not start"
    begin=$(now_ms)
    strike
    await $limit_s
    took=$(($(now_ms) - begin))
    [ $got = 0 ] || fail "$way: status $got"
    [ $took -le $end_ms ] || fail "$way: the end lasted $took ms"
    [ "$(grep -c ' survived$' "$work/out")" = 4 ] || fail "$way: not all PEs have survived"
    grep -q '^oshrun: the job survived 2 failed PEs: PE 4,5 (node n2 lost)$' "$work/err" ||
        fail "$way: no message about n2"
    [ "$failures" = 0 ] || show
    # The host ends its PEs although nobody can tell it to.
    until_true $alone_s clean || :
    mend
    check_hosts "$way" || :
    echo "$way: $took ms, status $got: $(grep 'on n2' "$work/err" | head -n 1)"
}

lossy_s=6
[ -z "${PGAS_TEST_LONG:-}" ] || lossy_s=60

# One attempt.  A detection is legal if all segments of a timeout are lost or late.
lose_segments() {
    "$hosts" lose 20 || return 1
    launcher -x SHMEM_FT -n 3 "$top_builddir/bench/ft_detect" -i $lossy_s \
        </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    await $((lossy_s + limit_s))
    lost=$("$hosts" lost)
    "$hosts" lose 0
}

none_has_failed() {
    [ $got = 0 ] && grep -q '^idle [0-9.]* [0-9]* 0$' "$work/out"
}

survive_losses() {
    for try in 1 2 3; do
        lose_segments || {
            echo 'lossy: skipped: nft is missing'
            return 0
        }
        none_has_failed && break
        echo "lossy, attempt $try: $(cat "$work/out")"
    done
    [ $got = 0 ] || fail "lossy: status $got"
    [ "$lost" -ge 10 ] || fail "lossy: only $lost segments were lost"
    grep -q '^idle [0-9.]* [0-9]* 0$' "$work/out" || fail "lossy: a live host has failed"
    [ "$failures" = 0 ] || show
    check_hosts "$way" || :
    echo "lossy: $lost lost segments, $(cat "$work/out")"
}

hosts_up 3
for way in $ways; do
    if [ "$way" = slurm ]; then
        "$top_srcdir/tests/launcher/hosts/slurm" possible 2>/dev/null || continue
        "$top_srcdir/tests/launcher/hosts/slurm" up
    fi
    case $way in
    lossy) survive_losses ;;
    *) lose_host ;;
    esac
done
finish
