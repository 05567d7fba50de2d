#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshcc.sh - the compiler wrappers of the build tree: arguments, --showme, compile and run.
set -eu
: "${OSHCC:?}" "${OSHRUN:?}" "${top_builddir:?}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/pgas-oshcc.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
# has WORD TEXT: the words of TEXT contain WORD.
has() { case " $2 " in *" $1 "*) ;; *) fail "no $1 in: $2" ;; esac; }
lacks() { case " $2 " in *" $1 "*) fail "$1 in: $2" ;; esac; }

# -- a compiler that prints its arguments, one per line ---------------------------------
cat >"$dir/tell" <<'END'
#!/bin/sh
for arg in "$@"; do printf '[%s]\n' "$arg"; done
END
chmod +x "$dir/tell"
tell() { SHMEM_CC="$dir/tell" timeout 20 "$OSHCC" "$@"; }

for flag in -c -S -E -M -MM -fsyntax-only; do
    case $(tell "$flag" a.c) in
    *-lshmem*) fail "$flag links" ;;
    *"[-I"*) ;;
    *) fail "$flag has no -I" ;;
    esac
done
case $(tell a.c) in *'[-lshmem]'*) ;; *) fail 'a.c does not link' ;; esac
case $(tell a.o -shared) in *'[-lshmem]'*) ;; *) fail '-shared does not link' ;; esac
case $(tell -MD -MF dep a.c) in *'[-lshmem]'*) ;; *) fail '-MD does not link' ;; esac
for args in -v -dumpversion '-o out' '-print-prog-name=ld' '-I dir'; do
    # shellcheck disable=SC2086 # two words
    case $(tell $args) in *-lshmem*) fail "$args without a file links" ;; esac
done

tell -c 'a b.c' '-DX="y z"' "it's" '*' '' '$HOME' 'back\slash' >got
printf '[%s]\n' -c 'a b.c' '-DX="y z"' "it's" '*' '' '$HOME' 'back\slash' >want
head -n 8 got | cmp -s - want || fail "arguments are changed: $(cat got)"
case $(SHMEM_CC="$dir/tell first" "$OSHCC" a.c) in
'[first]'*) ;; *) fail 'SHMEM_CC with an argument' ;;
esac
case $(OSHMEM_CC="$dir/tell" "$OSHCC" a.c) in *lshmem*) ;; *) fail 'OSHMEM_CC' ;; esac

# -- --showme --------------------------------------------------------------------------
for dash in - --; do
    shown=$("$OSHCC" ${dash}showme 'a b.c' -o x)
    has -lshmem "$shown"
    has "'a b.c'" "$shown"
    [ "$("$OSHCC" ${dash}showme:libs)" = shmem ] || fail "${dash}showme:libs"
    [ "$("$OSHCC" ${dash}showme:libs_static)" = shmem ] || fail "${dash}showme:libs_static"
    has -lshmem "$("$OSHCC" ${dash}showme:link)"
    lacks -lshmem "$("$OSHCC" ${dash}showme:compile)"
    has -lshmem "$("$OSHCC" ${dash}showlibs)"
    for word in command incdirs libdirs libdirs_static; do
        [ -n "$("$OSHCC" ${dash}showme:$word)" ] || fail "${dash}showme:$word is empty"
    done
    case $("$OSHCC" ${dash}showme:version) in
    'oshcc: pgas '[0-9]*) ;; *) fail "${dash}showme:version" ;;
    esac
    case $("$OSHCC" ${dash}showme:help) in usage:*) ;; *) fail "${dash}showme:help" ;; esac
done
has -lshmem "$("$OSHCC" -show)"
lacks -lshmem "$("$OSHCC" -show -c a.c)"
case $("$OSHCC" --help) in usage:*) ;; *) fail '--help' ;; esac
case $("$OSHCC" --version | head -n 1) in 'oshcc: pgas '*) ;; *) fail '--version' ;; esac
"$OSHCC" --showme:nonsense >/dev/null 2>&1 && fail '--showme:nonsense is accepted'

for flag in -static -static-pie; do
    if "$OSHCC" $flag a.c >/dev/null 2>error; then fail "$flag is accepted"; fi
    [ "$(wc -l <error)" -eq 1 ] || fail "$flag: not one message"
    tell $flag -c a.c >/dev/null || fail "$flag -c is rejected"
done

# -- compile and run ------------------------------------------------------------------------
cat >hello.c <<'END'
#include <shmem.h>
#include <mpp/shmem.h>
#include <stdio.h>
int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_barrier_all();
    if (me == 0)
        printf("PEs: %d\n", n);
    shmem_finalize();
    return 0;
}
END
cp hello.c hello.cc
mkdir 'a dir'
timeout 60 "$OSHCC" -Wall -Werror hello.c -o 'a dir/hello c' || fail 'compile'
[ "$(timeout 60 "$OSHRUN" -n 2 './a dir/hello c')" = 'PEs: 2' ] || fail 'run'
timeout 60 "$OSHCC" -c hello.c && timeout 60 "$OSHCC" hello.o -o split || fail 'two steps'
[ "$(timeout 60 "$OSHRUN" -n 1 ./split)" = 'PEs: 1' ] || fail 'run of two steps'
for name in oshc++ oshcxx oshCC; do
    wrapper=$top_builddir/$name
    # shellcheck disable=SC2046 # a command and its arguments
    command -v $("$wrapper" --showme:command) >/dev/null || {
        echo "$name: there is no C++ compiler here"
        continue
    }
    timeout 60 "$wrapper" -Wall -Werror hello.cc -o "hello-$name" || fail "$name"
    [ "$(timeout 60 "$OSHRUN" -n 2 "./hello-$name")" = 'PEs: 2' ] || fail "run of $name"
done
exit "$failed"
