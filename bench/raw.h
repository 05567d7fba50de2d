/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * raw.h - framework of fi_raw and ucp_raw, which measure a network library alone: the
 * limit with which bench/net compares this library.
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
    RAW_WINDOW = 64, /* operations that are outstanding */
    RAW_WAYS = 2,
    RAW_LINE = 64,
    /* Where words lie in the memory that the other side reaches. */
    RAW_ATOMIC = NET_SIZE_MAX,
    RAW_PING = RAW_ATOMIC + RAW_LINE,
    RAW_PONG = RAW_PING + RAW_LINE,
    RAW_MEMORY = NET_SIZE_MAX + 4096,
};

/* ---- the frame, raw.c ------------------------------------------------------------ */

struct raw {
    const char *provider;  /* option -f; NULL = the library's default */
    unsigned char *memory; /* RAW_MEMORY bytes that the other side may reach */
    unsigned char *local;  /* as much, for sources and results */
    size_t size;           /* bytes of the point being measured */
};
extern struct raw raw;

_Noreturn void raw_fail(const char *what, const char *why);
/* To and from the other side, over TCP. */
void raw_tell(const void *data, size_t len);
void raw_hear(void *data, size_t len);
/* The address of this side on that connection, as a number. */
void raw_own_address(char *to, size_t space);
/* In every loop that waits: progress, and an end if nothing happens for long. */
void raw_wait(void);

/* ---- the library, fi_raw.c or ucp_raw.c ------------------------------------------ */

/* n times; ends when all has happened at the target. */
typedef void (*raw_body)(long n);

struct raw_row {
    const char *name, *unit;
    raw_body way[RAW_WAYS];
    int per; /* operations of one iteration */
};
/* Rows of 8 bytes, and rows for every size.  The last one has no name. */
extern const struct raw_row raw_words[], raw_sizes[];
extern const char raw_name[];

/* Make raw.memory reachable, meet the other side.  Returns a line that says with what. */
const char *raw_open(void);
void raw_close(void);
/* Returns how much happened. */
long raw_progress(void);
/* Store a word in the other side's memory, soon. */
void raw_put_word(size_t at, const uint64_t *value);
/* All puts so far have happened. */
void raw_flush(void);

#endif
