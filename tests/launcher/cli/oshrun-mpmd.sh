#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several programs as one job: ranks, environment, directories, PMIx data of programs, access
# to the heap of PEs that run another program; errors in one message.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"

wrong() {
    text=$1
    shift
    run 2 "$@"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "not one message: $(cat "$work/err")"
    says "$text"
}
wrong "'echo' is one of 2 programs; each needs its -n N" -n 1 echo : echo
wrong "no program given after ':'" -n 1 echo :
wrong "no program given after ':'" -n 1 echo : -n 1 : -n 1 echo
wrong "no program given before ':'" -n 1 : -n 1 echo
wrong 'option --timeout is for the whole job' -n 1 echo : --timeout 3 -n 1 echo
wrong "unknown option '--none'" -n 1 echo : --none -n 1 echo
wrong "unknown option '--none'" -n 1 echo : --none
wrong 'the programs have 65537 PEs together, more than 65536' -n 65536 echo : -n 1 echo
run 127 -n 1 true : -n 1 "$work/missing"
says "cannot run '$work/missing'"

mkdir "$work/dir"
# shellcheck disable=SC2016 # for the shells of the PEs
run 0 -n 2 -x A=1 -x B=2 sh -c 'echo "first $PMIX_RANK $A $B"' : \
    -n 1 -x B=3 --wdir "$work/dir" sh -c 'echo "second $PMIX_RANK $A $B $PWD"' : \
    -n 1 -- sh -c 'echo "third $PMIX_RANK $A $B"'
sort "$work/out" >"$work/sorted"
printf '%s\n' 'first 0 1 2' 'first 1 1 2' "second 2 1 3 $work/dir" 'third 3 1 2' |
    diff - "$work/sorted" || fail 'ranks, variables or directories of several programs'
run 5 -n 1 true : -n 1 sh -c 'exit 5'

cat >"$work/a.c" <<'END'
#include <shmem.h>
#include <stdio.h>
#ifdef OTHER
char other[100000] = "a program with other global variables";
#endif
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *word = shmem_calloc(2, sizeof *word), sum = 0, value = me;
    shmem_long_put(word, &value, 1, (me + 1) % n);
    shmem_barrier_all();
    if (word[0] != (me + n - 1) % n)
        return 1;
    for (int pe = 0; pe < n; pe++)
        shmem_long_atomic_add(word + 1, me + 1, pe);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &word[0], &word[1], 1);
    sum = word[0];
    printf("%ld\n", sum);
    shmem_finalize();
    return sum == (long)n * n * (n + 1) / 2 ? 0 : 2;
}
END
"$OSHCC" -o "$work/a" "$work/a.c"
"$OSHCC" -DOTHER -o "$work/b" "$work/a.c"
for nodes in '' '--vnodes 2' '--vnodes 3 --map-by node'; do
    # shellcheck disable=SC2086 # words
    run 0 $nodes -n 2 "$work/a" : -n 1 "$work/b" : -n 1 "$work/a"
    [ "$(grep -c '^40$' "$work/out")" = 4 ] || fail "two programs $nodes: $(cat "$work/out")"
    pmix=$top_builddir/tests/launcher/cli/pmix-client
    # shellcheck disable=SC2086 # words
    run 0 $nodes -n 3 "$pmix" apps 3,2 : -n 2 "$pmix" apps 3,2
    [ "$(grep -c ': good$' "$work/out")" = 5 ] || fail "PMIx data of programs $nodes"
done
finish
