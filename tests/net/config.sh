#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# config.sh - jobs over nodes that are configured wrong, or each PE in another way: one
# sentence says what is wrong; and what is right though it looks odd.
# shellcheck disable=SC2016 # for the PEs
set -eu
. "$top_srcdir/tests/net/lib.sh"
ring=$top_builddir/examples/ring

# wrong SENTENCE COMMAND...: the job of 2 x 2 PEs fails, and all that they say is this.
wrong() {
    sentence=$1
    shift
    job 1 2 4 "$@"
    grep '^pgas: ' "$work/err" | sed 's/^pgas: PE [0-3]: //' >"$work/said" || :
    grep -q -e "$sentence" "$work/said" && ! grep -qv -e "$sentence" "$work/said" || {
        fail "$*: expected '$sentence'"
        sed 's/^/    /' "$work/err"
    }
    [ ! -s "$work/out" ] || fail "$*: the PEs went on"
}

# with VARIABLE=VALUE SENTENCE: so set for all PEs.
with() {
    wrong "$2" env "$1" "$ring" 5
}

# differing VARIABLE=VALUE SENTENCE: so set for PE 3 alone, and for PE 0 alone.
differing() {
    for odd in 3 0; do
        wrong "$2" sh -c '[ "$PMIX_RANK" != "$1" ] || export "$2"; exec "$0" 5' \
            "$ring" $odd "$1"
    done
}

for words in nonsense ofi,nonsense ofi,^ucx '^ofi,ucx' ofix; do
    with SHMEM_TRANSPORT=$words "SHMEM_TRANSPORT=.* is not understood; give auto"
done
with 'SHMEM_TRANSPORT=^ofi,^ucx' 'no network transport can be used (ofi: left out by
 SHMEM_TRANSPORT; ucx: left out'
