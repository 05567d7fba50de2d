#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# again_fail.sh - a PE that fails or leaves after shmem_init was called again ends the job
# as one of the first generation does, at once; and so does one that does not take part
# in the second.  One that is only late ends nothing.  Reports tell generations apart.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"
limit_ms=10000
sizes=3
[ -z "${PGAS_TEST_LONG:-}" ] || sizes='2 3 5'

# in_time NAME: what began at $began took no longer than it may.
in_time() {
    took=$(($(now_ms) - began))
    [ $took -le $limit_ms ] || fail "$1: took $took ms, should be at most $limit_ms"
}

# ends WAY STATUS [SENTENCE]: the job of that way does so, in time.
ends() {
    for n in $sizes; do
        began=$(now_ms)
        run "$2" -n "$n" "$bugs/again_fail" "$1"
        in_time "$1, $n PEs"
        [ -z "${3:-}" ] || says "$3"
    done
}

# reports WAY LINE LINE: SIGUSR1 shows both while the job hangs in that way.
asked() {
    kill -USR1 "$pid"
    sleep 0.1
    grep -q -e "$1" "$work/err" && grep -q -e "$2" "$work/err"
}
reports() {
    start -n 2 "$bugs/again_fail" "$1"
    until_true 10 grep -q hangs "$work/out" || fail "$1: PE 1 does not get there"
    until_true 5 asked "$2" "$3" || {
        fail "$1: no report has '$2' and '$3'"
        tail -n 8 "$work/err" | sed 's/^/    /'
    }
    kill -TERM "$pid"
    ended_with 143
}

ends status 3 'PE 1 (pid [0-9]*) exited with status 3; ending'
ends global-0 0
ends global-status 3 'PE 1 ended the job with status 3'
ends abort 134 'PE 1 (pid [0-9]*) was killed by signal 6'
ends vanish 1 'PE 1 (pid [0-9]*) exited without shmem_finalize'
ends leave 1 'PE 1 has exited or called shmem_finalize while PE [0-9]* waits in shmem_barrier_all'
ends end-status 3 'PE 1 (pid [0-9]*) exited with status 3 after shmem_finalize'
no_again='PE 1 has ended, but PE [0-9]* calls shmem_init again; all PEs must'
ends early 1 "$no_again"
ends early-status 3 "$no_again"
SHMEM_DEBUG=1
export SHMEM_DEBUG
ends no-pe 1 "shmem_long_p: argument .*'pe' = 99"
unset SHMEM_DEBUG
run 0 -n 3 "$bugs/again_fail" late

reports hang-inside '^oshrun:  *0 .* left shmem_init .*waits.* shmem_barrier_all' \
    '^oshrun:  *1 .* left shmem_init '
reports hang-between '^oshrun:  *0 .* network ready .*waits.* shmem_init: ' \
    '^oshrun:  *1 .* left shmem_finalize '

# under_mpirun WAY STATUS: the job ends with it (some: any but 0) there too.
under_mpirun() {
    got=0
    env "$mark" TMPDIR="$work/tmp" timeout -s KILL "$limit_s" "$mpirun" \
        --oversubscribe -n 3 "$bugs/again_fail" "$1" </dev/null >"$work/err" 2>&1 || got=$?
    case $2:$got in
    some:0 | *:137) wrong "mpirun of again_fail $1 should fail" ;;
    some:* | "$got:$got") ;;
    *) wrong "mpirun of again_fail $1 should end with $2" ;;
    esac
}
if have_mpirun; then
    limit_s=30
    # Not `vanish`: to mpirun a PE that has finalized once may end with 0 at any time.
    ways='no-pe leave'
    [ -z "${PGAS_TEST_LONG:-}" ] || ways='status global-status no-pe abort leave early-status'
    for way in $ways; do
        under_mpirun $way some
    done
    under_mpirun global-0 0
    under_mpirun early some
    says "$no_again"
    under_mpirun late 0
else
    echo 'not tested under mpirun: no Open MPI; apt-get install openmpi-bin'
fi
rm -rf "$work"/tmp/* # mpirun may leave its folders
finish
