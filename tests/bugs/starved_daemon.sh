#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# starved_daemon.sh - a node daemon that gets no processor time for longer than the timeout
# for an unreachable host must not be declared dead.  A killed one is detected immediately.
# SIGSTOP simulates starvation.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
stopped_s=4 # longer than LINK_HOST_MS

pes_are_up() { [ "$(grep -c 'is up' "$work/out")" = 2 ]; }
daemon() { pgrep -P "$pid" -f node-daemon | head -n 1; }

start_job() {
    rm -f "$work/go"
    start --vnodes 2 -n 2 sh -c 'echo "$PMIX_RANK is up"; until [ -e "$0" ]; do sleep 0.05; done' "$work/go"
    until_true 20 pes_are_up || fail "the job did not start"
}

start_job
stopped=$(daemon)
kill -STOP "$stopped"
sleep $stopped_s
kill -CONT "$stopped" || fail "the stopped daemon was ended: $(cat "$work/err")"
: >"$work/go"
ended_with 0

start_job
began=$(now_ms)
kill -KILL "$(daemon)"
ended_with 1
took=$(($(now_ms) - began))
[ "$took" -le 2900 ] || fail "a killed daemon was detected only after $took ms"
says 'the node daemon on vn[01] closed the connection'
finish
