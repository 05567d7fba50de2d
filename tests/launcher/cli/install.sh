#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# install.sh - an installation works from DESTDIR, moved, by oshcc, by pkg-config and by
# CMake; `make uninstall` removes all of it.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}" "${OSHCC:?}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/pgas-install.XXXXXX")
trap 'rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL LD_LIBRARY_PATH
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
make_in() { timeout 300 make -s -C "$top_builddir" "$@" >"$dir/make.log" 2>&1; }

# run PROGRAM PREFIX: on 2 PEs with the launcher of the prefix.
run() { timeout 60 "$2/bin/oshrun" -n 2 "$1" >"$dir/out" 2>&1; }
check_run() {
    run "$1" "$2" || { cat "$dir/out"; fail "$3: the program does not run"; }
}
hello=$top_srcdir/examples/hello.c
sanitized=
case $("$OSHCC" --showme:compile) in *-fsanitize*) sanitized=yes ;; esac

# -- into DESTDIR, then moved: paths must follow ----------------------------------------------
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
make_in install DESTDIR="$dir/dest" || { tail -n 20 "$dir/make.log"; fail 'make install DESTDIR='; }
mkdir -p "$dir/a place"
mv "$dir/dest$prefix" "$dir/a place/pgas"
moved="$dir/a place/pgas"
for name in bin/oshcc bin/oshc++ bin/oshcxx bin/oshCC bin/oshrun bin/oshmem_info bin/oshprof \
    include/shmem.h include/pshmem.h include/shmemx.h include/mpp/shmem.h \
    include/mpp/shmemx.h lib/libshmem.so \
    lib/libshmem.so.0 lib/pkgconfig/openshmem.pc \
    lib/cmake/OpenSHMEM/OpenSHMEMConfig.cmake share/man/man1/oshcc.1 \
    share/man/man1/oshmem_info.1 share/man/man1/oshrun.1; do
    [ -e "$moved/$name" ] || fail "$name is not installed"
done
grep -rqF -e "$top_builddir" -e "$top_srcdir" "$moved/bin/oshcc" "$moved/lib/pkgconfig" \
    "$moved/lib/cmake" && fail 'an installed file names the build or source tree'
[ "$("$moved/bin/oshmem_info" --path libdir)" = "$moved/lib" ] || fail 'oshmem_info --path'
case $("$moved/bin/oshcc" --showme:link) in
*"'-L$moved/lib'"*) ;; *) fail "oshcc does not follow the move" ;;
esac

# -- in a prefix without blanks, for pkg-config and CMake --------------------------------------
plain=$dir/plain
mv "$moved" "$plain"
"$plain/bin/oshcc" "$hello" -o "$dir/by-oshcc" || fail 'installed oshcc'
check_run "$dir/by-oshcc" "$plain" oshcc

PKG_CONFIG_PATH=$plain/lib/pkgconfig
export PKG_CONFIG_PATH
pc() { pkg-config --define-prefix "$@"; }
[ "$(pc --modversion openshmem)" = 1.6.0 ] || fail 'the version of the .pc file is not 1.6.0'
! grep -q '^Requires' "$plain/lib/pkgconfig/openshmem.pc" || fail 'the .pc file requires packages'
case $(pc --libs openshmem) in *rpath*) fail 'the .pc file has an rpath' ;; esac
case $(pc --libs openshmem) in *pmix*) fail 'the .pc file links more than libshmem' ;; esac
if [ -n "$sanitized" ]; then
    echo 'with sanitizers only oshcc can link: pkg-config and CMake were skipped'
else
    # shellcheck disable=SC2046 # flags
    ${CC:-cc} "$hello" -o "$dir/by-pc" $(pc --cflags --libs openshmem) || fail 'pkg-config'
    LD_LIBRARY_PATH=$plain/lib run "$dir/by-pc" "$plain" || fail 'pkg-config: run'
    if command -v cmake >/dev/null && command -v ctest >/dev/null; then
        (
            timeout 120 cmake -S "$top_srcdir/examples/cmake" -B "$dir/cmake" \
                -DCMAKE_PREFIX_PATH="$plain" &&
                timeout 120 cmake --build "$dir/cmake" &&
                cd "$dir/cmake" && timeout 120 ctest --output-on-failure
        ) >"$dir/cmake.log" 2>&1 || { tail -n 30 "$dir/cmake.log"; fail 'CMake'; }
    else
        echo 'cmake is not here: that part was skipped'
    fi
fi

# -- uninstall: only directories may remain ------------------------------------------------------
make_in install DESTDIR="$dir/dest" && make_in uninstall DESTDIR="$dir/dest" ||
    fail 'make uninstall'
[ -z "$(find "$dir/dest" ! -type d)" ] || fail "left: $(find "$dir/dest" ! -type d)"
exit "$failed"
