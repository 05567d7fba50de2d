#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# listen.sh - PEs that use tcp listen at the addresses that SHMEM_TCP_IF selects and at the
# loopback, nowhere else, and reach each other there (listen.c): two hosts, or two virtual
# nodes of one.  A row is an address of the host with a value of SHMEM_TCP_IF.
# PGAS_UNDER_TEST=PREFIX: of the installed library.
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
limit_s=40
program=$top_builddir/tests/launcher/hosts/listen
if [ -n "${PGAS_UNDER_TEST:-}" ]; then
    OSHRUN=$PGAS_UNDER_TEST/bin/oshrun
    program=$work/listen
    HOSTS_SHARE=$PGAS_UNDER_TEST:$work
    export HOSTS_SHARE
    "$PGAS_UNDER_TEST/bin/oshcc" -D_GNU_SOURCE -o "$program" \
        "$top_srcdir/tests/launcher/hosts/listen.c"
fi
hosts_up 2
for i in 0 1; do
    # Without nodad an IPv6 address can be used after about a second only.
    (on n$i ip addr add fd00:77::$((i + 1))/64 dev eth0 nodad)
    (on n$i ip addr add fd00:78::$((i + 1))/64 dev eth1)
done
rows=0 outcomes=0

# listens SHMEM_TCP_IF 'START..' OPTION..: the PEs of such a job listen at the addresses that
# begin so.
listens() {
    value=$1 starts=$2
    shift 2
    got=0
    # shellcheck disable=SC2086 # a list
    (guard="timeout -s KILL $limit_s" && on n0 "$OSHRUN" -x SHMEM_TRANSPORT=tcp \
        ${value:+-x SHMEM_TCP_IF="$value"} "$@" "$program" $starts) \
        </dev/null >"$work/out" 2>"$work/err" || got=$?
    counts=$(sed -n 's/^listen: rows \([0-9]*\), outcomes \([0-9]*\)$/\1 + \2/p' "$work/out")
    rows=$((rows + ${counts% +*})) outcomes=$((outcomes + ${counts#*+}))
    [ "$got" = 0 ] || {
        fail "SHMEM_TCP_IF=$value, $*: status $got"
        show
    }
}

# The first job waits until the addresses of eth1 can be used.
listens fd00:78::/64 fd00:78: --host n0,n1 --launch-agent "$hosts agent"
listens eth1 '10.78. fd00:78:' --host n0,n1 --launch-agent "$hosts agent"
listens '' '10.77. fd00:77: 10.78. fd00:78:' -n 2 --vnodes 2
listens lo '' -n 2 --vnodes 2
listens 10.77.0.0/16,eth1 '10.77. 10.78. fd00:78:' -n 2 --vnodes 2
echo "rows $rows, outcomes $outcomes"
check_hosts 'the jobs' || :
finish
