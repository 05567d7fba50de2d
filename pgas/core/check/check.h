/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h - run-time checks of the arguments of public routines.
 *
 * Each row of the API (rma/api.h) declares the kind of every parameter; check_call
 * checks the values of one call.  It is called when pgas_self.checks is nonzero: outside
 * shmem_init .. shmem_finalize, and under SHMEM_DEBUG.  A violation ends the job with
 * "routine: argument 4 'pe' = 64, but team WORLD has PEs 0..63" and the call site before
 * the call has any effect.  The same slow path records collectives for the arrival
 * profile (check_watch).
 * Uses: core/peer, team, ctx, heap, log.  Used by: rma/api.h, coll.
 */
#ifndef PGAS_CORE_CHECK_H
#define PGAS_CORE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/core/check/check.def"
#include "pgas/core/team/team.h"

#define K(name, same, shown, test) CHECK_##name,
enum check_kind { CHECK_KINDS(K) CHECK_KINDS_END };
#undef K

/* The PEs that participate in a call.  ALONE: the caller only; ANYTIME: likewise, for
 * routines that any thread may call, even before shmem_init; BY_WORLD: all PEs; BY_TEAM:
 * the team of the row's team parameter; BY_SET: the row's active set. */
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
    size_t size; /* bytes per element */
    enum check_scope scope;
    int n; /* number of parameters */
    const char *const *name;
    const uint8_t *kind; /* enum check_kind */
    const uint64_t *value;
    /* Of a recorded collective: the call site, and the time of the call in ns. */
    const void *site;
    uint64_t came;
    uint64_t watch[2]; /* private to the watcher; watch[0] == 0: call not recorded */
};

/* Checks the arguments and ends the job with an error message if one is invalid.  Then
 * reports a collective to the watcher. */
void check_call(struct check_call *call);

/* Reports the return of the call to the watcher. */
void check_return(struct check_call *call);

/* A recorder of collectives: `leave` is called when the routine returns if `enter` has
 * set call->watch[0] != 0.  Any thread may call both. */
struct check_watcher {
    void (*enter)(struct check_call *call);
    void (*leave)(const struct check_call *call);
};

/* Sets the watcher; NULL removes it. */
void check_watch(const struct check_watcher *watcher);

/* True if the expensive checks are on: SHMEM_DEBUG=2. */
bool check_deep(void);

/* Sets pgas_self.checks from pgas_self.life and SHMEM_DEBUG, and pgas_self.checked from
 * pgas_self.checks and the watcher. */
void check_init(void);

/* The value of the call's first parameter of that kind; `absent` if there is none. */
uint64_t check_value(const struct check_call *call, enum check_kind kind,
                     uint64_t absent);

/* The value of the call's team parameter of any kind; 0 if it has none. */
uint64_t check_team_value(const struct check_call *call);

/* Checks a range that only the routine itself can compute: it must be symmetric and, at
 * level 2, inside one allocated block of the heap or in the globals.  Called only if
 * pgas_self.checks is set.  `what` names the argument and the purpose of the range. */
void check_inside(const void *addr, size_t bytes, const char *fn, const char *what);

/* Sets the function that compares the arguments of a collective on all PEs at level 2. */
void check_set_verify(void (*verify)(const struct check_call *call));

/* Sets *out to parameter i in a form that must be equal on all PEs, such as an address as
 * encoded by symaddr_encode.  False if the parameter is not compared. */
bool check_comparable(const struct check_call *call, int i, uint64_t *out);

/* True if parameter i is an address, whose value may differ between PEs. */
bool check_is_address(const struct check_call *call, int i);

#endif
