#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# starved_daemon.sh - a node daemon that gets no processor time for longer than the timeout
# for an unreachable host must not be declared dead; neither one whose event loop waits for
# libpmix for longer than SHMEM_LAUNCH_TIMEOUT.  A killed one is detected immediately.  A slow
# registration of the job with libpmix delays neither signals nor --timeout.
# SIGSTOP simulates starvation.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
stopped_s=4 # longer than LINK_HOST_MS
timeout_s=3
busy_s=8 # longer than twice timeout_s
soon_ms=30000 # a signal would wait for the registration, slow_s
slow_s=60

pes_are_up() { [ "$(grep -c 'is up' "$work/out")" = 2 ]; }
daemon() { pgrep -P "$pid" -f node-daemon | head -n 1; }

start_job() {
    rm -f "$work/go"
    start --vnodes 2 -n 2 sh -c 'echo "$PMIX_RANK is up"; until [ -e "$0" ]; do sleep 0.05; done' "$work/go"
    until_true 20 pes_are_up || fail "the job did not start"
}

start_job
stopped=$(daemon)
kill -STOP "$stopped"
sleep $stopped_s
kill -CONT "$stopped" || fail "the stopped daemon was ended: $(cat "$work/err")"
: >"$work/go"
ended_with 0

# slow.so delays the registration of the job by busy_s in the call itself, which blocks the
# event loop of the daemon, or by SLOW_THREAD seconds in libpmix's thread, for which the loop must
# not wait.
cat >"$work/slow.c" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pmix_server.h>
#include <stdlib.h>
#include <unistd.h>

static pmix_op_cbfunc_t on_done;

static void slow_done(pmix_status_t status, void *arg)
{
    sleep((unsigned)atoi(getenv("SLOW_THREAD")));
    on_done(status, arg);
}

pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int n,
                                          pmix_info_t *info, size_t ninfo,
                                          pmix_op_cbfunc_t done, void *arg)
{
    union {
        void *symbol;
        __typeof__(PMIx_server_register_nspace) *function;
    } real = {dlsym(RTLD_NEXT, "PMIx_server_register_nspace")};
    close(creat(getenv("SLOW_ENTERED"), 0600));
    on_done = done;
    if (getenv("SLOW_THREAD") != NULL)
        done = slow_done;
    else
        sleep(BUSY_S);
    return real.function(nspace, n, info, ninfo, done, arg);
}
EOF
# shellcheck disable=SC2046 # several words
${CC:-cc} -O1 -fPIC -shared -DBUSY_S=$busy_s $(pkg-config --cflags pmix) "$work/slow.c" -o "$work/slow.so"
cat >"$work/oshrun" <<EOF
#!/bin/sh
exec env LD_PRELOAD="$work/slow.so" SHMEM_LAUNCH_TIMEOUT=$timeout_s \\
    ASAN_OPTIONS="verify_asan_link_order=0:\${ASAN_OPTIONS:-}" "$OSHRUN" "\$@"
EOF
chmod +x "$work/oshrun"
export SLOW_ENTERED="$work/entered"
oshrun=$OSHRUN
OSHRUN=$work/oshrun
began=$(now_ms)
run 0 --vnodes 2 -n 2 true
took=$(($(now_ms) - began))
[ "$took" -ge $((busy_s * 1000)) ] || fail "the daemons were not busy ($took ms)"

# ends_at_once SIGNAL STATUS ARGS...: a signal during the registration ends the job.
ends_at_once() {
    signal=$1
    status=$2
    shift 2
    rm -f "$SLOW_ENTERED"
    start "$@" -n 2 echo started
    until_true 20 test -e "$SLOW_ENTERED" || fail "the registration did not begin"
    began=$(now_ms)
    kill -"$signal" "$pid"
    ended_with "$status"
    took=$(($(now_ms) - began))
    [ "$took" -lt $soon_ms ] || fail "SIG$signal during the registration: end after $took ms ($*)"
    says 'got signal .*; ending 2 PEs'
    [ ! -s "$work/out" ] || fail "PEs were started after SIG$signal"
}

export SLOW_THREAD=$slow_s
ends_at_once INT 130
ends_at_once TERM 143 --vnodes 2
began=$(now_ms)
run 124 --timeout 1 -n 2 echo started
took=$(($(now_ms) - began))
[ "$took" -lt $soon_ms ] || fail "--timeout 1 during the registration: end after $took ms"
says 'has not been started'
SLOW_THREAD=2
began=$(now_ms)
run 0 --vnodes 2 -n 2 echo started
took=$(($(now_ms) - began))
prints started
[ "$took" -ge 2000 ] || fail "PEs were started before the end of the registration ($took ms)"
unset SLOW_THREAD
OSHRUN=$oshrun

start_job
began=$(now_ms)
kill -KILL "$(daemon)"
ended_with 1
took=$(($(now_ms) - began))
[ "$took" -le $soon_ms ] || fail "a killed daemon was detected only after $took ms"
# unread messages to it: its socket is reset
says 'the node daemon on vn[01] \(closed the connection\|has lost its connection\)'
finish
