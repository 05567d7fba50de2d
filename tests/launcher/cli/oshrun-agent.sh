#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun --launch-agent: agents that start their daemons here, and agents that fail.
# shellcheck disable=SC2016  # agents expand what is in single quotes
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=30
two=far1:2,far2:2

# agent TEXT: writes the script $work/agent.
agent() {
    printf '#!/bin/sh\n%s\n' "$1" >"$work/agent"
    chmod +x "$work/agent"
}

# Joins its arguments and passes them to a shell, as ssh does.
as_ssh='host=$1; shift; exec sh -c "$*"'

agent "$as_ssh"
run 0 --launch-agent "$work/agent" -H $two -n 4 "$client"
[ "$(sort "$work/out" | tr '\n' ,)" = \
    "PE 0 is there,PE 1 is there,PE 2 is there,PE 3 is there," ] ||
    fail "four PEs print: $(cat "$work/out")"
[ ! -s "$work/err" ] || fail "standard error is not empty: $(cat "$work/err")"
check_nothing_left "after a job"
run 7 --launch-agent "$work/agent" -H $two -n 4 "$client" exit 3 7
says 'PE 3 (pid [0-9]*) exited with status 7; ending 3 other PEs'

# Templates, and a daemon whose path two shells must not split.
ln -s "$OSHRUN" "$work/it's an \$oshrun"
SHMEM_LAUNCH_DAEMON=$work/it\'s\ an\ \$oshrun
export SHMEM_LAUNCH_DAEMON
run 0 --launch-agent "$work/agent" -H $two -n 2 -N 1 "$client"
run 0 --launch-agent "sh -c %c" -H $two -n 2 -N 1 "$client"
run 0 --launch-agent "true && sh -c '%c'" -H $two -n 2 -N 1 "$client"
SHMEM_LAUNCH_AGENT="$work/agent \"%h\" %c" run 0 -H $two -n 2 -N 1 "$client"
run 1 --launch-agent "sh %x" -H $two -n 2 "$client"
says "the launch agent 'sh %x' has '%x': only %h (the host)"
SHMEM_LAUNCH_DAEMON=/nonexistent/oshrun run 1 --launch-agent "$work/agent" -H $two "$client"
says 'far[12]: cannot start the node daemon: /nonexistent/oshrun is not there (status 127:'
unset SHMEM_LAUNCH_DAEMON

run 1 --launch-agent no-such-agent -H $two -n 2 "$client"
says "cannot run the launch agent 'no-such-agent': No such file or directory"
agent 'echo "far away: No route to host" >&2; exit 255'
run 1 --launch-agent "$work/agent" -H $two -n 2 "$client"
says 'far[12]: .*agent ended with status 255: far away: No route to host'
check_nothing_left "agents that fail"

# The other host has another version of oshrun.
agent "sed -u '1s/^\(oshrun [0-9]*\) [^ ]*/\1 9.9.9/' | { $as_ssh; }"
run 1 --launch-agent "$work/agent" -H $two -n 2 "$client"
says 'far[12]: cannot start the node daemon: .*this oshrun has version .*9\.9\.9'
[ "$(wc -l <"$work/err")" = 1 ] || fail "another version: $(cat "$work/err")"
check_nothing_left "another version"

# Output of the agent before the daemon starts is ignored, whatever its length.
agent "yes 'welcome to this host' | head -n 100000; $as_ssh"
run 0 --launch-agent "$work/agent" -H $two -n 2 -N 1 "$client"

# A daemon that has started must connect within a shorter time limit than that of its start.
agent "[ \$1 = far1 ] || { echo 'node daemon is up: 1 far2'; exec sleep 60; }; $as_ssh"
begin=$(now_ms)
SHMEM_LAUNCH_TIMEOUT=3 run 1 --launch-agent "$work/agent" -H $two -n 2 -N 1 "$client"
took=$(($(now_ms) - begin))
[ $took -le 20000 ] || fail "a daemon that does not connect: took $took ms"
says 'far2: its node daemon has not connected within 4.0 s'
check_nothing_left "a daemon that does not connect"

# An agent that never ends.
agent "trap '' TERM; sleep 60 & [ \$1 = far2 ] || { $as_ssh; }; while :; do wait; done"
begin=$(now_ms)
SHMEM_LAUNCH_START_TIMEOUT=5 run 1 --launch-agent "$work/agent" -H $two -n 2 -N 1 "$client"
took=$(($(now_ms) - begin))
[ $took -le 25000 ] || fail "an agent that never ends: took $took ms"
says 'far2: its node daemon has not connected within 5.0 s'
finish
