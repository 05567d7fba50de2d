#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# watchdog.sh - SHMEM_FT_WATCHDOG kills a PE that neither calls the library nor waits in it, and
# no other; invalid settings of SHMEM_FT are refused.
set -eu
program=$top_builddir/tests/ft/agent/watchdog
failures=0

# ends STATUS TEXT ARGUMENT [VARIABLE=VALUE..]: the program ends with the status and prints TEXT.
ends() {
    want=$1 text=$2 argument=$3
    shift 3
    got=0
    out=$(env "$@" timeout 60 "$program" "$argument" 2>&1) || got=$?
    case $got,$out in
    "$want,"*"$text"*) ;;
    *)
        echo "FAIL: $argument $*: status $got, not $want: $out"
        failures=$((failures + 1))
        ;;
    esac
}

ends 137 '' idle SHMEM_FT=continue SHMEM_FT_WATCHDOG=1
ends 0 done wait SHMEM_FT=continue SHMEM_FT_WATCHDOG=2
ends 1 'SHMEM_FT is "on"; set it to abort or continue' idle SHMEM_FT=on
ends 1 'SHMEM_FT_PERIOD is 0' idle SHMEM_FT=continue SHMEM_FT_PERIOD=0
ends 1 'at least twice SHMEM_FT_PERIOD, 300' idle SHMEM_FT=continue SHMEM_FT_PERIOD=150
ends 1 'SHMEM_FT_DOMAINS is "n0;;n1"' idle SHMEM_FT=continue 'SHMEM_FT_DOMAINS=n0;;n1'
exit $((failures > 0))
