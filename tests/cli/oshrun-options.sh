#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Options of oshrun: errors in one sentence, environment, directory, binding, tags.
set -eu
. "$top_srcdir/tests/cli/oshrun-lib.sh"

one_sentence() {
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q '^oshrun: ' "$work/err" && return 0
    fail "not one sentence: $(cat "$work/err")"
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
    one_sentence
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
prints '^\(oshrun-[0-9]*\)=\1$'

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
[ "$(sh -c "$line")" = 'a b ' ] || fail "--dry-run is not what sh runs: $line"
run 0 --dry-run --valgrind true
prints 'valgrind .*true$'
prints ' PGAS_NODE=[^ ]* PGAS_NODE_JOB=[^ ]* '
finish
