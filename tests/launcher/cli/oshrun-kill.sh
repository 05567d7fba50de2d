#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGKILL of oshrun or of a PE at random moments leaves nothing behind.
# PGAS_TEST_LONG=1: 200 moments instead of 25.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
moments=25
[ -z "${PGAS_TEST_LONG:-}" ] || moments=200
limit_ms=20000

# A number from 0 to $1 - 1.
random() {
    echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

shm() {
    find /dev/shm -mindepth 1 \( -name '*pgas*' -o -name '*oshrun*' -o -name '*pmix*' \)
}

# Prints a random PE of oshrun $pid, if there is one: its children that execute another
# program.  Not the reaper, which for a moment has the name of oshrun.
random_pe() {
    set --
    for p in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null || true); do
        case $(cat "/proc/$p/comm" 2>/dev/null) in
        '' | oshrun | oshrun-reaper) ;;
        *) set -- "$@" "$p" ;;
        esac
    done
    [ $# = 0 ] || shift $(($(random $#)))
    echo "${1:-}"
}

# One job, killed after a random time.  Its start, run and end last about 60 ms; one of
# three jobs hangs instead, and only the kill ends it.
i=0
while [ $i -lt $moments ]; do
    how=good
    [ "$(random 3)" != 0 ] || how=hang
    start -n 4 "$client" $how
    sleep "0.$(printf '%03d' "$(random 100)")"
    victim=
    [ "$(random 2)" != 0 ] || victim=$(random_pe)
    begin=$(now_ms)
    kill -KILL "${victim:-$pid}" 2>/dev/null || true
    status=0
    wait "$pid" 2>/dev/null || status=$?
    took=$(($(now_ms) - begin))
    what="moment $i: ${victim:-oshrun $pid} killed, $how"
    [ $took -le $limit_ms ] || fail "$what: took $took ms"
    case $status:$how in
    137:* | 0:good) ;; # 0: it was too late
    *) fail "$what: status $status: $(cat "$work/err")" ;;
    esac
    check_nothing_left "$what"
    i=$((i + 1))
done
[ -z "$(shm)" ] || fail "left in /dev/shm: $(shm)"

# Starts PEs with children and waits until they run.
start_families() {
    start -n 2 sh -c 'sleep 60 & echo is there; wait'
    until_true 30 grep -q there "$work/out" || fail "the PEs do not start"
}

# Processes in the groups of the PEs are killed too.
start_families
kill -KILL "$pid"
wait "$pid" || true
check_nothing_left "grandchildren"

# So are PEs in sessions of their own, and jobs within the job.
there() {
    [ "$(grep -c 'is there' "$work/out" 2>/dev/null)" = 2 ]
}
kill_strays() {
    start "$@"
    until_true 30 there || fail "the PEs do not start: $*"
    kill -KILL "$pid"
    wait "$pid" || true
    check_nothing_left "$*"
}
# shellcheck disable=SC2016 # for the shells inside
kill_strays -n 2 sh -c 'setsid -w "$0" hang; :' "$client"
# shellcheck disable=SC2016
kill_strays -n 2 sh -c 'setsid -f "$0" hang; sleep 60' "$client"
kill_strays -n 1 "$OSHRUN" -n 2 "$client" hang

# Without its reaper, oshrun cleans up itself.
start_families
reaper() {
    for p in $(cat "/proc/$pid/task/$pid/children"); do
        [ "$(cat "/proc/$p/comm")" != oshrun-reaper ] || echo "$p"
    done
}
[ -n "$(reaper)" ] || fail "oshrun has no reaper"
kill -KILL "$(reaper)"
sleep 0.2
kill -TERM "$pid"
ended_with 143
check_nothing_left "without a reaper"

# Without both, the kernel still ends the PEs; only files can stay.
start -n 2 sh -c 'echo is there; exec sleep 60'
until_true 30 grep -q there "$work/out" || fail "the PEs do not start"
kill -KILL "$(reaper)"
kill -KILL "$pid"
wait "$pid" || true
no_process() { [ -z "$(marked)" ]; }
until_true 20 no_process || fail "PEs survive oshrun and reaper: $(marked)"
rm -rf "$work/tmp"
mkdir "$work/tmp"
finish
