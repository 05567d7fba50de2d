/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.c - a forked child is not a PE: it gets a private copy of the globals that data.c
 * made shared, so that what it stores does not change its parent's.
 * Uses: pgas.h, data, log.  Used by: the C library's fork().
 *
 * The parent waits in fork() until the child has made its copy, so that the child sees
 * the globals as they were.  They talk over a pipe made before the fork: the child's
 * end closes when it is done, or when it dies.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/check/check.h"
#include "pgas/core/memory/data.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"

static pthread_mutex_t one_fork = PTHREAD_MUTEX_INITIALIZER;
static int done_pipe[2] = {-1, -1};
static bool guarding; /* this fork began with shared globals; under one_fork */

static void fork_close_end(int i)
{
    if (done_pipe[i] >= 0)
        close(done_pipe[i]);
    done_pipe[i] = -1;
}

static void fork_before(void)
{
    pthread_mutex_lock(&one_fork);
    guarding = pgas_self.data_len > 0;
    if (guarding && pipe2(done_pipe, O_CLOEXEC) != 0)
        log_warn(
            "fork: can't make a pipe to the child (%s): what this process stores while "
            "the child copies its globals may show in the child",
            strerror(errno));
}

static void fork_in_parent(void)
{
    char byte;

    fork_close_end(1);
    while (done_pipe[0] >= 0 && read(done_pipe[0], &byte, 1) < 0 && errno == EINTR)
        ;
    fork_close_end(0);
    pthread_mutex_unlock(&one_fork);
}

static void fork_in_child(void)
{
    pgas_self.life = LIFE_FORKED;
    check_init();
    pgas_self.heap_len = 0;
    pgas_self.npes = 0;
    pgas_self.net = NULL; /* its thread and connections are the parent's */
    if (guarding && data_unshare() != 0) {
        log_warn(
            "fork: the child can't get its own copy of the globals (%s) and ends: it "
            "must not change its parent's",
            strerror(errno));
        _exit(EXIT_FAILURE);
    }
    fork_close_end(0);
    fork_close_end(1);
    pthread_mutex_init(&one_fork, NULL);
}

/*
 * When the library is loaded: handlers run in the child in the order of their
 * registration, and none of the program's may store into globals before ours has run.
 */
static __attribute__((constructor)) void fork_init(void)
{
    pthread_atfork(fork_before, fork_in_parent, fork_in_child);
}
