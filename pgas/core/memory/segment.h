/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment.h - anonymous shared memory: sealed memfds.  Peers open one as /proc/PID/fd/N,
 * so that the kernel frees it when the last process that uses it exits.
 * Uses: nothing of ours.  Used by: node, heap, data, peer.
 * A simulated job has its own implementation (tests/sim/segment.c).
 */
#ifndef PGAS_CORE_SEGMENT_H
#define PGAS_CORE_SEGMENT_H

#include <stddef.h>
#include <sys/types.h>

/* Creates a memfd of len bytes, sealed against resizing; -1 with errno. */
int segment_create(const char *name, size_t len);

/* Maps len bytes of fd at an address aligned to `align` (a power of two, 0 = any).
 * NULL with errno. */
void *segment_map(int fd, size_t len, size_t align);

/* Opens the file behind descriptor fd of process pid; -1 with errno. */
int segment_open(pid_t pid, int fd);

/* Maps the file behind descriptor fd of process pid; NULL with errno. */
void *segment_map_peer(pid_t pid, int fd, size_t len, size_t align);

/* Maps private memory of zeros; NULL with errno. */
void *segment_map_sink(size_t len, size_t align);

/* Unmaps what a function above has mapped: all of it. */
void segment_unmap(void *p, size_t len);

#endif
