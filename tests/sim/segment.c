/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment.c - pgas/core/memory/segment.h for a simulated job: the PEs are in one process,
 * so a segment is mapped once and all PEs use the same addresses.  The next job uses the
 * segments of the last one again: to map, fault in and unmap them for each job would take
 * most of its time.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/core/memory/heap.h"
#include "pgas/core/memory/segment.h"
#include "tests/sim/job_int.h"

struct segment {
    struct segment *next;
    ino_t inode; /* descriptors of the same file have the same */
    int fd;
    char *base;
    size_t len;
    bool used; /* by the job that runs */
};

static struct segment *segments;

static size_t segment_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Maps len bytes at an address aligned to HEAP_ALIGN, from a larger space. */
static void *segment_map_file(int fd, size_t len, int flags)
{
    const int kind = PROT_READ | PROT_WRITE;
    size_t end = (len + segment_page() - 1) & -segment_page();
    char *space = mmap(NULL, end + HEAP_ALIGN, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t before = -(uintptr_t)space & (HEAP_ALIGN - 1);

    if (space == MAP_FAILED)
        return space;
    munmap(space + before + end, HEAP_ALIGN - before);
    if (before > 0)
        munmap(space, before);
    return mmap(space + before, len, kind, flags | MAP_NORESERVE | MAP_FIXED, fd, 0);
}

static struct segment *segment_new(const char *name, size_t len)
{
    struct segment *s = job_alloc(1, sizeof *s);
    struct stat st;

    s->fd = memfd_create(name, MFD_CLOEXEC);
    s->len = len;
    if (s->fd < 0 || ftruncate(s->fd, (off_t)len) != 0 || fstat(s->fd, &st) != 0 ||
        (s->base = segment_map_file(s->fd, len, MAP_SHARED)) == MAP_FAILED) {
        perror("job: cannot create a segment");
        abort();
    }
    s->inode = st.st_ino;
    s->next = segments;
    return segments = s;
}

int segment_create(const char *name, size_t len)
{
    struct segment *s = segments;

    while (s != NULL && (s->used || s->len != len))
        s = s->next;
    if (s == NULL)
        s = segment_new(name, len);
    s->used = true;
    return fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
}

void *segment_map(int fd, size_t len, size_t align)
{
    const struct segment *s = segments;
    struct stat st;

    (void)align; /* all are aligned to HEAP_ALIGN */
    if (fstat(fd, &st) != 0)
        return NULL;
    while (s != NULL && s->inode != st.st_ino)
        s = s->next;
    if (s == NULL || s->len < len)
        abort();
    return s->base;
}

int segment_open(pid_t pid, int fd)
{
    (void)pid;
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void *segment_map_peer(pid_t pid, int fd, size_t len, size_t align)
{
    (void)pid;
    return segment_map(fd, len, align);
}

void *segment_map_sink(size_t len, size_t align)
{
    (void)align;
    void *p = segment_map_file(-1, len, MAP_PRIVATE | MAP_ANONYMOUS);

    return p == MAP_FAILED ? NULL : p;
}

static bool segment_is_shared(const void *p)
{
    const struct segment *s = segments;

    while (s != NULL && s->base != p)
        s = s->next;
    return s != NULL;
}

void segment_unmap(void *p, size_t len)
{
    if (!segment_is_shared(p))
        munmap(p, len);
}

/* Clear the pages that have been written to: the others are holes of the file. */
static void segment_clear(const struct segment *s)
{
    off_t begin = lseek(s->fd, 0, SEEK_DATA);

    while (begin >= 0) {
        off_t end = lseek(s->fd, begin, SEEK_HOLE);
        memset(s->base + begin, 0, (size_t)(end - begin));
        begin = lseek(s->fd, end, SEEK_DATA);
    }
}

void segment_free_all(void)
{
    for (struct segment *s = segments; s != NULL; s = s->next)
        if (s->used) {
            segment_clear(s);
            s->used = false;
        }
}
