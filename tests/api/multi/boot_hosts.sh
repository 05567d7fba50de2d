#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# boot_hosts.sh - like boot_vnodes.sh, but Open MPI's mpirun and Slurm's srun start the PEs
# on several hosts.  tests/launcher/hosts/table.sh tests how jobs end.
# `boot_map again` is not run under mpirun: after PEs have reconnected, in one of ten runs
# its fences no longer wait for PE 0, which we cannot work around.
# shellcheck disable=SC2016 # $PMIX_RANK is for the PEs
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
. "$top_srcdir/tests/api/multi/boot_lib.sh"
limit_s=40
patience_s=30 # other launchers remove their processes and files with a delay
refused_ms=9000
late_s=3 # longer than the default timeout of PMIx servers
skipped=0

skip() {
    echo "skipped in part: $1"
    skipped=$((skipped + 1))
}

# job STATUS COMMAND...: run COMMAND on n0; it must end with STATUS.
job() {
    want=$1
    shift
    got=0
    steady_begin
    (guard="timeout -s KILL $limit_s" && on n0 "$@") \
        </dev/null >"$work/out" 2>"$work/err" || got=$?
    steady_took
    [ "$got" = "$want" ] || {
        fail "$*: status $got, expected $want"
        show
    }
    check_hosts "$*" $patience_s
}

check_refused() {
    refused "$1" "$2" "$3"
    steady_judge $refused_ms "$1: the end of a job that cannot run"
}

late_start='[ "$PMIX_RANK" -ne 0 ] || sleep "$1"; exec "$0"'

under_mpirun() {
    mpirun='mpirun --mca oob_tcp_if_include eth0'
    uneven=n0:3,n1:1,n2:2
    # shellcheck disable=SC2086 # words
    set -- $mpirun --mca plm_rsh_agent "$hosts agent" --host $uneven
    job 0 "$@" -n 6 "$boot_map"
    same_map 'mpirun, blocks' 6 'n0 0,1,2 0/1/3' 'n1 3 3/1/1' 'n2 4,5 4/1/2'
    job 0 "$@" -n 6 --map-by node "$boot_map"
    same_map 'mpirun, round-robin' 6 'n0 0,3,5 0+3+5/3' 'n1 1 1/1/1' 'n2 2,4 2/2/2'
    job 0 "$@" -n 2 "$boot_map"
    same_map 'mpirun, hosts without PEs' 2 'n0 0,1 0/1/2'
    job 0 "$@" -n 6 sh -c "$late_start" "$boot_map" $late_s
    same_map 'mpirun, a late PE' 6 'n0 0,1,2 0/1/3' 'n1 3 3/1/1' 'n2 4,5 4/1/2'
    job 0 "$@" -n 3 "$hello"
    job 0 "$@" -n 6 "$hello"
    together mpirun 6
    job 1 "$@" -x SHMEM_TRANSPORT=^ofi,^ucx,^tcp -n 6 "$hello"
    check_refused mpirun 6 'n0: 3, n1: 1, n2: 2'
    ! grep -q 'non-zero' "$work/err" || { # other warnings of mpirun are allowed
        fail "mpirun reports the exit status of a job that cannot run"
        show
    }
}

# Without --mpi=pmix each process is a job of one PE and must print a warning.
check_alone() {
    job 0 srun -N 2 -n 2 --mpi="$1" "$hello"
    n=$(grep -c "^pgas: $2=2 indicates more processes" "$work/err" || :)
    [ "$n" -eq 2 ] || {
        fail "srun --mpi=$1: $n PEs warn that they run alone, expected 2"
        show
    }
}

under_srun() {
    # -K: otherwise a step continues after the only PE of a node has failed.
    set -- srun -K --mpi=pmix
    job 0 "$@" -N 3 --ntasks-per-node=2 "$boot_map"
    same_map 'srun, blocks' 6 'n0 0,1 0/1/2' 'n1 2,3 2/1/2' 'n2 4,5 4/1/2'
    job 0 "$@" -N 3 --ntasks-per-node=2 -m cyclic "$boot_map" again
    same_map 'srun, round-robin' 6 'n0 0,3 0/3/2' 'n1 1,4 1/3/2' 'n2 2,5 2/3/2'
    job 0 "$@" -N 1 -n 3 "$boot_map"
    same_map 'srun, one node' 3 'n0 0,1,2 0/1/3'
    job 0 "$@" -N 2 --ntasks-per-node=2 sh -c "$late_start" "$boot_map" $late_s
    same_map 'srun, a late PE' 4 'n0 0,1 0/1/2' 'n1 2,3 2/1/2'
    job 0 "$@" -N 1 -n 3 "$hello"
    job 0 "$@" -N 3 --ntasks-per-node=2 "$hello"
    together srun 6
    job 1 "$@" -N 3 --ntasks-per-node=2 env SHMEM_TRANSPORT=^ofi,^ucx,^tcp "$hello"
    check_refused srun 6 'n0: 2, n1: 2, n2: 2'
    check_alone none SLURM_STEP_NUM_TASKS
    check_alone pmi2 PMI_SIZE
}

hosts_up 3
if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    under_mpirun
else
    skip 'no mpirun of Open MPI is here (Debian: openmpi-bin)'
fi
if reason=$("$top_srcdir/tests/launcher/hosts/slurm" possible 2>&1); then
    "$top_srcdir/tests/launcher/hosts/slurm" up
    under_srun
else
    skip "$reason"
fi
finish
[ $skipped -eq 0 ] || exit 77
