#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pmix_kill.sh - SHMEM_FT=continue: a PE is killed while it connects to the PMIx server, between
# its request and the answer.  libpmix 4.2 can deadlock then, when the next process connects: the
# job used to hang in shmem_init.  It must end with a message.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
exits=$top_builddir/tests/ft/exits
jobs=4 timeout_s=30
[ -z "${PGAS_TEST_LONG:-}" ] || jobs=40

# PE 1 dies at its first recv; the server's answers, several calls of send, are delayed, so that
# the connection is closed between two of them.
cat >"$work/broken.c" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t recv(int fd, void *to, size_t n, int flags)
{
    union {
        void *symbol;
        __typeof__(recv) *function;
    } real = {dlsym(RTLD_NEXT, "recv")};
    const char *rank = getenv("PMIX_RANK");
    if (rank != NULL && strcmp(rank, "1") == 0 &&
        strcmp(program_invocation_short_name, "exits") == 0)
        kill(getpid(), SIGKILL);
    return real.function(fd, to, n, flags);
}

ssize_t send(int fd, const void *from, size_t n, int flags)
{
    union {
        void *symbol;
        __typeof__(send) *function;
    } real = {dlsym(RTLD_NEXT, "send")};
    if (strcmp(program_invocation_short_name, "oshrun") == 0)
        usleep(DELAY_US);
    return real.function(fd, from, n, flags);
}
EOF
${CC:-cc} -O1 -fPIC -shared -DDELAY_US=3000 "$work/broken.c" -o "$work/broken.so"
for i in $(seq $jobs); do
    began=$(now_ms) got=0
    timeout -s KILL 60 env "$mark" TMPDIR="$work/tmp" LD_PRELOAD="$work/broken.so" SHMEM_FT=continue \
        ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS:-}" "$OSHRUN" --timeout $timeout_s \
        -n 4 "$exits" init 100000000 >"$work/out" 2>"$work/err" || got=$?
    case $got in
    1) says 'the PMIx server does not answer\|a PE has failed before shmem_init has returned' ;;
    137) says 'PE 1.*signal 9' ;;
    *) fail "job $i: status $got: $(cat "$work/err")" ;;
    esac
    took=$(($(now_ms) - began))
    echo "job $i: status $got after $took ms"
    check_nothing_left "job $i"
done
finish
