# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# lib.sh - what the tests on several hosts share.  Sourced, not run.
#
# All jobs are started on host n0.  What they leave is found by the hosts on which it is,
# not by the mark that tests of oshrun on one machine use: it need not be inherited.

. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
hosts=$top_srcdir/tests/launcher/hosts/hosts
boot_map=$top_builddir/tests/api/multi/boot_map.pes
HOSTS_STATE=$work/hosts
HOSTS_OWNER=$$
export HOSTS_STATE HOSTS_OWNER
unset SLURM_CONF SLURM_JOB_ID SLURM_JOB_NODELIST
# shellcheck disable=SC2034 # for those who source this
ssh_path=$HOSTS_STATE/ssh/bin
slurm_conf=$HOSTS_STATE/slurm/slurm.conf

hosts_down() {
    "$hosts" down || failures=$((failures + 1))
    rm -rf "$work"
}

# hosts_up N: makes them, or ends the test as skipped.
hosts_up() {
    reason=$("$hosts" possible 2>&1) || {
        echo "skipped: ${reason#hosts: }"
        exit 77
    }
    trap hosts_down EXIT
    "$hosts" up "$1"
}

# on NODE COMMAND...: becomes it there; $guard: a command that runs it.
guard=
on() {
    node=$1
    shift
    # shellcheck disable=SC2086 # words
    exec $guard env "$mark" TMPDIR=/tmp SLURM_CONF="$slurm_conf" \
        "$hosts" exec "$node" "$@"
}

# gone PID: it has ended, though nobody may have waited for it yet.
gone() {
    [ ! -e "/proc/$1/root" ]
}

# await SECONDS: the status of $pid to $got; after that long it is killed.
await() {
    until_true "$1" gone "$pid" || kill -KILL "$pid"
    got=0
    wait "$pid" 2>/dev/null || got=$?
}

clean() {
    [ -z "$("$hosts" left)" ]
}

# until_true SECONDS COMMAND...: as in oshrun-lib.sh, but for commands that take a while.
until_true() {
    deadline=$(($(now_ms) + $1 * 1000))
    shift
    until "$@"; do
        [ "$(now_ms)" -lt $deadline ] || return 1
        sleep 0.02
    done
}

# What is left there, without a slurmstepd that has no processes any more.  Now and then one
# hangs for ever when its PEs were ended: PMIx_server_finalize waits for a lock of libpmix
# that nobody has (Slurm 22.05, PMIx 4.2).
left_of_ours() {
    "$hosts" left | grep -v -e ': process [0-9]*: slurmstepd: \[' -e ': /tmp/spmix_appdir_'
}

# check_hosts WHAT [SECONDS]: there is nothing on them.  If not so, it is removed.
check_hosts() {
    until_true "${2:-10}" clean && return 0
    left_of_ours >/dev/null || {
        echo "$1: removed a slurmstepd that hung"
        "$hosts" wipe
        return 0
    }
    fail "$1: left behind:"
    "$hosts" left | cut -c 1-100 | sed 's/^/    /; 20q'
    "$hosts" wipe
    return 1
}

# The end of what the launcher said, for a reader.
show() {
    for file in "$work/out" "$work/err"; do
        tail -n 8 "$file" | cut -c 1-300 | sed 's/^/    /'
    done
}
