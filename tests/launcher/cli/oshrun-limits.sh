#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages about limits of the system name the limit and a remedy.
# shellcheck disable=SC2016,SC3045 # ulimit is in every sh that we know
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

cp /bin/true "$work/hello"
cd "$work"
run 127 -n 2 hello
one_message "cannot run 'hello': it is not in PATH; did you mean './hello'?"
run 0 -n2 ./hello
run 2 -n 1 echo a : -n 1 echo b
one_message 'several programs in a job are not supported'

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
