#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# revoked.sh - revocations of many teams, and later teams (revoked.c), on one node and on
# virtual nodes.
set -eu
for options in '' '--vnodes 3'; do
    # shellcheck disable=SC2086 # words
    SHMEM_FT=continue timeout -s KILL 60 "$OSHRUN" --timeout 30 \
        $options -n 3 "$top_builddir/tests/ft/revoked"
done
