#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Options of oshrun: errors in one message, environment, directory, binding, tags, other
# launchers.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"

for name in $(env | sed -n 's/^\(SHMEM_LAUNCH_[^=]*\|SLURM_[^=]*\)=.*/\1/p'); do
    unset "$name"
done

one_message() {
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q '^oshrun: ' "$work/err" && return 0
    fail "not one message: $(cat "$work/err")"
}

run 0 --help
prints 'usage: oshrun'
prints '--bind-to'
run 0 --version
prints '^oshrun (pgas) [0-9]'

wrong() {
    status=$1
    text=$2
    shift 2
    run "$status" "$@"
    one_message
    says "$text"
}
wrong 2 'no program'
wrong 2 'no program' -n 2
wrong 2 "unknown option '--no-such'" --no-such true
wrong 2 'needs a value' -n
for n in 0 -1 two 1x '' 99999999999999999999 65537; do
    wrong 2 'number of PEs' -n "$n" true
done
wrong 2 'none, core or numa' --bind-to socket true
wrong 2 'takes no value' --tag-output=yes true
wrong 2 'whole number' --timeout 0 true
wrong 2 'only PEs 0 to 1' --gdb=2 -n 2 true
for n in 0 -1 x 65537; do
    wrong 2 "--vnodes $n: expected the number of virtual nodes" --vnodes "$n" true
    wrong 2 "-N $n: expected the number of PEs per node" -N "$n" true
    wrong 2 "--map-by ppr:$n:node: expected ppr:N:node" --map-by "ppr:$n:node" true
done
for by in core ppr ppr: ppr:2 ppr:2:core 'ppr:2:node:x' ''; do
    wrong 2 '--map-by .*: expected \(slot, node or \)\?ppr:N:node' --map-by "$by" true
done
wrong 2 'expected the same number as -N' -N 2 --map-by ppr:3:node true
wrong 2 'expected the same number as in --map-by ppr' --map-by ppr:3:node -N 2 true
wrong 2 '^oshrun: --host and --vnodes both say where' -H a --vnodes 2 true
wrong 2 '^oshrun: --vnodes and --hostfile both say where' --vnodes 2 --hostfile x true
wrong 2 'name of a file' --hostfile '' true
wrong 2 'name of a file' --rank-file '' true
wrong 2 'expected a command' --launch-agent '' true
wrong 2 'expected interfaces or subnets' --if '' true
wrong 2 'leave out -N and --map-by' --rank-file x -N 2 true
wrong 2 'leave out -N and --map-by' --rank-file x --map-by node true
wrong 2 'only for jobs on one node' --gdb --vnodes 2 -n 2 true
wrong 2 "both this machine" -H localhost,127.0.0.1 true

# bad_variable NAME VALUE EXPECTED
bad_variable() {
    export "SHMEM_LAUNCH_$1=$2"
    wrong 2 "^oshrun: SHMEM_LAUNCH_$1=$2: expected .*$3" true
    unset "SHMEM_LAUNCH_$1"
}
for value in 0 -1 x 65537; do
    bad_variable VNODES "$value" 'from 1 to 65536'
done
for value in 0 -1 x 65536 2.5; do
    bad_variable FANOUT "$value" 'from 1 to 65535'
done
for value in 0 0.4 0.499 -3 3601 3600.5 x 3s 1e3 inf 2,5 .5 99999999999; do
    bad_variable TIMEOUT "$value" 'seconds, a number from 0.5 to 3600'
    bad_variable START_TIMEOUT "$value" 'seconds, a number from 0.5 to 3600'
done
bad_variable DAEMON oshrun 'path of oshrun on the hosts'
export SHMEM_LAUNCH_TIMEOUT=2.5 SHMEM_LAUNCH_START_TIMEOUT=3600 SHMEM_LAUNCH_FANOUT=1 \
    SHMEM_LAUNCH_HOSTS='' SHMEM_LAUNCH_VNODES='' SHMEM_LAUNCH_AGENT=''
run 0 -n 2 true
unset SHMEM_LAUNCH_TIMEOUT SHMEM_LAUNCH_START_TIMEOUT SHMEM_LAUNCH_FANOUT \
    SHMEM_LAUNCH_HOSTS SHMEM_LAUNCH_VNODES SHMEM_LAUNCH_AGENT

wrong 127 "'no-such-program'" -n 2 no-such-program
wrong 127 'No such file' -n 2 ./no-such-program
wrong 126 'Is a directory' -n 2 /
echo >"$work/plain"
wrong 126 'Permission denied' -n 2 "$work/plain"
wrong 1 "working directory '/no/such'" --wdir /no/such true
printf '#!/no/such/interpreter\n' >"$work/bad"
chmod +x "$work/bad"
wrong 127 'execute' -n 2 "$work/bad"
printf 'echo no magic\n' >"$work/script"
chmod +x "$work/script"
run 0 "$work/script"
prints 'no magic'

for n in -n -np --np -c; do
    run 0 "$n" 3 echo here
    [ "$(grep -c '^here$' "$work/out")" = 3 ] || fail "$n 3 did not start 3 PEs"
done
run 0 --np=2 -- echo here
[ "$(grep -c '^here$' "$work/out")" = 2 ] || fail "--np=2 did not start 2 PEs"

export PGAS_TEST_A='with space'
# shellcheck disable=SC2016
run 0 -x PGAS_TEST_A -x 'PGAS_TEST_B=b=c' -x PGAS_TEST_NONE -x HFI_NO_BACKTRACE=0 sh -c \
    'echo "$PGAS_TEST_A|$PGAS_TEST_B|$HFI_NO_BACKTRACE|$IPATH_NO_BACKTRACE|"
     echo "ucx=$UCX_ERROR_SIGNALS="'
prints '^with space|b=c|0|1|$'
prints '^ucx==$'
says 'PGAS_TEST_NONE: the variable is not set'
# shellcheck disable=SC2016
run 0 sh -c 'test -r "$PGAS_NODE" && echo readable'
prints readable
# shellcheck disable=SC2016
run 0 -x PGAS_NODE_JOB=other sh -c 'echo "$PMIX_NAMESPACE=$PGAS_NODE_JOB"'
prints '^\(oshrun-[0-9]*-[0-9a-f]*\)=\1$'

mkdir "$work/dir"
cp "$work/script" "$work/dir/here"
run 0 --wdir "$work/dir" ./here
prints 'no magic'
run 0 --wdir "$work/dir" pwd -P
prints '/dir$'

cpus=$(nproc)
run 0 -n "$cpus" --report-bindings sh -c 'grep Cpus_allowed_list /proc/self/status'
says 'PE 0 (pid [0-9]*): '
run 0 -n 2 --bind-to core --report-bindings true
says 'core 0 (cpu [0-9]'
# One PE has all cores for its threads.
run 0 -n 1 sh -c 'nproc'
prints "^$cpus\$"
run 0 -n $((cpus + 1)) --report-bindings true
says 'not bound'
run 0 -n 2 --bind-to none --report-bindings true
says 'not bound'
first=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
got=$(env TMPDIR="$work/tmp" taskset -c "$first" "$OSHRUN" -n 2 --bind-to core \
    grep Cpus_allowed_list /proc/self/status | sort -u | cut -f2)
[ "$got" = "$first" ] || fail "bound to '$got' although only '$first' was allowed"

run 0 --tag-output -n 3 sh -c 'echo one; printf two; echo err >&2'
for i in 0 1 2; do
    prints "^\\[$i\\] one\$"
    prints "^\\[$i\\] two\$"
    says "^\\[$i\\] err\$"
done

run 0 --dry-run -n 2 --wdir "$work/dir" -x PGAS_TEST_B="it's" echo 'a b' ''
prints "^\\[1\\] .*cd $work/dir && env .*'PGAS_TEST_B=it'.*echo 'a b' ''\$"
line=$(sed -n 's/^\[0\] [^:]*: //p' "$work/out")
[ "$(sh -c "$line")" = 'a b ' ] || fail "sh does not run what --dry-run prints: $line"
run 0 --dry-run --valgrind true
prints 'valgrind .*true$'
prints ' PGAS_NODE=[^ ]* PGAS_NODE_JOB=[^ ]* '

# -- binding of virtual nodes: they share the processors --------------------------------
if [ "$cpus" -ge 2 ]; then
    run 0 --vnodes 2 -n 2 --dry-run true
    [ "$(sed -n 's/^\[[01]\] \(cores* [0-9-]*\).*/\1/p' "$work/out" | sort -u | wc -l)" = 2 ] ||
        fail "PEs of two virtual nodes are bound alike: $(cat "$work/out")"
fi
run 0 --vnodes 2 -n $((cpus + 1)) --dry-run true
[ "$(grep -c '^\[[0-9]*\] not bound' "$work/out")" = $((cpus + 1)) ] ||
    fail "PEs of virtual nodes are bound although they are too many: $(cat "$work/out")"

# -- other launchers --------------------------------------------------------------------
# becomes 'COMMAND' OPTIONS...
becomes() {
    expected=$1
    shift
    run 0 --dry-run "$@"
    # Quotes do not matter here.
    [ "$(tr -d "'" <"$work/out")" = "$expected" ] && return 0
    fail "$*: expected"
    echo "    $expected"
    sed 's/^/    /' "$work/out"
}
becomes 'mpirun --oversubscribe -n 3 prog -n 4' --launcher mpirun -n 3 prog -n 4
becomes 'mpiexec --oversubscribe prog' --launcher=mpiexec prog
becomes '/opt/bin/mpirun --oversubscribe prog' --launcher /opt/bin/mpirun prog
becomes 'mpirun --oversubscribe --map-by ppr:2:node --host n0:2,n1:2,x prog' \
    --launcher mpirun -N 2 -H 'n[0-1]:2,x' prog
becomes 'mpirun --oversubscribe --map-by node --tag-output --display-map'\
' --report-bindings -n 3 --bind-to core:overload-allowed --wdir /x --timeout 9'\
' -x A=b --hostfile f prog' --launcher mpirun --map-by node --tag-output --report \
    --report-bindings -n 3 --bind-to core --wdir /x --timeout 9 -x A=b --hostfile f prog
becomes 'prterun --map-by node:OVERSUBSCRIBE --output tag --display map --display'\
' bindings -n 3 --bind-to none -x A=b prog' --launcher prterun --map-by node \
    --tag-output --report --report-bindings -n 3 --bind-to none -x A=b prog
becomes 'prterun --map-by ppr:2:node:OVERSUBSCRIBE prog' --launcher prterun -N 2 prog
becomes 'srun --mpi=pmix --input=0 --kill-on-bad-exit=1 --ntasks=3 prog a : b' \
    --launcher srun -n 3 prog a : b
becomes 'env A=b c srun --mpi=pmix --input=0 --kill-on-bad-exit=1 --label'\
' --ntasks-per-node=2 --cpu-bind=verbose,ldoms --chdir=/x --export=ALL --nodes=2'\
' --nodelist=n0,n1 prog' --launcher srun -N 2 --bind-to numa --report-bindings \
    --tag-output --wdir /x -x 'A=b c' -H 'n[0-1]' prog
becomes 'srun --mpi=pmix --input=0 --kill-on-bad-exit=1 --distribution=cyclic'\
' --cpu-bind=verbose prog' --launcher srun --map-by node --report-bindings prog
for option in '--vnodes 2' '--rank-file x' '--launch-agent x' '--if x' --gdb --valgrind -v; do
    for name in mpirun prterun srun; do
        # shellcheck disable=SC2086 # option and value
        wrong 2 "has no meaning for $name; leave it out" --launcher "$name" $option prog
    done
done
wrong 2 '^oshrun: --timeout has no meaning for srun' --launcher srun --timeout 3 prog
wrong 2 '^oshrun: --report has no meaning for srun' --launcher srun --report prog
wrong 2 "srun takes no slots per host, as host 'b'" --launcher srun -H a,b:2 prog
wrong 2 "takes the argument ':' for itself" --launcher mpirun prog : prog
wrong 2 'takes -N or --map-by node' --launcher mpirun -N 2 --map-by node prog
wrong 2 'expected mpirun, mpiexec, prterun or srun' --launcher nompirun prog
wrong 2 'name of a launcher' --launcher '' prog
wrong 2 "a name is missing after 'a,'" --launcher mpirun -H a, prog
wrong 127 '^oshrun: --launcher /no/mpirun: there is no such program' \
    --launcher /no/mpirun prog

# Executed, with the variables in its environment and unchanged arguments of the program.
mkdir "$work/bin"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$PGAS_TEST_A"\nfor a; do echo "<$a>"; done\nexit 9\n' \
    >"$work/bin/srun"
chmod +x "$work/bin/srun"
run 9 --launcher "$work/bin/srun" -n 2 -x PGAS_TEST_A='b, c' prog '' 'a b' '*'
prints '^b, c$'
tail -4 "$work/out" | tr '\n' ' ' | grep -qxF '<prog> <> <a b> <*> ' ||
    fail "arguments for srun: $(cat "$work/out")"
# The other launcher must not inherit variables for our own daemons.
export SHMEM_LAUNCH_FANOUT=x
run 9 --launcher "$work/bin/srun" true
unset SHMEM_LAUNCH_FANOUT
echo >"$work/bin/mpirun"
wrong 126 '^oshrun: --launcher .*/mpirun: Permission denied' \
    --launcher "$work/bin/mpirun" prog
finish
