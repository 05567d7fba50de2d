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

/* Copy what the shared pages hold, holes left out, to private memory at `to`. */
static void copy_globals(char *to)
{
    const struct pgas *g = &pgas_self;
    off_t hole = 0;

    for (;;) {
        off_t begin = lseek(g->data_fd, hole, SEEK_DATA);
        if (begin < 0)
            return;
        hole = lseek(g->data_fd, begin, SEEK_HOLE);
        memcpy(to + begin, (const char *)g->data_base + begin, (size_t)(hole - begin));
    }
}

static void in_child(void)
{
    struct pgas *g = &pgas_self;

    g->life = LIFE_DOWN;
    g->heap_len = 0;
    g->npes = 0;
    if (g->data_len > 0) {
        char *copy = mmap(NULL, g->data_len, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy == MAP_FAILED)
            _exit(EXIT_FAILURE);
        copy_globals(copy);
        if (mremap(copy, g->data_len, g->data_len, MREMAP_MAYMOVE | MREMAP_FIXED,
                   (void *)g->data_base) == MAP_FAILED)
            _exit(EXIT_FAILURE);
        close(g->data_fd);
        g->data_fd = -1;
        g->data_len = 0;
    }
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
