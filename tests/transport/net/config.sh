#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# config.sh - jobs over several nodes with invalid settings, or settings that differ between
# PEs, fail with a single message that names the problem.
# shellcheck disable=SC2016 # for the PEs
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
ring=$top_builddir/examples/ring
bugs=$top_builddir/tests/bugs

# wrong MESSAGE VNODES COMMAND...: the job of 4 PEs fails, and the PEs print only MESSAGE.
wrong() {
    message=$1 vnodes=$2
    shift 2
    job 1 "$vnodes" 4 "$@"
    grep '^pgas: ' "$work/err" | sed 's/^pgas: PE [0-3,-]*: //' >"$work/messages" || :
    if ! grep -q -e "$message" "$work/messages" || grep -qv -e "$message" "$work/messages"; then
        fail "$*: expected '$message'"
        sed 's/^/    /' "$work/err"
    fi
    [ ! -s "$work/out" ] || fail "$*: the PEs continued"
}

# all_pes VARIABLE=VALUE.. MESSAGE: the variables are set for all PEs.
all_pes() {
    variables=
    while [ $# -gt 1 ]; do
        variables="$variables $1"
        shift
    done
    # shellcheck disable=SC2086 # a list
    wrong "$1" 2 env $variables "$ring" 5
}

# one_pe VARIABLE=VALUE MESSAGE: the variable is set for a single PE, first 3, then 0.
one_pe() {
    for odd_pe in 2:3 4:0; do
        wrong "$2" ${odd_pe%:*} sh -c \
            '[ "$PMIX_RANK" != "$1" ] || export "${2?}"; exec "$0"' \
            "$ring" ${odd_pe#*:} "$1"
    done
}

for words in nonsense ofi,nonsense ofi,^ucx '^ofi,ucx' ofix ^; do
    all_pes SHMEM_TRANSPORT="$words" "SHMEM_TRANSPORT=.* is not a transport; use auto"
done
none='no network transport is usable'
out='excluded by SHMEM_TRANSPORT'
all_pes SHMEM_TRANSPORT=^ofi,^ucx,^tcp "$none (\(tcp: $out; \)\?ofi: $out; ucx: $out[;)]"
all_pes SHMEM_TCP_IF=nonsense "SHMEM_TCP_IF=nonsense: cannot be used (.*no such interface"
all_pes SHMEM_OFI_ORDER=nonsense "SHMEM_OFI_ORDER=nonsense: must be auto, yes or no"
all_pes SHMEM_FAULTS=nonsense "SHMEM_FAULTS: 'nonsense' is unknown; use seed="

of_ofi() {
    all_pes SHMEM_OFI_PROVIDER=nonsense "$none (ofi: .*nonsense"
    all_pes SHMEM_OFI_DOMAIN=nonsense "$none (ofi: .*nonsense"
    one_pe SHMEM_SYMMETRIC_SIZE=64M \
        'the symmetric heap has [0-9]* bytes here and [0-9]* on PE [0-3]; set SHMEM'
    # Globals of two different executables are not symmetric; shmem_addr_accessible and
    # shmem_ptr report that as on one node.
    job 0 2 2 sh -c 'case $PMIX_RANK in 0) exec "$0" ;; *) exec "$1" ;; esac' \
        "$bugs/other_a" "$bugs/other_b"
}

of_both() {
    one_pe SHMEM_TRANSPORT=ucx 'PE [0-3] uses the network transport .* and PE [0-3] '
}

# coalesced SIZE PATTERN UPDATES: operations for each system call with SHMEM_COALESCE=SIZE.
coalesced() {
    job 0 2 2 env SHMEM_TRANSPORT=tcp SHMEM_DEBUG=1 SHMEM_COALESCE="$1" \
        "$top_builddir/examples/gups" "$3"
    grep -q "tcp: [0-9]* operations sent by [0-9]* system calls ($2 each)" "$work/err" ||
        fail "SHMEM_COALESCE=$1: not $2 operations for each system call"
}
# A target that does not run lets them be sent together, too.
coalesced 0 '[1-9]\.[0-9]' 2000
coalesced 16k '[0-9]*[0-9][0-9]\.[0-9]' 20000

for_each "ofi" of_ofi
[ $skipped != 0 ] || ! usable ucx || SHMEM_TRANSPORT=ofi of_both
end
