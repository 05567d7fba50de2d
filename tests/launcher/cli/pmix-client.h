/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix-client.h - internal interfaces of pmix-client.
 *
 * Uses libpmix.  Used by pmix-client.c and pmix-client-job.c.
 */
#ifndef TESTS_CLI_PMIX_CLIENT_H
#define TESTS_CLI_PMIX_CLIENT_H

#include "tools/oshrun/pmix/pmix_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_MS 20000u /* time limit of what must happen */

extern pmix_proc_t me;
extern uint32_t npes;
extern const char *argument;

/* Completion of a nonblocking request. */
struct lock {
    atomic_int done;
    pmix_status_t status;
    uint64_t when;
};

/* Prints the error and ends the PE. */
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);
void want(pmix_status_t got, pmix_status_t expected, const char *what);

uint64_t now_ms(void);
void sleep_ms(uint32_t ms);
void until(atomic_int *flag, int value, const char *what);

pmix_proc_t proc(uint32_t rank);
void on_op(pmix_status_t status, void *lock);
void barrier(void);
void put(const char *key, const void *data, size_t len);
pmix_value_t *get(uint32_t rank, const char *key);
pmix_status_t get_within(uint32_t rank, const char *key, int timeout_s, pmix_value_t **v);
uint32_t get_number(uint32_t rank, const char *key);
void want_text(uint32_t rank, const char *key, const char *text);

/* Set 0: pairs of PEs; 1: every second PE; 2: all but PE 0.  The set that contains PE
 * rank; returns its size, 0 if there is none. */
#define SETS 3
size_t make_set(unsigned set, uint32_t rank, pmix_proc_t *procs);

/* pmix-client-job.c */
void mode_map(void);
void mode_apps(void);
void mode_event(void);
void mode_query(void);
void mode_control(void);
void mode_end(void);
void mode_spawn(void);
void mode_abort_some(void);
void mode_unknown(void);
void mode_group(void);
void mode_connect(void);

#endif
