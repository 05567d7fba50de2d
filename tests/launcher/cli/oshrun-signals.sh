#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Signals to oshrun, the table of states, and --timeout.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=30

there() {
    [ "$(grep -c 'is there' "$work/out" 2>/dev/null)" = "$1" ]
}

# Starts N clients that hang and waits until they do.
start_hanging() {
    start -n "$1" "$client" hang
    until_true 30 there "$1" || fail "the clients do not start"
}

for s in INT:130 TERM:143 HUP:129 QUIT:131; do
    start_hanging 3
    steady_begin
    kill "-${s%:*}" "$pid"
    ended_with "${s#*:}"
    steady_within 15000 "SIG${s%:*}: the end"
    says "got signal $((${s#*:} - 128))"
    check_nothing_left "SIG${s%:*}"
done

# PEs that ignore SIGINT: the second one kills them.  After the first one alone, this would take at
# least 500 ms; one attempt that takes less shows it, and the last one is judged.
end_by_two_sigints() {
    start -n 2 sh -c 'trap "" INT TERM; echo is there; sleep 60; sleep 60; sleep 60'
    until_true 30 there 2 || fail "the PEs do not start"
    steady_begin
    kill -INT "$pid"
    sleep 0.1
    kill -INT "$pid"
    ended_with 130
    steady_took
}
attempts=10
end_by_two_sigints
while ! steady_is_within 450 && [ $attempts -gt 0 ]; do
    attempts=$((attempts - 1))
    end_by_two_sigints
done
steady_judge 450 "the second SIGINT: the end"

# Other signals are forwarded.
start -n 2 sh -c 'trap "echo got it; exit 0" USR2
    echo is there; while :; do sleep 0.05; done'
until_true 30 there 2 || fail "the PEs do not start"
kill -USR2 "$pid"
ended_with 0
[ "$(grep -c 'got it' "$work/out")" = 2 ] || fail "SIGUSR2 did not reach all PEs"

start -v -n 3 "$client" hang
until_true 30 there 3 || fail "the clients do not start"
kill -USR1 "$pid"
until_true 20 grep -q ' 2 .* S ' "$work/err" || fail "SIGUSR1: no line of PE 2"
says 'state of 3 PEs'

# The pid that a PE has published is shown only if the process belongs to that PE.
kill -TERM "$pid"
ended_with 143
start -v -n 2 "$client" claim 1 $$
until_true 30 there 2 || fail "the clients do not start"
pe=$(cut -d' ' -f3 "/proc/$pid/task/$pid/children")
kill -USR1 "$pid"
until_true 20 grep -q "^oshrun:  *1 [^ ]*  *$pe  S" "$work/err" || fail "PE 1 is not $pe"
kill -TERM "$pid"
ended_with 143
# shellcheck disable=SC2016
start -v -n 2 sh -c 'setsid -w "$0" claim 1 0; :' "$client"
until_true 30 there 2 || fail "the clients do not start"
pe=$(cut -d' ' -f3 "/proc/$pid/task/$pid/children")
pe=$(cut -d' ' -f1 "/proc/$pe/task/$pe/children")
kill -USR1 "$pid"
until_true 20 grep -q "^oshrun:  *1 [^ ]*  *$pe  S" "$work/err" || fail "PE 1 is not $pe"
kill -TERM "$pid"
ended_with 143
check_nothing_left "PEs in sessions of their own"

start_hanging 3
state() {
    [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" = "$2" ]
}
pe=$(cut -d' ' -f2 "/proc/$pid/task/$pid/children")
kill -TSTP "$pid"
until_true 30 state "$pid" T || fail "SIGTSTP does not stop oshrun"
until_true 30 state "$pe" T || fail "SIGTSTP does not stop PEs"
kill -CONT "$pid"
until_true 30 state "$pe" S || fail "SIGCONT does not continue PEs"
# A SIGCONT that arrives while oshrun is about to stop takes effect too.
for delay in 0 0.005 0.01 0.015 0.02 0.025; do
    kill -TSTP "$pid"
    sleep $delay
    kill -CONT "$pid"
    sleep 0.05
    until_true 30 state "$pid" S && until_true 30 state "$pe" S || {
        fail "SIGCONT $delay s after SIGTSTP: oshrun or a PE remains stopped"
        kill -CONT "$pid"
    }
done
kill -TERM "$pid"
ended_with 143

run 124 -v --timeout 5 -n 3 "$client" hang
says 'has not ended after 5 s'
says '    2 [^ ]*  *[0-9]* *S '
if command -v gdb >/dev/null; then
    says 'stack of PE 0-2:'
    says ' main '
else
    says 'no stacks: neither gdb nor eu-stack'
fi
run 0 --timeout 60 -n 2 true

# A PE under gdb has the terminal, and oshrun has it again afterwards.
if command -v gdb >/dev/null && command -v script >/dev/null; then
    { printf 'run\nquit\n' && sleep 2; } |
        timeout -s KILL 60 env "$mark" TMPDIR="$work/tmp" script -qec \
            "$OSHRUN -n 2 --gdb=1 $client good && stty -a" /dev/null >"$work/out" || true
    prints 'PE 1 is there'
    prints 'Inferior 1'
    prints 'speed'
else
    echo "not tested: --gdb (needs gdb and script)"
fi
finish
