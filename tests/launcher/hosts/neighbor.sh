#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# neighbor.sh - SHMEM_FT=continue, two nodes of a job on one host, one of which dies: the
# connections of the other one stay (neighbor.c).
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
limit_s=60

hosts_up 2
# The host n1 has the names n1 and b-n1.
# shellcheck disable=SC2016 # the shell of the agent expands it
agent='h=%h; exec "$HOSTS" agent "${h##*-}" %c'
HOSTS=$hosts
export HOSTS
got=0
(guard="timeout -s KILL $limit_s" &&
    on n0 "$OSHRUN" --host n0,n1,b-n1 --launch-agent "$agent" -x SHMEM_FT=continue \
        -x SHMEM_TRANSPORT=ofi -n 3 -N 1 "$top_builddir/tests/launcher/hosts/neighbor") \
    </dev/null >"$work/out" 2>"$work/err" || got=$?
if [ $got != 0 ] || ! grep -q '^passed$' "$work/out"; then
    fail "status $got"
    show
fi
check_hosts "a job" || :
finish
