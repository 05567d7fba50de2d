# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# oshmem-lib.sh - functions of the scripts that compare programs with threads with Open MPI's
# OpenSHMEM.  Sourced; the script sets $name, and $limit, the seconds of a run.
their_oshrun=${THEIR_OSHRUN:-/usr/bin/oshrun}
their_oshcc=${THEIR_OSHCC:-/usr/bin/oshcc}

die() {
    echo "${name:?}: $*" >&2
    exit 2
}

# check_whole VALUE...
check_whole() {
    for number in "$@"; do
        case $number in
        '' | 0 | *[!0-9]* | ????????*) die "'$number' should be a whole number above 0" ;;
        esac
    done
}

# Other load makes the figures worthless, because every library waits by polling.
warn_of_load() {
    awk -v name="$name" '$1 > 1 {
        print name ": the load average is " $1 ": wait for a quiet machine" }' \
        /proc/loadavg >&2
}

run() {
    timeout -k 5 "$limit" "$@" </dev/null
}

# oshmem_build PROGRAM SOURCE...: false, with a message, if oshmem is not usable here.
oshmem_build() {
    program=$1
    shift
    "$their_oshrun" --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE' &&
        "$their_oshcc" -O2 "$@" -o "$program" -lpthread -lm || {
        echo "$name: oshmem is left out: $their_oshrun is not Open MPI's, or $their_oshcc" \
            "cannot compile the benchmark (Debian: openmpi-bin libopenmpi-dev)" >&2
        return 1
    }
}

# oshmem_launch NODES PES PROGRAM ARGUMENT...; it has no virtual nodes: with more than one,
# all messages take TCP.  `memory ^patcher`: without it Debian's oshmem ends in a
# segmentation fault.
oshmem_launch() {
    [ "$1" = 1 ] || UCX_TLS=tcp,self
    ${UCX_TLS:+export UCX_TLS}
    npes=$2
    shift 2
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 run "$their_oshrun" \
        --oversubscribe --bind-to none --mca memory '^patcher' -n "$npes" "$@"
}
