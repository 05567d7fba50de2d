# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shmem-lib.sh - programs over three hosts, by each of three launchers.  Sourced after
# lib.sh, not run.
per_node=2
npes=$((3 * per_node))
skipped=0
patience_s=10 # for what other launchers leave behind for a while
# shellcheck disable=SC2034 # for those who source this
long=${PGAS_TEST_LONG:-} brief=${SANITIZED:-}${DISTCHECK:-}
[ -z "$brief" ] || {
    echo "skipped: the plain build has run it"
    exit 77
}
SHMEM_LAUNCH_TIMEOUT=${SHMEM_LAUNCH_TIMEOUT:-20} # of daemons on a busy machine
export SHMEM_LAUNCH_TIMEOUT

# why_not LAUNCHER: prints why it cannot be used here, or nothing.
why_not() {
    case $1 in
    mpirun)
        mpirun --version 2>/dev/null | grep -q 'Open MPI' ||
            echo 'no mpirun of Open MPI is here (Debian: openmpi-bin)'
        ;;
    srun) "$top_srcdir/tests/launcher/hosts/slurm" possible 2>&1 || : ;;
    esac
}

# serve LAUNCHER: starts the services that it needs on the hosts.
serve() {
    [ "$1" != srun ] || [ -d "$HOSTS_STATE/slurm" ] ||
        "$top_srcdir/tests/launcher/hosts/slurm" up
}

# launch LAUNCHER PES PROGRAM ARGS...: executes the launcher on n0, with blocks of $per_node
# PEs per host.  mpirun and srun export the whole environment.
launch() {
    launcher=$1 pes=$2
    shift 2
    list=n0:$per_node,n1:$per_node,n2:$per_node
    case $launcher in
    oshrun)
        on n0 "$OSHRUN" --timeout ${limit_s:-60} --host $list \
            --launch-agent "$hosts agent" -n "$pes" "$@"
        ;;
    mpirun)
        passed=$(env | sed -n 's/^\(\(SHMEM\|CHECK\|CONFORM\)_[A-Z_]*\)=.*/-x \1/p')
        # shellcheck disable=SC2086 # words
        # Left alone, mpirun waits for minutes for a host that is cut off.
        on n0 mpirun --mca plm_rsh_agent "$hosts agent" --mca oob_tcp_if_include eth0 \
            --mca oob_tcp_keepalive_time 6 --mca oob_tcp_keepalive_intvl 1 \
            --mca oob_tcp_keepalive_probes 2 --host $list $passed -n "$pes" "$@"
        ;;
    srun)
        on n0 srun -K --input=0 -N $(((pes + per_node - 1) / per_node)) -n "$pes" \
            -m block --ntasks-per-node=$per_node --mpi=pmix "$@"
        ;;
    esac
}

# for_each 'LAUNCHER..' FUNCTION: calls FUNCTION for each usable launcher, in $launcher.
for_each() {
    for launcher in $1; do
        reason=$(why_not "$launcher")
        if [ -n "$reason" ]; then
            echo "skipped in part: $reason"
            skipped=$((skipped + 1))
        else
            serve "$launcher"
            "$2"
        fi
    done
}

# end: exits with the status of the test.
end() {
    finish || exit 1
    [ "$skipped" = 0 ] || exit 77
}
