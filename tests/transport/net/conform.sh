# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# conform.sh - the API conformance programs on 2 and on 4 virtual nodes of 2 PEs each.
# Sourced by conform_ofi.sh, conform_tcp.sh and conform_ucx.sh, which select the transport.
# CONFORM_NODES: numbers of nodes; CONFORM_ONLY, CONFORM_DEBUG: see
# tests/api/conform/conform.sh.
# Without PGAS_TEST_LONG: only 2 nodes, no SHMEM_DEBUG=2, and only the programs that use the
# transport (fewer over ucx and tcp; two in sanitizer builds and distcheck).  tests/coll tests the
# collectives over several nodes.
. "$top_srcdir/tests/transport/net/lib.sh"
nodes=${CONFORM_NODES:-'2 4'}
few='teams coll_sync'
over_ofi='rma strided amo signal wait_sets lock contexts'
over_ucx='rma signal lock wait_sets'

# suite NODES VARIABLE=VALUE...
suite() {
    k=$1
    shift
    echo "-- $SHMEM_TRANSPORT, $k nodes of 2 PEs each"
    env PES_VNODES="$k" PES_SIZES=$((2 * k)) "$@" \
        sh "$top_srcdir/tests/api/conform/conform.sh" || fail "$SHMEM_TRANSPORT, $k nodes"
}

all_suites() {
    for k in $nodes; do
        case ${CONFORM_ONLY:+chosen}${long:+long}:${brief:+brief}:$SHMEM_TRANSPORT:$k in
        chosen* | long*) suite "$k" ;;
        :brief:*:2) suite "$k" CONFORM_DEBUG=0 CONFORM_ONLY="$few" ;;
        :brief:* | ::*:4) ;;
        ::ofi:2) suite "$k" CONFORM_DEBUG=0 CONFORM_ONLY="$over_ofi" ;;
        *) suite "$k" CONFORM_DEBUG=0 CONFORM_ONLY="$over_ucx" ;;
        esac
    done
}
