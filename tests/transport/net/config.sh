#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# config.sh - jobs over nodes that are configured wrong, or each PE in another way: one
# sentence says what is wrong.
# shellcheck disable=SC2016 # for the PEs
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
ring=$top_builddir/examples/ring
bugs=$top_builddir/tests/bugs

# wrong SENTENCE VNODES COMMAND...: the job of 4 PEs fails, and all that PEs say is this.
wrong() {
    sentence=$1 vnodes=$2
    shift 2
    job 1 "$vnodes" 4 "$@"
    grep '^pgas: ' "$work/err" | sed 's/^pgas: PE [0-3]: //' >"$work/said" || :
    if ! grep -q -e "$sentence" "$work/said" || grep -qv -e "$sentence" "$work/said"; then
        fail "$*: expected '$sentence'"
        sed 's/^/    /' "$work/err"
    fi
    [ ! -s "$work/out" ] || fail "$*: the PEs went on"
}

# all VARIABLE=VALUE.. SENTENCE: so set for all PEs.
all() {
    variables=
    while [ $# -gt 1 ]; do
        variables="$variables $1"
        shift
    done
    # shellcheck disable=SC2086 # a list
    wrong "$1" 2 env $variables "$ring" 5
}

# odd VARIABLE=VALUE SENTENCE: so set for one PE alone, the first or another one.
odd() {
    for odd_pe in 2:3 4:0; do
        wrong "$2" ${odd_pe%:*} sh -c \
            '[ "$PMIX_RANK" != "$1" ] || export "${2?}"; exec "$0"' \
            "$ring" ${odd_pe#*:} "$1"
    done
}

for words in nonsense ofi,nonsense ofi,^ucx '^ofi,ucx' ofix ^; do
    all SHMEM_TRANSPORT="$words" "SHMEM_TRANSPORT=.* is not a transport; use auto"
done
none='no network transport is usable'
all SHMEM_TRANSPORT=^ofi,^ucx \
    "$none (ofi: excluded by SHMEM_TRANSPORT; ucx: excluded by SHMEM_TRANSPORT)"
all SHMEM_OFI_ORDER=nonsense "SHMEM_OFI_ORDER=nonsense: must be auto, yes or no"
all SHMEM_FAULTS=nonsense "SHMEM_FAULTS has 'nonsense', but its words are"

of_ofi() {
    all SHMEM_OFI_PROVIDER=nonsense "$none (ofi: .*nonsense"
    all SHMEM_OFI_DOMAIN=nonsense "$none (ofi: .*nonsense"
    odd SHMEM_SYMMETRIC_SIZE=64M \
        'the symmetric heap has [0-9]* bytes here and [0-9]* on PE [0-3]; set SHMEM'
    # Globals of two executables are not symmetric, and the questions about that are
    # answered as on one node.
    job 0 2 2 sh -c 'case $PMIX_RANK in 0) exec "$0" ;; *) exec "$1" ;; esac' \
        "$bugs/other_a" "$bugs/other_b"
}

of_both() {
    odd SHMEM_TRANSPORT=ucx 'PE [0-3] uses the network transport .* and PE [0-3] '
}

for_each "ofi" of_ofi
[ $skipped != 0 ] || ! usable ucx || SHMEM_TRANSPORT=ofi of_both
end
