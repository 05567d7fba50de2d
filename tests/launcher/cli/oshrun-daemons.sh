#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Signals, reports, blocked output and lost daemons of a job on several nodes, also while
# one of them has not started yet.  Cases that mostly wait run at the same time.
# DAEMONS_CASES: only these.
# shellcheck disable=SC2016 # PEs and agents expand what is in single quotes
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=60
late_s=20 # limit for the start of the PEs of a job
slack_ms=0
[ -z "${SANITIZED:-}" ] || slack_ms=6000
oshrun_exe=$(readlink -f "$OSHRUN")
fanouts='1 32'
npes=6
cases=${DAEMONS_CASES:-}
[ -z "${DISTCHECK:-}" ] || cases=${cases:-usr1_to_all} # the rest has been tried in the build
running=

# -- cases -----------------------------------------------------------------------------

# spawn NAME FUNCTION ARGS...: runs it at the same time, with files and a mark of its own.
spawn() {
    name=$1
    shift
    case " ${cases:-$1} " in
    *" $1 "*) ;;
    *) return 0 ;;
    esac
    mkdir -p "$work/$name/tmp"
    (
        work=$work/$name
        mark=$mark.$name
        failures=0
        "$@"
        check_nothing_left "$name"
        [ "$failures" = 0 ] || exit 1
        steady_end
    ) >"$work/$name.log" 2>&1 &
    running="$running $name:$!"
}

# Waits for all spawned cases.
gather() {
    for one in $running; do
        status=0
        wait "${one#*:}" || status=$?
        [ $status != 0 ] || continue
        steady_ended $status "${one%:*}"
        sed 's/^/    /' "$work/${one%:*}.log"
    done
    running=
}

# -- jobs ------------------------------------------------------------------------------

# PEs that wait for the file `go` and then print a line.
pe_waits='echo "pe $$"; until [ -e "$0" ]; do sleep 0.1; done; echo on'
pe_hangs='echo "pe $$"; exec sleep 60'
pe_is_deaf='trap "" INT TERM; echo "pe $$"; while :; do sleep 60; done'

there() {
    [ "$(grep -c '^pe ' "$work/out")" = "$1" ]
}

await_pes() {
    until_true $late_s there "$1" && return 0
    fail "the PEs do not start: $(cat "$work/err")"
}

go_on() {
    : >"$work/go"
    ended_with 0
    [ "$(grep -c '^on$' "$work/out")" = "$1" ] || fail "not all PEs went on"
}

silent() {
    [ ! -s "$work/err" ] || fail "standard error: $(cat "$work/err")"
}

start_waiting() {
    start --vnodes 3 -n $npes sh -c "$pe_waits" "$work/go"
}

state_is() {
    [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" = "$2" ]
}

# A process is stopped in state T.  The shell starts `sleep` with vfork: if the signal
# arrives before the child's exec, the child is in T and the shell, which waits for that
# exec in the kernel, remains in D.  It runs no further either.
is_stopped() {
    state_is "$1" T && return 0
    state_is "$1" D || return 1
    for child in $(cat "/proc/$1/task/$1/children"); do
        ! state_is "$child" T || return 0
    done
    return 1
}

pes_are_stopped() {
    for p in $(sed -n 's/^pe //p' "$work/out"); do
        is_stopped "$p" || return 1
    done
}

# Prints the processes of oshrun in the job: front end, daemons and their reapers.
oshruns() {
    for p in $(marked | sort -n); do
        [ "$(readlink "/proc/$p/exe" || :)" != "$oshrun_exe" ] || echo "$p"
    done
}

# Prints the daemons in the order of their start.
daemons() {
    for p in $(oshruns); do
        [ "$(cat "/proc/$p/comm")" != oshrun-reaper ] || continue
        ! tr '\0' ' ' <"/proc/$p/cmdline" | grep -q -e '--node-daemon' || echo "$p"
    done
}

# took_at_most MS WHAT: since steady_begin.
took_at_most() {
    steady_within $(($1 + slack_ms)) "$2"
}

# agent HOST SECONDS: makes $work/agent, which takes that long for this host ('*': all).
agent() {
    printf '#!/bin/sh\ncase $1 in\n%s) sleep %s ;;\nesac\nshift\nexec sh -c "$*"\n' \
        "$1" "$2" >"$work/agent"
    chmod +x "$work/agent"
}

# Four PEs; node b starts late, while the PEs of a run.
start_with_late() {
    agent b 60
    start --launch-agent "$work/agent" -H a:2,b:2 "$@"
    await_pes 2
}

# -- stopped by the user ---------------------------------------------------------------

stopped() {
    state_is "$pid" T && pes_are_stopped
}

ctrl_z() {
    export SHMEM_LAUNCH_FANOUT="$1"
    start_waiting
    await_pes $npes
    kill -TSTP "$pid"
    until_true 20 stopped || fail "Ctrl-Z does not stop all of $(oshruns)"
    sleep 4
    stopped || fail "not all are still stopped"
    kill -CONT "$pid"
    go_on $npes
    silent
}

stopped_run() {
    export SHMEM_LAUNCH_FANOUT="$1"
    start_waiting
    await_pes $npes
    kill -STOP "$pid"
    sleep 4
    kill -CONT "$pid"
    go_on $npes
    silent
}

# stopped_start FANOUT SECONDS: oshrun is stopped that long after its start.
stopped_start() {
    export SHMEM_LAUNCH_FANOUT="$1"
    start --vnodes 3 -n $npes true
    sleep "$2"
    kill -STOP "$pid" || return 0 # it was faster
    sleep 4
    kill -CONT "$pid"
    ended_with 0
    silent
}

# -- reports ---------------------------------------------------------------------------

table_is_whole() {
    for rank in 0 1 2 3 4 5; do
        grep -q "^oshrun:  *$rank vn[0-2] .* [A-Z] " "$work/err" || return 1
    done
}

# As with kill -USR1 $(pidof oshrun): the daemons and reapers get it too.
usr1_to_all() {
    export SHMEM_LAUNCH_FANOUT="$1"
    start -v --vnodes 3 -n $npes sh -c "$pe_waits" "$work/go"
    await_pes $npes
    for p in $(oshruns); do
        kill -USR1 "$p"
    done
    until_true 20 table_is_whole || fail "the table lacks PEs: $(cat "$work/err")"
    sleep 0.5
    [ "$(oshruns | wc -l)" -ge 4 ] || fail "SIGUSR1 has ended processes of oshrun: $(oshruns)"
    go_on $npes
    [ "$(grep -c 'state of 6 PEs' "$work/err")" = 1 ] || fail "more than one table"
}

# A daemon sends its part of the table after the time limit.
stacks_after_table() {
    export SHMEM_LAUNCH_FANOUT="$1" SHMEM_LAUNCH_TIMEOUT=20
    start -v --timeout 6 --vnodes 3 -n 3 sh -c "$pe_hangs"
    await_pes 3
    slow=$(daemons | tail -n 1)
    kill -STOP "$slow"
    kill -USR1 "$pid"
    until_true 30 grep -q 'has not ended after 6 s' "$work/err" || fail "no time-out"
    kill -CONT "$slow"
    ended_with 124
    says 'state of 3 PEs'
    if command -v gdb >/dev/null; then
        says 'stack of PE'
    else
        says 'no stacks: neither gdb nor eu-stack'
    fi
}

# -- a node that has not started yet ---------------------------------------------------

late_interrupt() {
    start_with_late sh -c "$pe_hangs"
    steady_begin
    kill -INT "$pid"
    ended_with 130
    took_at_most 30000 "the end by SIGINT"
    ! grep -q 'cannot be killed' "$work/err" || fail "$(cat "$work/err")"
}

late_interrupt_deaf() {
    start_with_late sh -c "$pe_is_deaf"
    steady_begin
    kill -INT "$pid"
    ended_with 130
    took_at_most 30000 "the end by SIGINT, SIGKILL"
    ! grep -q 'cannot be killed' "$work/err" || fail "$(cat "$work/err")"
}

late_interrupt_twice() {
    start_with_late sh -c "$pe_is_deaf"
    steady_begin
    kill -INT "$pid"
    sleep 0.1
    kill -INT "$pid"
    ended_with 130
    took_at_most 30000 "the end by two SIGINT"
    ! grep -q 'cannot be killed' "$work/err" || fail "$(cat "$work/err")"
}

late_failure() {
    steady_begin
    agent b 60
    start --launch-agent "$work/agent" -H a:2,b:2 sh -c 'sleep 0.3; exit 5'
    ended_with 5
    took_at_most 30000 "the end by a PE"
    says 'exited with status 5'
    ! grep -q 'cannot be killed' "$work/err" || fail "$(cat "$work/err")"
}

late_timeout() {
    steady_begin
    start_with_late -v --timeout 6 sh -c "$pe_hangs"
    ended_with 124
    took_at_most 40000 "the end by --timeout" # a debugger takes its time
    says '   0 a '
    says ' b: .*not .*started'
    ! grep -q 'cannot be killed' "$work/err" || fail "$(cat "$work/err")"
}

late_report() {
    start_with_late -v sh -c "$pe_hangs"
    steady_begin
    kill -USR1 "$pid"
    until_true 30 grep -q ' b: .*not .*started' "$work/err" || fail "no line of b"
    took_at_most 20000 "the table" # a debugger takes its time
    says '   0 a '
    says '   1 a '
    sleep 0.2
    kill -INT "$pid"
    ended_with 130
}

# -- output ----------------------------------------------------------------------------

# The reader exits before the PEs of b have started.
late_reader() {
    agent b 1.5
    steady_begin
    timeout -s KILL $limit_s env "$mark" TMPDIR="$work/tmp" "$OSHRUN" \
        --launch-agent "$work/agent" --host a:1,b:1 sh -c "$1" 2>"$work/err" |
        head -n 1 >"$work/out"
    took_at_most 25000 "yes | head"
    prints '^y$'
    silent
}

ticks_of() {
    sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f12,13 | tr ' ' +
}

# is_busy NODES: a process of oshrun uses the processor, or not all daemons run; sets $busy.
is_busy() {
    for p in $(oshruns); do
        echo "$p $(($(ticks_of "$p")))"
    done >"$work/before"
    sleep 2
    busy=
    while read -r p before; do
        used=$(($(ticks_of "$p") - before))
        [ $used -lt 50 ] || busy="oshrun $p used $used ticks of 200 while it was blocked"
    done <"$work/before"
    [ "$(wc -l <"$work/before")" -gt "$1" ] || busy="not all daemons run"
    [ -n "$busy" ]
}

# blocked_output FANOUT NODES PES: no process reads the output.
blocked_output() {
    export SHMEM_LAUNCH_FANOUT="$1"
    mkfifo "$work/fifo"
    exec 3<>"$work/fifo"
    env "$mark" TMPDIR="$work/tmp" "$OSHRUN" --vnodes "$2" -n "$3" yes \
        >"$work/fifo" 2>"$work/err" </dev/null 3>&- &
    pid=$!
    tries=15
    while sleep 2 && is_busy "$2" && [ $tries -gt 0 ]; do # until all is full
        tries=$((tries - 1))
    done
    [ -z "$busy" ] || fail "$busy"
    steady_begin
    kill -INT "$pid"
    ended_with 130
    took_at_most 30000 "the end by SIGINT while the output is blocked"
    exec 3>&-
}

# -- ends ------------------------------------------------------------------------------

# A PE that leaves a process behind, which has its own session when the PE continues.
pe_leaves='setsid -f sh -c ": >$0.$PMIX_RANK; exec sleep 60" >/dev/null 2>&1
    until [ -e "$0.$PMIX_RANK" ]; do sleep 0.05; done; rm "$0.$PMIX_RANK"'

strays() {
    [ "$(marked | wc -l)" = "$1" ]
}

# A detached process survives a job that succeeds, but not one that fails.
left_session() {
    export SHMEM_LAUNCH_FANOUT="$1"
    start --vnodes 3 -n 3 sh -c "$pe_leaves" "$work/left"
    ended_with 0
    until_true 20 strays 3 || fail "after success: $(marked | wc -l) detached processes, not 3"
    sleep 0.5
    strays 3 || fail "a while after success: $(marked | wc -l) detached processes, not 3"
    for p in $(marked); do
        kill -KILL "$p"
    done
    until_true 20 strays 0 || fail "they do not end"
    start --vnodes 3 -n 3 sh -c "$pe_leaves; sleep 0.5; exit 3" "$work/left"
    ended_with 3
    until_true 20 strays 0 || fail "after a failure: $(marked | wc -l) detached processes"
}

daemon_gets_term() {
    export SHMEM_LAUNCH_FANOUT="$1"
    start --vnodes 3 -n 3 sh -c "$pe_hangs"
    await_pes 3
    kill -TERM "$(daemons | tail -n 1)"
    got=0
    wait "$pid" || got=$?
    [ $got != 0 ] || fail "oshrun ends with 0"
    says 'vn2.*signal 15'
}

# daemon_is_killed NODE: the message counts the PEs of all other nodes of the tree.
daemon_is_killed() {
    export SHMEM_LAUNCH_FANOUT=1
    start --vnodes 4 -n 4 sh -c "$pe_hangs"
    await_pes 4
    kill -KILL "$(daemons | sed -n "$(($1 + 1))p")"
    ended_with 1
    says "the node daemon on vn$1 .*; ending 3 other PEs"
}

# More hosts than agents at a time: each daemon has its own time limit to connect.
start_time() {
    agent '*' 5
    begin=$(now_ms)
    SHMEM_LAUNCH_START_TIMEOUT=9 run 0 --launch-agent "$work/agent" \
        -H "h[1-40]:1" -n 40 true
    took=$(($(now_ms) - begin))
    [ $took -ge 9500 ] || fail "all agents ran at once: the test is void ($took ms)"
    silent
}

steady_begin # one watch for all cases
for f in $fanouts; do
    spawn "ctrl_z.$f" ctrl_z "$f"
    spawn "stopped_run.$f" stopped_run "$f"
    spawn "stopped_start.a$f" stopped_start "$f" 0.02
    spawn "stopped_start.b$f" stopped_start "$f" 0.06
    spawn "stopped_start.c$f" stopped_start "$f" 0.12
done
gather
spawn start_time start_time
for f in $fanouts; do
    spawn "left_session.$f" left_session "$f"
    spawn "usr1_to_all.$f" usr1_to_all "$f"
done
gather
spawn late_interrupt late_interrupt
spawn late_interrupt_deaf late_interrupt_deaf
spawn late_interrupt_twice late_interrupt_twice
spawn late_failure late_failure
spawn late_report late_report
gather
spawn late_timeout late_timeout
spawn stacks_after_table.1 stacks_after_table 1
spawn stacks_after_table.32 stacks_after_table 32
gather
spawn late_reader.yes late_reader 'exec yes'
spawn late_reader.b late_reader \
    '[ "$PMIX_RANK" = 1 ] || { echo y; sleep 0.5; echo b; exec sleep 30; }; exec yes'
for f in $fanouts; do
    spawn "daemon_gets_term.$f" daemon_gets_term "$f"
done
spawn daemon_is_killed.0 daemon_is_killed 0
spawn daemon_is_killed.1 daemon_is_killed 1
gather
spawn blocked_output.1 blocked_output 1 3 8
spawn blocked_output.32 blocked_output 32 2 64
gather
finish
