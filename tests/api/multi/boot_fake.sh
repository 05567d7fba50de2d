#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# boot_fake.sh - with launchers that provide incomplete or unusual information, a PE either
# derives the right node map or ends with a message that names the missing information.
set -eu
fake=$top_builddir/tests/api/multi/boot_fake
boot_map=$top_builddir/tests/api/multi/boot_map.pes
work=$(mktemp -d "${TMPDIR:-/tmp}/boot-fake.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM HUP
failed=0

fail() {
    echo "FAIL: $*"
    sed 's/^/    /' "$work/out" "$work/err"
    failed=1
}

# fake KIND STATUS: run boot_map under boot_fake KIND; it must end with STATUS.
fake() {
    status=0
    TMPDIR=$work timeout -k 5 60 "$fake" "$1" "$boot_map" where \
        >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$2" ] || fail "$1: status $status, expected $2"
}

# Without maps "backwards" gives the local ranks in the other order.
for kind in all maps names no-count backwards; do
    fake $kind 0
    first=0 second=1
    [ $kind != backwards ] || first=1 second=0
    for line in "PE 1 of 6, node 1 of 3 (b), local $first of 2, shared team 1/3/2" \
        "PE 4 of 6, node 1 of 3 (b), local $second of 2, shared team 1/3/2"; do
        grep -qxF "$line" "$work/out" || fail "$kind: no line '$line'"
    done
done

# refused KIND MESSAGE: both PEs print MESSAGE and nothing else.
refused() {
    fake "$1" 1
    n=$(grep -c "^pgas: the launcher.*$2" "$work/err" || :)
    [ "$n" -eq 2 ] || fail "$1: $n PEs print '$2', expected 2"
    [ "$(wc -l <"$work/err")" -eq 2 ] || fail "$1: they print more than that"
}
refused nothing '2 of the 6 PEs .* not which of the others share a node'
refused checked 'does not name PE [14] .*; give each node a host name of its own'
for kind in checked-by-name other-checked other-checked-by-name; do
    refused $kind 'share a node; give each node a host name of its own'
done
refused no-peers 'does not say which PEs share this node'
refused few-peers '2 of the 6 PEs are on this node, but names these: 1$'
refused wild-peers 'but names these: 1,6$'
refused bad-peers 'but names these: one,four$'
refused other-peers 'of the others share a node;\|does not name PE 4 '

left=$(find "$work" -mindepth 1 ! -name out ! -name err)
[ -z "$left" ] || fail "left behind: $left"
exit $failed
