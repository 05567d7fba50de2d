#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages about limits of the system name the limit and a remedy.
# shellcheck disable=SC2016,SC3045 # every common sh has ulimit
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"

one_message() {
    says "$1"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "more than one message: $(cat "$work/err")"
}

(ulimit -f 1 && run 1 -n 2 true && [ "$failures" = 0 ]) || fail 'ulimit -f'
one_message 'the limit of the size of files is .* bytes.*`ulimit -f`'

(ulimit -n 32 && run 1 -n 40 true && [ "$failures" = 0 ]) || fail 'ulimit -n'
says 'Too many open files; the limit of open files is 32, raise it with `ulimit -Hn`'

# The process limit holds for users other than root; it is reached at the fork of a PE.
if [ "$(id -u)" = 0 ]; then
    oshrun=$work/oshrun
    cp "$(readlink -f "$OSHRUN")" "$oshrun"
    chmod 755 "$work" "$oshrun"
    chmod 777 "$work/tmp"
    got=0
    env "$mark" TMPDIR="$work/tmp" setpriv --reuid=61234 --regid=61234 --clear-groups \
        prlimit --nproc=12 "$oshrun" -n 40 sleep 20 2>"$work/err" </dev/null || got=$?
    [ "$got" = 1 ] || fail "ulimit -u: status $got"
    says 'cannot start PE .* fork: .*; the limit of processes is reached, raise `ulimit -u`'
    check_nothing_left 'ulimit -u'
else
    echo 'not tested: ulimit -u (needs root, to become a user without processes)'
fi

if [ -z "${SANITIZED:-}" ]; then # its shadow memory is larger than any limit
    (ulimit -v 800000 && run 1 -n 2 "$top_builddir/examples/hello" && [ "$failures" = 0 ]) || fail 'ulimit -v'
    says '`ulimit -v`'
fi

# The kernel's count of killed processes, simulated by a file that the PE changes.
if unshare -rm true 2>/dev/null; then
    echo 'oom_kill 3' >"$work/vmstat"
    got=0
    env "$mark" TMPDIR="$work/tmp" unshare -rm sh -c 'mount --bind "$1" /proc/vmstat && exec "$0" -n 2 \
        sh -c "test \$PMIX_RANK = 1 || exec sleep 20; echo oom_kill 4 >\$1; kill -KILL \$\$" sh "$1"' \
        "$(readlink -f "$OSHRUN")" "$work/vmstat" 2>"$work/err" || got=$?
    [ "$got" = 137 ] || fail "killed for lack of memory: status $got"
    says 'PE 1 (pid [0-9]*) was probably killed by the kernel because the host, or its cgroup, is out of memory'
fi

cp /bin/true "$work/hello"
cd "$work"
run 127 -n 2 hello
one_message "cannot run 'hello': it is not in PATH; did you mean './hello'?"
run 0 -n2 ./hello

if unshare -rm mount -t tmpfs tmpfs "$work/tmp" 2>/dev/null; then
    got=0
    TMPDIR=$work/tmp unshare -rm sh -c \
        'mount -t tmpfs -o size=4k tmpfs "$TMPDIR" && exec "$0" -n 2 true' \
        "$(readlink -f "$OSHRUN")" 2>"$work/err" || got=$?
    [ "$got" = 1 ] || fail "a full TMPDIR: status $got"
    one_message 'TMPDIR is full: .* set TMPDIR to a directory with more space'
fi
if unshare -rn true 2>/dev/null; then
    unshare -rn "$(readlink -f "$OSHRUN")" --vnodes 2 -n 2 true 2>"$work/err" || :
    one_message 'virtual nodes need the loopback interface'
fi
finish
