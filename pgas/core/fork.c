/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.c - see fork.h.  Uses: pgas.h.
 *
 * The parent waits in fork() until the child has made its copy, so that the child sees
 * the globals as they were.  They talk over a pipe made before the fork: the child's
 * end closes when it is done, or when it dies.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pgas/core/fork.h"
#include "pgas/core/pgas.h"

static pthread_mutex_t one_fork = PTHREAD_MUTEX_INITIALIZER;
static int done_pipe[2] = {-1, -1};

static void close_end(int i)
{
    if (done_pipe[i] >= 0)
        close(done_pipe[i]);
    done_pipe[i] = -1;
}

static void before(void)
{
    pthread_mutex_lock(&one_fork);
    if (pipe2(done_pipe, O_CLOEXEC) != 0)
        done_pipe[0] = done_pipe[1] = -1;
}

static void in_parent(void)
{
    char byte;

    close_end(1);
    while (done_pipe[0] >= 0 && read(done_pipe[0], &byte, 1) < 0)
        ; /* interrupted by a signal */
    close_end(0);
    pthread_mutex_unlock(&one_fork);
}

/* Read len bytes at `at` of the data segment.  The bare system call, since the variables'
 * red zones under AddressSanitizer are copied too. */
static bool read_globals(char *to, off_t at, size_t len)
{
    while (len > 0) {
        long n = syscall(SYS_pread64, pgas_self.data_fd, to, len, at);
        if (n <= 0)
            return false;
        to += n;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

/* Copy what the shared pages hold, holes left out, to private memory at `to`. */
static bool copy_globals(char *to)
{
    off_t hole = 0;

    for (;;) {
        off_t begin = lseek(pgas_self.data_fd, hole, SEEK_DATA);
        if (begin < 0)
            return true; /* only holes are left */
        hole = lseek(pgas_self.data_fd, begin, SEEK_HOLE);
        if (!read_globals(to + begin, begin, (size_t)(hole - begin)))
            return false;
    }
}

static void take_private_copy(void)
{
    struct pgas *g = &pgas_self;
    char *copy = mmap(NULL, g->data_len, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (copy == MAP_FAILED || !copy_globals(copy) ||
        mremap(copy, g->data_len, g->data_len, MREMAP_MAYMOVE | MREMAP_FIXED,
               (void *)g->data_base) == MAP_FAILED)
        _exit(EXIT_FAILURE); /* better no child than one that shares our globals */
    close(g->data_fd);
    g->data_fd = -1;
    g->data_len = 0;
}

static void in_child(void)
{
    struct pgas *g = &pgas_self;

    g->life = LIFE_DOWN;
    g->heap_len = 0;
    g->npes = 0;
    if (g->data_len > 0)
        take_private_copy();
    close_end(0);
    close_end(1);
    pthread_mutex_init(&one_fork, NULL);
}

void fork_init(void)
{
    static bool registered;

    if (!registered)
        registered = pthread_atfork(before, in_parent, in_child) == 0;
}
