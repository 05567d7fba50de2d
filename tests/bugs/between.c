/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * between.c - address translation while there is no heap or no peer table: between the
 * stages of shmem_init and of shmem_finalize it finds nothing, on any PE.
 *
 * Stands between the library and the system calls that create and remove the heap, so
 * that it runs inside of these stages.
 */
#include "config.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pgas/core/memory/peer.h"

static char *heap;     /* its address when it existed */
static int made, gone; /* translations before and after the heap */
static bool up;

/* The address of a word in the heap, on the stack, and NULL. */
static void translate(int *count)
{
    long word = 0;
    const void *const address[] = {heap, &word, NULL};

    for (size_t i = 0; i < sizeof address / sizeof address[0]; i++)
        for (int pe = -1; pe < 3; pe++)
            if (peer_quick(address[i], sizeof word, pe) != NULL ||
                peer_find(address[i], sizeof word, pe) != NULL) {
                printf("between: address %zu of PE %d has been translated\n", i, pe);
                exit(1);
            }
    ++*count;
}

int memfd_create(const char *name, unsigned flags)
{
    if (!up)
        translate(&made);
    return (int)syscall(SYS_memfd_create, name, flags);
}

int munmap(void *at, size_t len)
{
    if (up && at == (void *)pgas_self.heap_base)
        translate(&gone);
    return (int)syscall(SYS_munmap, at, len);
}

static void generation(void)
{
    up = false;
    shmem_init();
    up = true;
    heap = shmem_malloc(sizeof(long));
    if (heap == NULL || peer_quick(heap, sizeof(long), 0) != heap) {
        puts("between: the own heap is not found");
        exit(1);
    }
    shmem_finalize();
    translate(&gone);
}

int main(void)
{
    generation();
    generation();
    if (made < 2 || gone < 4)
        printf("between: the library has not called us (%d, %d)\n", made, gone);
    return made < 2 || gone < 4;
}
