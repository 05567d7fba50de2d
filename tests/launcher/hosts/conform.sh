#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# conform.sh - the conformance suite over three hosts of two PEs each, under oshrun, mpirun
# and srun.  After each program nothing may be left on any host.
# CONFORM_LAUNCHERS, CONFORM_TRANSPORTS, CONFORM_ONLY: only these.
# The short form runs a few programs under each launcher, over the default transport; the
# long form runs all programs over each transport.  `life` runs under oshrun only: it ends by
# shmem_global_exit(0), for which srun exits with 137, and it initializes the library again,
# in which mpirun sometimes hangs on several hosts (docs/LAUNCHERS.md).
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
. "$top_srcdir/tests/launcher/hosts/shmem-lib.sh"
launchers=${CONFORM_LAUNCHERS:-oshrun mpirun srun} transports=auto
programs='life rma coll_sync'
[ -z "$long" ] || programs= transports='ofi ucx'
[ -z "$brief" ] || programs=life launchers=${CONFORM_LAUNCHERS:-oshrun}
limit_s=60
[ -z "$long" ] || limit_s=180

hosts_up 3

# The command that run-pes executes as oshrun: --timeout S -n PES PROGRAM
mkdir "$HOSTS_STATE/bin"
cat >"$HOSTS_STATE/bin/launch" <<'END'
shift 2
guard="timeout -s KILL $limit_s"
launch "$launcher" "$2" "$3"
END
runner=$HOSTS_STATE/bin/oshrun
{
    echo '#!/bin/sh'
    echo "mark='$mark' hosts='$hosts' HOSTS_STATE='$HOSTS_STATE' OSHRUN='$OSHRUN'"
    echo "top_srcdir='$top_srcdir' slurm_conf='$slurm_conf' limit_s=$limit_s"
    echo 'export HOSTS_STATE OSHRUN top_srcdir limit_s; launcher=$CONFORM_LAUNCHER'
    sed -n '/^on() {/,/^}/p' "$top_srcdir/tests/launcher/hosts/lib.sh"
    echo ". '$top_srcdir/tests/launcher/hosts/shmem-lib.sh'"
    cat "$HOSTS_STATE/bin/launch"
} >"$runner"
chmod +x "$runner"

all='memory rma strided amo signal wait wait_sets lock teams contexts coll_sync coll_move
coll_reduce aset old generics'

suite() {
    only=$programs
    if [ "$launcher" != oshrun ]; then
        only=$(printf '%s ' ${programs:-$all} | sed 's/\<life\>//')
        echo "skipped in part: life.c does not run under $launcher (see the header of this test)"
    fi
    for transport in ${CONFORM_TRANSPORTS:-$transports}; do
        echo "-- $launcher, $transport, 3 hosts of $per_node PEs each"
        begin=$(now_ms)
        env ${only:+CONFORM_ONLY="$only"} OSHRUN="$runner" PES_SIZES=$npes \
            PES_TIMEOUT=$limit_s CONFORM_DEBUG=0 CONFORM_LAUNCHER="$launcher" \
            SHMEM_TRANSPORT="$transport" sh "$top_srcdir/tests/api/conform/conform.sh" ||
            fail "$launcher, $transport"
        check_hosts "$launcher, $transport" || :
        echo "-- $(($(now_ms) - begin)) ms"
    done
}

programs=${CONFORM_ONLY:-$programs}
for_each "$launchers" suite
end
