#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The ports of oshrun and its daemons: unauthenticated connections are refused and reported,
# and the job continues.
# shellcheck disable=SC2016  # the PEs expand $PMIX_RANK
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
unauth=$top_builddir/tests/launcher/cli/oshrun-unauth
seconds=${PGAS_TEST_LONG:+20}
: "${seconds:=0.6}"

daemons() {
    for p in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        tr '\0' ' ' <"/proc/$p/cmdline" | grep -q -e --node-daemon && echo "$p"
    done
    return 0
}

there() { [ "$(grep -c 'is there' "$work/out")" = "$1" ]; }

# visit HOW: unauthenticated connections to the ports of oshrun and of a daemon of a job.
visit() {
    start --vnodes 2 -n 4 sh -c 'echo "is there"; read x <"$1" || :
        exec "$2" good' sh "$work/hold" "$client"
    until_true 30 there 4 || fail "$1: the PEs do not start"
    for p in $pid $(daemons "$pid" | head -1); do
        "$unauth" "$p" "$1" "$seconds" "$$" >"$work/visits" || fail "$1: no visits at $p"
        [ "$(cat "$work/visits")" -ge 2 ] || fail "$1: $(cat "$work/visits") visits"
    done
    : >"$work/hold" # the PEs go on, and fence
    ended_with 0
    says 'refused a connection from 127.0.0.1:[0-9]*: '
    told=$(grep -c 'refused a connection' "$work/err")
    [ "$told" -le 18 ] || fail "$1: $told messages"
    grep -v 'refused' "$work/err" >"$work/rest" || true
    [ ! -s "$work/rest" ] || fail "$1: $(head -3 "$work/rest")"
}

mkfifo "$work/hold"
visits='random half greet nonce many flood'
[ -z "${DISTCHECK:-}${SANITIZED:-}" ] || visits=nonce # the others have been tried in the build
for how in $visits; do
    visit "$how"
    [ $how != nonce ] || says 'it does not know the nonce of this job'
done

# Silent connections to all ports of a daemon, that of its PMIx server included, while the PEs
# fence.
start --vnodes 2 -n 4 sh -c 'echo "is there"; read x <"$1" || :
    exec "$2" good' sh "$work/hold" "$client"
until_true 30 there 4 || fail "silent: the PEs do not start"
daemon=$(daemons "$pid" | head -1)
: >"$work/silent"
"$unauth" "$daemon" silent 60 >"$work/silent" &
silent=$!
visits_made() { [ -s "$work/silent" ]; }
until_true 30 visits_made || fail 'silent: no visits'
: >"$work/hold"
ended_with 0
kill $silent || fail 'silent: the job has ended after the connections'
wait $silent || :

# While daemons connect: unauthenticated connections use all slots of the listener.
start --vnodes 4 -n 8 "$client" good
"$unauth" "$pid" many 1 >"$work/visits" 2>&1 || true
ended_with 0

# A daemon without a bootstrap line, or with an invalid one.
for line in '' 'hello' 'oshrun 1' 'oshrun 99 0 nonce=00 at=x timeout=1 window=1'; do
    got=0
    echo "$line" | timeout 30 "$OSHRUN" --node-daemon >"$work/out" 2>"$work/err" || got=$?
    [ "$got" = 1 ] || fail "a daemon with bootstrap line '$line' ended with $got"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "bootstrap line '$line': $(cat "$work/err")"
done
finish
