/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h - the arguments of a public routine, checked at run time.
 *
 * Each row of the API (rma/api.h) declares what every parameter is; check_call looks at
 * the values of one call.  It is called when pgas_self.checks is not 0: outside
 * shmem_init .. shmem_finalize, and under SHMEM_DEBUG.  A violation ends the job with
 * "routine: argument 4 'pe' = 64, but team WORLD has PEs 0..63", before the call has had
 * any effect.  On the same way somebody may watch the collectives (check_watch).
 * Uses: core/peer, team, ctx, heap, log.  Used by: rma/api.h, coll.
 */
#ifndef PGAS_CORE_CHECK_H
#define PGAS_CORE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/core/check.def"
#include "pgas/core/team.h"

#define K(name, same, shown, test) CHECK_##name,
enum check_kind { CHECK_KINDS(K) CHECK_KINDS_END };
#undef K

/* Who takes part in a call: nobody else; all PEs; the row's TEAM; the row's active set.
 * ANYTIME: the same as ALONE, by any thread and before shmem_init too. */
enum check_scope {
    CHECK_ALONE,
    CHECK_ANYTIME,
    CHECK_BY_WORLD,
    CHECK_BY_TEAM,
    CHECK_BY_SET,
};

enum { CHECK_PARAMS_MAX = 10 };

/* One call of a row. */
struct check_call {
    const char *fn;
    size_t size; /* of an element, in bytes */
    enum check_scope scope;
    int n; /* parameters */
    const char *const *name;
    const uint8_t *kind; /* enum check_kind */
    const uint64_t *value;
    /* A collective that is watched: from where it was called, and when, in ns */
    const void *site;
    uint64_t came;
    uint64_t watch[2]; /* the watcher's: not watched if the first one is 0 */
};

/* Look at the arguments: return, or end the job with a sentence about the first one that
 * is wrong.  Then the watcher gets to know of a collective. */
void check_call(struct check_call *call);

/* The call returns: for the watcher. */
void check_return(struct check_call *call);

/* Who watches the collectives: `enter` may set call->watch, and if so `leave` is called
 * when the routine is done.  Any thread calls them. */
struct check_watcher {
    void (*enter)(struct check_call *call);
    void (*leave)(const struct check_call *call);
};

/* Have them called from now on; NULL: nobody's. */
void check_watch(const struct check_watcher *watcher);

/* From where the calling thread calls a collective; set by the routine itself. */
extern __attribute__((visibility("hidden"),
                      tls_model("initial-exec"))) _Thread_local const void *check_site;

/* Are the costly checks on: SHMEM_DEBUG=2? */
bool check_deep(void);

/* Set pgas_self.checks from the life of the library and SHMEM_DEBUG, and pgas_self.twins
 * from that and the watcher. */
void check_init(void);

/* The value of the call's first parameter of that kind; `absent` if there is none. */
uint64_t check_value(const struct check_call *call, enum check_kind kind,
                     uint64_t absent);

/* The value of its parameter that is a team, of whatever kind; 0 if there is none. */
uint64_t check_team_value(const struct check_call *call);

/* For a range that only the routine itself can know, under pgas_self.checks: it must be
 * symmetric, and at level 2 in one live block of the heap or in the globals.  `what`
 * names the argument and says what the range is for. */
void check_inside(const void *addr, size_t bytes, const char *fn, const char *what);

/* A symmetric address as a number that is the same on all PEs, and not 0; 0 for any
 * other address.  And back. */
uint64_t check_place(uintptr_t address);
const void *check_address(uint64_t place);

/* What PEs that do a collective together compare at level 2: set once by coll, which
 * knows how to meet. */
extern void (*check_meet)(const struct check_call *call);

/* One value that must be the same on all PEs, as the same number on all of them; false
 * if the parameter is not compared. */
bool check_comparable(const struct check_call *call, int i, uint64_t *out);

/* Is parameter i an array, of which no two PEs print the same value? */
bool check_is_address(const struct check_call *call, int i);

#endif
