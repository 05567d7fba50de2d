#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# table.sh - every launcher (row) times every function of a launcher (column), on three
# hosts.  After each cell nothing may be left on any host.  Prints the table.
# The short form tries each row with its start and some columns, each column in several rows.
# TABLE_ROWS, TABLE_COLUMNS: all cells of these only.
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
. "$top_srcdir/tests/launcher/hosts/columns.sh"
rows=${TABLE_ROWS:-'oshrun vnodes agent ssh slurm srun mpirun'}
# The plain build tests the others.
[ -z "${SANITIZED:-}" ] || rows=${TABLE_ROWS:-'oshrun vnodes agent'}
[ -z "${DISTCHECK:-}" ] || rows=agent

hosts_up 3

# The columns of the short form; the tests in tests/launcher/cli cover all cells on one node
# and on virtual nodes.
columns_of_row() {
    [ -z "${PGAS_TEST_LONG:-}${TABLE_ROWS:-}${TABLE_COLUMNS:-}" ] || {
        echo "$columns"
        return
    }
    case $row in
    agent) echo 'start exit output usr1' ;;
    ssh) echo 'start abort input ctrl_c' ;;
    slurm) echo 'start signal usr1 ctrl_c' ;;
    srun) echo 'start exit input' ;;
    mpirun) echo 'start abort output' ;;
    *) echo start ;;
    esac
}

# -- rows ------------------------------------------------------------------------------
# begin_row: sets number and names of the nodes; prints why the row is impossible, if it is.
begin_row() {
    nodes=3
    node_name=n
    foreign=
    case $row in
    oshrun) nodes=1 ;;
    vnodes) nodes=4 node_name=vn ;;
    ssh) "$top_srcdir/tests/launcher/hosts/sshd" possible 2>&1 || return 1 ;;
    slurm) "$top_srcdir/tests/launcher/hosts/slurm" possible 2>&1 || return 1 ;;
    srun)
        foreign=srun
        "$top_srcdir/tests/launcher/hosts/slurm" possible 2>&1 || return 1
        ;;
    mpirun)
        foreign=mpirun
        mpirun --version 2>/dev/null | grep -q 'Open MPI' || {
            echo "no mpirun of Open MPI is here (Debian: openmpi-bin)"
            return 1
        }
        ;;
    esac
}

# Starts the services that the row needs on the hosts, once.
serve_row() {
    case $row in
    ssh) "$top_srcdir/tests/launcher/hosts/sshd" up ;;
    slurm | srun)
        [ -d "$HOSTS_STATE/slurm" ] || "$top_srcdir/tests/launcher/hosts/slurm" up
        ;;
    esac
}

# launcher PROGRAM ARGS...: executes the launcher of this row.
launcher() {
    list=n0:$per_node,n1:$per_node,n2:$per_node
    case $row in
    oshrun) on n0 "$OSHRUN" -n "$npes" "$@" ;;
    vnodes) on n0 "$OSHRUN" --vnodes "$nodes" -n "$npes" "$@" ;;
    agent) on n0 "$OSHRUN" --host $list --launch-agent "$hosts agent" -n "$npes" "$@" ;;
    ssh) on n0 env "PATH=$ssh_path:$PATH" "$OSHRUN" --host $list -n "$npes" "$@" ;;
    slurm) on n0 salloc -Q -N "$nodes" --ntasks-per-node=$per_node "$OSHRUN" "$@" ;;
    srun)
        on n0 srun --input=0 -N "$nodes" --ntasks-per-node=$per_node --mpi=pmix "$@"
        ;;
    mpirun)
        on n0 mpirun --mca plm_rsh_agent "$hosts agent" --mca oob_tcp_if_include eth0 \
            --host $list -n "$npes" "$@"
        ;;
    esac
}

# Within an allocation, the child of salloc.
target() {
    case $row in
    slurm)
        for p in $("$hosts" pids n0); do
            ! grep -qxF -e "PPid:	$pid" "/proc/$p/status" 2>/dev/null || echo "$p"
        done
        ;;
    *) echo "$pid" ;;
    esac
}

pids_on() {
    case $row in
    vnodes) "$hosts" pids n0 ;;
    *) "$hosts" pids "$1" ;;
    esac
}

check_departed() {
    seconds=$2
    [ -z "$foreign" ] || seconds=$((seconds + 6))
    check_hosts "$1" "$seconds"
}

table_begin
for row in $rows; do
    table_row
    if reason=$(begin_row); then
        begin_row
        serve_row
        # shellcheck disable=SC2046 # words
        run_row $(columns_of_row)
    else
        column='all columns'
        cell "n/a: $reason"
    fi
done
table_end
finish
