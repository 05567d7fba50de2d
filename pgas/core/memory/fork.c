/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.c - pthread_atfork handlers.  A forked child is not a PE: it gets a private copy
 * of the globals that data.c made shared, so that its stores do not change its parent's
 * globals.  Uses: pgas.h, data, log.  Used by: the C library's fork().
 *
 * The parent waits in fork() until the child has made its copy, so that the child sees
 * the globals as they were at the fork.  It waits for end-of-file on a pipe created
 * before the fork: the child closes its end after the copy, or exits.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/core_state.h"
#include "pgas/core/check/check.h"
#include "pgas/core/memory/data.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"

#define STATE core_self.fork

static void fork_close_end(int i)
{
    if (STATE.done_pipe[i] >= 0)
        close(STATE.done_pipe[i]);
    STATE.done_pipe[i] = -1;
}

static void fork_before(void)
{
    pthread_mutex_lock(&STATE.lock);
    STATE.guarding = pgas_self.data_len > 0;
    if (STATE.guarding && pipe2(STATE.done_pipe, O_CLOEXEC) != 0)
        log_warn(
            "fork: cannot create a pipe to the child (%s): the child may see stores of "
            "this process to its globals after the fork",
            strerror(errno));
}

static void fork_in_parent(void)
{
    char byte;

    fork_close_end(1);
    while (STATE.done_pipe[0] >= 0 && read(STATE.done_pipe[0], &byte, 1) < 0 &&
           errno == EINTR)
        ;
    fork_close_end(0);
    pthread_mutex_unlock(&STATE.lock);
}

static void fork_in_child(void)
{
    pgas_self.life = LIFE_FORKED;
    check_init();
    pgas_self.heap_len = 0;
    pgas_self.npes = pgas_self.peers = 0;
    pgas_self.net = NULL; /* its thread and connections belong to the parent */
    if (STATE.guarding && data_unshare() != 0) {
        log_warn(
            "fork: the child cannot copy the globals (%s) and exits, because its stores "
            "would change its parent's globals",
            strerror(errno));
        _exit(EXIT_FAILURE);
    }
    fork_close_end(0);
    fork_close_end(1);
    pthread_mutex_init(&STATE.lock, NULL);
}

/*
 * A constructor, because child handlers run in the order of registration: ours must run
 * before a handler of the program stores to globals.
 */
static __attribute__((constructor)) void fork_init(void)
{
    pthread_atfork(fork_before, fork_in_parent, fork_in_child);
}
