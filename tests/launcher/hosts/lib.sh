# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# lib.sh - functions of the tests on several hosts.  Sourced, not run.
#
# All jobs are started on host n0.  Leftovers are identified by their host, not by the mark
# that tests of oshrun on one machine use: other launchers need not pass it on.

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

# hosts_up N: creates N hosts, or skips the test.
hosts_up() {
    reason=$("$hosts" possible 2>&1) || {
        echo "skipped: ${reason#hosts: }"
        exit 77
    }
    trap hosts_down EXIT
    "$hosts" up "$1"
}

# on NODE COMMAND...: executes COMMAND there, under the command $guard if set.
guard=
on() {
    node=$1
    shift
    # shellcheck disable=SC2086 # words
    exec $guard env "$mark" TMPDIR=/tmp SLURM_CONF="$slurm_conf" \
        "$hosts" exec "$node" "$@"
}

# gone PID: true if the process has ended; it may be a zombie.
gone() {
    [ ! -e "/proc/$1/root" ]
}

# await SECONDS: sets $got to the exit status of $pid, which is killed after SECONDS.
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

# Prints leftovers except a slurmstepd without processes.  Some hang forever after their PEs
# were killed: PMIx_server_finalize waits for a lock of libpmix that no thread holds (Slurm
# 22.05, PMIx 4.2).
left_of_ours() {
    "$hosts" left | grep -v -e ': process [0-9]*: slurmstepd: \[' -e ': /tmp/spmix_appdir_'
}

# check_hosts WHAT [SECONDS]: fails if anything is left on the hosts, and removes it.
check_hosts() {
    until_true "${2:-30}" clean && return 0
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

# Prints the last messages of the launcher.
show() {
    for file in "$work/out" "$work/err"; do
        tail -n 8 "$file" | cut -c 1-300 | sed 's/^/    /'
    done
}
