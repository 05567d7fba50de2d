/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapt.h - adaptive selection: chooses between candidate algorithms of a collective by
 * measured cost, so that a team uses an arrival-aware algorithm if its PEs arrive
 * imbalanced, and a balanced one otherwise.
 *
 * In a timed call each PE records t_enter and t_exit in the team's sync area.  In a later
 * call in which every PE waits for all others, each PE reads all samples without an extra
 * message.  All PEs therefore compute the same imbalance (from the first to the last
 * t_enter) and the same cost (time in the call without waiting). Each candidate is first
 * sampled in a trial of a few calls; then the one with the least cost is used. The others
 * are retried periodically, less often the higher their cost. A large change of the
 * imbalance restarts all trials.
 *
 * Invariant: all PEs of a team make the same decisions, because they have equal samples.
 *
 * A rooted collective does not make its PEs wait for each other; there the samples are
 * exchanged through a mailbox at the beginning of the call after a timed one.
 *
 * (Such an estimate is proposed as future work in Mohammadalizadehbakhtevari 2021.)
 * Uses: core/team, core/clock, mailbox.  Used by: reduce, select.
 */
#ifndef PGAS_COLL_ADAPT_H
#define PGAS_COLL_ADAPT_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/boot/node.h"
#include "pgas/core/team/team.h"

enum {
    ADAPT_CLASSES = 5,    /* size classes that adapt independently */
    ADAPT_CANDIDATES = 3, /* candidate algorithms of a class */
    ADAPT_TRIES = 7,      /* maximum calls of one trial */
};

/* Separate states for rooted calls, for calls that deliver to all PEs, and for the latter
 * with candidates restricted to a combining order independent of the arrival order. */
enum adapt_kind { ADAPT_TO_ALL, ADAPT_TO_ROOT, ADAPT_IN_ORDER, ADAPT_KINDS };

/* State of one kind and size class.  Invariant: equal on all PEs of the team. */
struct adapt_class {
    uint64_t calls;
    uint8_t candidates;              /* bit set */
    uint8_t candidate;               /* the current choice */
    uint8_t few;                     /* measured calls of a trial */
    uint8_t tries[ADAPT_CANDIDATES]; /* calls of the last trial */
    uint8_t seen[ADAPT_CANDIDATES];  /* samples of these that were read */
    uint64_t trial[ADAPT_TRIES];     /* measurements of the current trial */
    uint64_t due[ADAPT_CANDIDATES];  /* call number of the next trial */
    uint64_t imbalance;              /* mean arrival imbalance, ns per KiB */
    uint64_t settled; /* the imbalance + 1 at the end of the trials; 0: in trials */
    uint64_t work[ADAPT_CANDIDATES];
};

/* Times at which a PE entered and left its last timed call. */
struct adapt_times {
    uint64_t t_enter, t_exit;
};

/* On each PE: the times of its last two timed calls. */
struct adapt_words {
    _Alignas(NODE_LINE) struct adapt_times seen[2];
};

/* A pending measurement. */
struct adapt_sample {
    struct adapt_class *state; /* NULL: none */
    size_t bytes;
    unsigned candidate;
    struct adapt_times own; /* of a rooted call */
};

struct adapt_state {
    struct adapt_class class[ADAPT_KINDS][ADAPT_CLASSES];
    struct adapt_sample timed, timed_to_root;
    uint64_t timings; /* timed unrooted calls so far */
};

/* The state of a team for calls of this kind and size class.  The team must have
 * mailboxes.  `candidates` is 0 before adapt_plan. */
enum { ADAPT_NONE = 1 << ADAPT_CANDIDATES };
struct adapt_class *adapt_class(struct shmem_team *team, enum adapt_kind kind,
                                size_t bytes);

/* Set the candidates, a bit mask; ADAPT_NONE is stored if there are fewer than two. */
void adapt_plan(struct adapt_class *state, unsigned candidates, size_t bytes);
/* Discard all samples because the team's plan changed.  All PEs must call it alike. */
void adapt_reset(struct shmem_team *team);

/* One call in progress. */
struct adapt {
    struct shmem_team *team;
    struct adapt_class *state;
    enum adapt_kind kind;
    size_t bytes;
    unsigned candidate; /* the candidate to use */
    bool timed;
    uint64_t enter_ns;
};

/* Begin and end a call whose state has at least one candidate (state->candidates). */
struct adapt adapt_begin(struct shmem_team *team, enum adapt_kind kind, size_t bytes,
                         struct adapt_class *state, const char *fn);
void adapt_end(struct adapt *a);

/* ---- decisions: pure functions, exported for unit tests ---------------------------- */

/* The candidate for the next call, and whether that call is timed.  At least one of
 * `timed_every` calls is timed. */
unsigned adapt_next(struct adapt_class *state, unsigned timed_every, bool *timed);

/* Add the sample of a call that used `candidate`; equal on all PEs. */
void adapt_learn(struct adapt_class *state, unsigned candidate, uint64_t imbalance,
                 uint64_t work);

#endif
