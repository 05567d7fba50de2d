# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
# lib.sh - shared by the scripts of tests/bugs: oshrun-lib.sh with a time limit of limit_s
# for each job, and separate failures for a job that hangs and one that fails.  Sourced,
# not run.
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
bugs=$top_builddir/tests/bugs
limit_s=60

skip() {
    echo "skipped: $*"
    exit 77
}

# job ARGS...: run oshrun for at most limit_s; sets $got to its status; output in $work/out
# and $work/err.
job() {
    got=0
    timeout -k 5 "$limit_s" env "$mark" TMPDIR="$work/tmp" "$OSHRUN" "$@" \
        >"$work/out" 2>"$work/err" </dev/null || got=$?
}

# wrong MESSAGE: fail with MESSAGE, the status of the job and its standard error.
wrong() {
    case $got in
    124 | 137) fail "$1: still running after $limit_s s" ;;
    *) fail "$1: exit status $got" ;;
    esac
    sed 's/^/    /' "$work/err"
}

# run STATUS ARGS...: run oshrun; it must end with STATUS.
run() {
    want=$1
    shift
    job "$@"
    [ "$got" = "$want" ] || wrong "oshrun $* should end with $want"
}

# run_fails ARGS...: run oshrun; it must end within limit_s with a status other than 0.
run_fails() {
    job "$@"
    case $got in
    0 | 124 | 137) wrong "oshrun $* should fail" ;;
    esac
}

# have_mpirun: true if Open MPI's mpirun is installed; sets $mpirun.
have_mpirun() {
    mpirun=${MPIRUN:-mpirun}
    "$mpirun" --version 2>/dev/null | grep -q 'Open MPI'
}
