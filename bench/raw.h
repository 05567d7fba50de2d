/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * raw.h - framework of fi_raw and ucp_raw, which measure a network library without
 * OpenSHMEM: the limit with which bench/net compares this library.
 *
 *   fi_raw [options]        the target: serves one initiator and ends
 *   fi_raw [options] HOST   the initiator: measures, prints lines `name size value unit`
 *
 * They exchange their addresses over TCP.  The target only makes progress and polls one
 * word, like a waiting PE.  If an operation can be done in several ways, the fastest
 * result counts.  Every failure ends the process with an error message.  One thread.
 */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net.h"

enum {
    RAW_WINDOW = 64, /* outstanding operations */
    RAW_WAYS = 2,
    RAW_LINE = 64,
    /* Offsets of words in raw.memory. */
    RAW_ATOMIC = NET_SIZE_MAX,
    RAW_PING = RAW_ATOMIC + RAW_LINE,
    RAW_PONG = RAW_PING + RAW_LINE,
    RAW_MEMORY = NET_SIZE_MAX + 4096,
};

/* ---- framework, raw.c ------------------------------------------------------------ */

struct raw {
    const char *provider;  /* option -f; NULL = the library's default */
    unsigned char *memory; /* RAW_MEMORY bytes, registered for remote access */
    unsigned char *local;  /* RAW_MEMORY bytes for sources and results */
    size_t size;           /* bytes of the point being measured */
};
extern struct raw raw;

_Noreturn void raw_fail(const char *what, const char *why);
/* Blocking send and receive over the TCP connection. */
void raw_send(const void *data, size_t len);
void raw_recv(void *data, size_t len);
/* The local numeric address of that connection. */
void raw_own_address(char *to, size_t space);
/* Called in every wait loop: makes progress; fails after 20 s without any. */
void raw_wait(void);

/* ---- network library, fi_raw.c or ucp_raw.c -------------------------------------- */

/* n iterations; returns when all operations are complete at the target. */
typedef void (*raw_body)(long n);

struct raw_row {
    const char *name, *unit;
    raw_body way[RAW_WAYS];
    int per; /* operations per iteration */
};
/* Rows of 8 bytes, and rows for every size.  The last one has no name. */
extern const struct raw_row raw_words[], raw_sizes[];
extern const char raw_name[];

/* Registers raw.memory and connects to the other side.  Returns the name of the provider
 * or the version of the library. */
const char *raw_open(void);
void raw_close(void);
/* Returns the number of events. */
long raw_progress(void);
/* Starts a put of a word to the other side's memory. */
void raw_put_word(size_t at, const uint64_t *value);
/* Waits until all previous puts are complete at the target. */
void raw_flush(void);

#endif
