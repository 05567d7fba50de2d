/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem.h - allocation that cannot fail: without memory the process ends by
 * error_no_memory.
 *
 * A front end or a daemon that goes on after a failed allocation has lost a message or
 * the state of a node, and processes elsewhere wait for it; its end is noticed by all.
 * All of oshrun allocates by these functions, in any thread; free() releases.
 */
#ifndef OSHRUN_UTIL_MEM_H
#define OSHRUN_UTIL_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* n bytes; n = 0 is permitted. */
__attribute__((malloc)) void *mem_alloc(size_t n);

/* n zeroed elements of `size` bytes; n = 0 is permitted. */
__attribute__((malloc)) void *mem_calloc(size_t n, size_t size);

/* p, NULL or from these functions, with n > 0 elements of `size` bytes. */
void *mem_resize(void *p, size_t n, size_t size);

/* n zeroed bytes for a secret, which are left out of core dumps; freed by
 * seal_memory_free(p, n). */
void *mem_secret(size_t n);

/* Copies of a string, and of at most n of its characters. */
__attribute__((malloc)) char *mem_strdup(const char *text);
__attribute__((malloc)) char *mem_strndup(const char *text, size_t n);

/* A formatted string. */
__attribute__((malloc, format(printf, 1, 2))) char *mem_print(const char *format, ...);
__attribute__((malloc)) char *mem_vprint(const char *format, va_list ap);

/* A stream that collects *text, as open_memstream does; mem_stream_close completes it. */
FILE *mem_stream(char **text, size_t *len);
void mem_stream_close(FILE *stream);

#endif
