/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment.h - memory without a name that several processes map: sealed memfds.
 * A peer opens it as /proc/PID/fd/N, so nothing is left behind whoever dies.
 * Uses: nothing of ours.  Used by: node, heap, data, peer.
 */
#ifndef PGAS_CORE_SEGMENT_H
#define PGAS_CORE_SEGMENT_H

#include <stddef.h>
#include <sys/types.h>

/* A memfd of len bytes whose length can't change any more; -1 with errno. */
int segment_create(const char *name, size_t len);

/* Map len bytes of fd at an address aligned to `align` (a power of two, 0 = any).
 * NULL with errno. */
void *segment_map(int fd, size_t len, size_t align);

/* Descriptor of process pid's descriptor fd; -1 with errno. */
int segment_open(pid_t pid, int fd);

/* Map process pid's descriptor fd; NULL with errno. */
void *segment_map_peer(pid_t pid, int fd, size_t len, size_t align);

#endif
