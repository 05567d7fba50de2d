#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# faults.sh - a node daemon is killed or stopped, or its host cut off, while a job starts,
# runs or ends: the job ends within 5 s with a message that names the node; no orphan
# stays on a host that can be reached, and those on the other one end by themselves.
# The same holds if oshrun itself is killed (front).
# On virtual nodes (no cutting) and, as root, on three hosts.  The short form has each fault
# once on the hosts and one on virtual nodes, at a random moment.
# FAULT_WAYS, FAULTS, FAULT_MOMENTS: only these; FAULT_ROUNDS: as often as this.
# shellcheck disable=SC2016,SC2046 # the PEs expand $PMIX_RANK; lists of pids
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
ways=${FAULT_WAYS:-'vnodes hosts'}
faults=${FAULTS:-'kill stop cut mute front'}
moments=${FAULT_MOMENTS:-'start start run exit'}
rounds=${FAULT_ROUNDS:-1}
short=1
[ -z "${PGAS_TEST_LONG:-}${FAULT_WAYS:-}${FAULTS:-}${FAULT_MOMENTS:-}" ] || short=
# The build tests the others.
[ -z "${DISTCHECK:-}" ] || ways=hosts faults=kill
end_ms=25000  # the job, after the fault
clean_s=30    # reachable hosts, after the end of the job
alone_ms=25000 # a host that is cut off is clean, after the fault
nodes=3
per_node=2
npes=$((nodes * per_node))

# A number from 0 to $1 - 1.
random() {
    echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# -- the two ways ----------------------------------------------------------------------
launcher() {
    case $way in
    vnodes)
        exec env "$mark" TMPDIR="$work/tmp" "$OSHRUN" --vnodes $nodes -n $npes "$@"
        ;;
    hosts)
        on n0 "$OSHRUN" --host "n[0-2]:$per_node" --launch-agent "$hosts agent" "$@"
        ;;
    esac
}

pids_of() {
    case $way in
    vnodes) marked ;;
    hosts) "$hosts" pids "$1" ;;
    esac
}

# Processes in the order of their start (pids may have wrapped around in between).
by_start() {
    for p in "$@"; do
        awk '{ print $22, $1 }' "/proc/$p/stat" 2>/dev/null || :
    done | sort -n -k 1,1 -k 2,2 | cut -d ' ' -f 2
}

# Prints the daemons of a node, not their reapers (which for a moment look the same).
# Virtual nodes: those of all, in the order of their start.
daemons() {
    for p in $(by_start $(pids_of "$1")); do
        case $({ tr '\0' ' ' <"/proc/$p/cmdline"; } 2>/dev/null || :) in
        "$OSHRUN --node-daemon ") ;;
        *) continue ;;
        esac
        [ "$(cat "/proc/$p/comm" 2>/dev/null)" = oshrun-reaper ] || echo "$p"
    done
}

# Sets $daemon to the process to kill or stop; cutting off a host needs none.
find_daemon() {
    case $fault in
    kill | stop) ;;
    *) return 0 ;;
    esac
    case $way in
    vnodes) daemon=$(daemons '' | sed -n "$((victim + 1))p") ;;
    hosts) daemon=$(daemons "n$victim" | head -n 1) ;;
    esac
    [ -n "$daemon" ] || gone "$pid"
}

left_on() {
    case $way in
    vnodes)
        marked
        ls -A "$work/tmp"
        ;;
    hosts) "$hosts" left | grep "^\($1\):" || : ;;
    esac
}

clean_on() {
    [ -z "$(left_on "$1")" ]
}

wipe() {
    case $way in
    vnodes)
        for p in $(marked); do
            kill -KILL "$p" 2>/dev/null || :
        done
        rm -rf "$work/tmp"
        mkdir "$work/tmp"
        ;;
    hosts) "$hosts" wipe ;;
    esac
}

# -- faults ----------------------------------------------------------------------------
# Names of the reachable and of the unreachable nodes, as patterns of grep.
apart() {
    case $fault in
    cut | mute)
        reached=$(echo 'n0 n1 n2' | tr ' ' '\n' | grep -v "$victim" | paste -sd'|' |
            sed 's/|/\\|/')
        away=n$victim
        ;;
    *) reached='n[0-9]*' away= ;;
    esac
}

strike() {
    case $fault in
    kill) kill -KILL "$daemon" 2>/dev/null || : ;;
    front) kill -KILL "$pid" 2>/dev/null || : ;;
    stop) kill -STOP "$daemon" 2>/dev/null || : ;;
    cut | mute) "$hosts" "$fault" "n$victim" ;;
    esac
}

mend() {
    case $fault in
    cut | mute) "$hosts" heal "n$victim" ;;
    esac
}

# -- moments ---------------------------------------------------------------------------
all_there() {
    [ "$(grep -c 'is there' "$work/out")" = "$npes" ] || gone "$pid"
}

# Starts a job and returns at the moment.  At the end PEs leave one after the other.
moment() {
    how=hang
    [ "$moment" != exit ] || how=good
    : >"$work/out" # what the last one wrote must not count
    launcher sh -c '"$0" "$1" && sleep "0.$PMIX_RANK"' "$client" $how \
        </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    if [ "$moment" = start ]; then
        pause 150
    else
        until_true 20 all_there || fail "$what: the PEs do not start"
    fi
    until_true 20 find_daemon || fail "$what: no daemon starts"
    [ "$moment" != exit ] || pause 450
}

# pause MS: a random time below that.
pause() {
    sleep "0.$(printf '%03d' "$(random "$1")")"
}

# -- one fault -------------------------------------------------------------------------
# The job has ended with a message, or succeeded before the fault had an effect.
check_end() {
    case $got:$how in
    0:good) return 0 ;;
    137:*)
        [ "$took" -gt $end_ms ] || [ "$fault" != front ] || return 0
        fail "$what: it did not end within ${limit_s} s"
        ;;
    0:*) fail "$what: status 0" ;;
    esac
    [ "$took" -le $end_ms ] || fail "$what: the end lasted $took ms"
    # A child in the tree may detect the loss first and report the address.
    grep -q "^oshrun: .*\(n$victim\|10\.7.\.0\.$((victim + 1)):\)" "$work/err" || {
        fail "$what: no message about node $victim (status $got)"
        show
    }
}

strike_once() {
    what="$way, $fault node $victim, $moment, fan-out $fanout"
    moment
    begin=$(now_ms)
    strike
    await $limit_s
    took=$(($(now_ms) - begin))
    check_end
    until_true $clean_s clean_on "$reached" ||
        fail "$what: orphans: $(left_on "$reached" | head -n 8)"
    if [ -n "$away" ]; then
        rest_s=$(((alone_ms - ($(now_ms) - begin)) / 1000 + 1))
        until_true $rest_s clean_on "$away" ||
            fail "$what: orphans on $away: $(left_on "$away" | head -n 8)"
    fi
    mend
    wipe
    printf '%s: %d ms, status %d: %s\n' "$what" "$took" $got "$(head -n 1 "$work/err")"
}

# Detection of a silent host lasts seconds: the default limit is tested while a job runs;
# before and after it is shorter, and a host loses its link in one of the two ways.
strike_all() {
    for moment in $moments; do
        SHMEM_LAUNCH_TIMEOUT=3
        spare=none
        if [ "$moment" != run ] && [ -z "$short" ]; then
            SHMEM_LAUNCH_TIMEOUT=2
            spare='cut'
            [ "$(random 2)" = 0 ] || spare='mute'
        fi
        for fault in $faults; do
            case $way:$fault in
            vnodes:cut | vnodes:mute | *:$spare) continue ;;
            esac
            # A chain, in which the loss of a daemon disconnects others, too
            fanout=$((1 + $(random 2) * 31))
            victim=$((1 + $(random 2)))
            SHMEM_LAUNCH_FANOUT="$fanout"
            apart
            strike_once
        done
    done
}

# any_of WORD..: prints one of them at random.
any_of() {
    shift "$(random $#)"
    echo "$1"
}

# strike_sample: each fault once on the hosts, one of them on virtual nodes.
strike_sample() {
    all=$faults
    sample=$all
    [ "$way" = hosts ] || sample=$(any_of kill stop front)
    for faults in $sample; do
        moments=$(any_of start run exit)
        strike_all
    done
    faults=$all
}

limit_s=40
SHMEM_LAUNCH_START_TIMEOUT=8 # of daemons that have not called: 30 without this
export SHMEM_LAUNCH_START_TIMEOUT SHMEM_LAUNCH_TIMEOUT SHMEM_LAUNCH_FANOUT
for way in $ways; do
    if [ "$way" = hosts ]; then
        reason=$("$hosts" possible 2>&1) || continue
        hosts_up 3
    fi
    round=0
    while [ $round -lt "$rounds" ]; do
        if [ -n "$short" ]; then strike_sample; else strike_all; fi
        round=$((round + 1))
    done
done
finish || exit 1
[ -z "${reason:-}" ] || {
    echo "skipped in part: ${reason#hosts: }"
    exit 77
}
