/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.c - see segment.h.  Uses: nothing of ours. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/memory/segment.h"

#define PATH_MAX_LEN 64

int segment_create(const char *name, size_t len)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)len) != 0)
        goto close_fd;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        goto close_fd;
    return fd;

close_fd:;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* Private anonymous memory if fd is -1. */
static void *segment_map_at(void *at, int fd, size_t len, int flags)
{
    int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *p = mmap(at, len, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE | flags, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Reserves len + align bytes of address space, maps fd at the aligned address inside and
 * unmaps the rest. */
static void *segment_map_aligned(int fd, size_t len, size_t align)
{
    size_t reserved;

    PGAS_ASSERT((align & (align - 1)) == 0);
    if (__builtin_add_overflow(len, align, &reserved)) {
        errno = ENOMEM;
        return NULL;
    }
    char *space = mmap(NULL, reserved, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        return NULL;
    char *at = (char *)(((uintptr_t)space + align - 1) & ~(uintptr_t)(align - 1));
    char *p = segment_map_at(at, fd, len, MAP_FIXED);
    if (p == NULL) {
        munmap(space, reserved);
        return NULL;
    }
    PGAS_ASSERT(p == at && at >= space && at + len <= space + reserved);
    if (at > space)
        munmap(space, (size_t)(at - space));
    if (at + len < space + reserved)
        munmap(at + len, (size_t)(space + reserved - (at + len)));
    return p;
}

void *segment_map(int fd, size_t len, size_t align)
{
    return align == 0 ? segment_map_at(NULL, fd, len, 0)
                      : segment_map_aligned(fd, len, align);
}

int segment_open(pid_t pid, int fd)
{
    char path[PATH_MAX_LEN];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

void *segment_map_peer(pid_t pid, int fd, size_t len, size_t align)
{
    int mine = segment_open(pid, fd);

    if (mine < 0)
        return NULL;
    void *p = segment_map(mine, len, align);
    int reason = errno;
    close(mine);
    errno = reason;
    return p;
}

void *segment_map_sink(size_t len, size_t align)
{
    return segment_map(-1, len, align);
}

void segment_unmap(void *p, size_t len)
{
    munmap(p, len);
}
