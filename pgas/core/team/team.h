/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team.h - who takes part: an ordered set of PEs, and the words through which they meet.
 *
 * A handle is a pointer to struct shmem_team, or a small number for the predefined teams.
 * An active set (deprecated, 9.10) is a struct shmem_team on the caller's stack whose
 * words are the user's pSync array.
 * How teams are made and destroyed is in coll/api/split.c, as that is collective.
 *
 * A team is far if not all of its PEs can be mapped (net.h).  The first PE of the team on
 * each node is its leader: leaders meet over the network, the others through their leader
 * (coll/sync/internode.c).  Its PEs on one node are a team of their own too, `near`,
 * which has no handle, and words behind those of the team: with it they meet on their
 * node (coll/algorithms/reduce_internode.c and others). Uses: core/peer, core/heap,
 * core/pool, core/slot, core/net.  Used by: core/ctx, core/check, coll.
 */
#ifndef PGAS_CORE_TEAM_H
#define PGAS_CORE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "include/shmem.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/base/pool.h"
#include "pgas/core/team/slot.h"
#include "pgas/transport/transport.h"

enum {
    TEAM_ROUNDS = 32, /* rounds of a dissemination: log2 of the most PEs */
    TEAM_CPUS = 64,   /* processors that are told apart; the others get no hints */
    TEAM_BOX = 32768, /* bytes of a small collective over nodes, from all PEs */
    TEAM_PUSHES = 32, /* small broadcasts over nodes, after which the leaders meet, */
    TEAM_PUSH_BYTES =
        2048, /* of so many bytes at most (coll/algorithms/bcast_internode.c) */
    TEAM_LEADERS =
        64, /* messages to a leader that can be told apart (coll/sync/leader_msg.h) */
    TEAM_LEFT = 64, /* messages of a leader that are under way at once */
    TEAM_SLOTS = 8, /* calls whose small data lie side by side (coll/sync/mailbox.h) */
    TEAM_SLOT_BYTES = 2048,
    TEAM_LINES = 64, /* the same of those whose data fit one line with the number */
    TEAM_LINE_BYTES = 48,
    TEAM_ORDER = 256, /* PEs at most that note in which order they come */
    /* What a PE has handed on in a rooted chain and the next one may not have read yet
     * (coll/algorithms/reduce_buffered.c): so much of it, in so many parts. */
    TEAM_RELAYS = 8,
    TEAM_RELAY_BYTES = 16 * 1024,
    TEAM_COLLECTIVES = 11, /* that have a choice of algorithms (coll/select/select.h), */
    TEAM_CHOICES = 16,     /* of at most so many by size */
    TEAM_CLASSES = 5,      /* of sizes, in which it adapts (coll/select/adapt.h), */
    TEAM_WAYS = 3,         /* to one of so many algorithms, */
    TEAM_TRIES = 7,        /* each in so many calls at most */
    TEAM_NB_OUT = 8,  /* nonblocking collectives under way (coll/nonblocking/nb.c), */
    TEAM_NB_MEET = 4, /* after so many of which all PEs have met */
    TEAM_NB_SLOTS = 2 * TEAM_NB_OUT + TEAM_NB_MEET,
};

/* What a team has seen of the arrivals of its PEs, and of the ways to do a collective
 * (coll/select/adapt.c): the same on all PEs. */
struct team_adapt {
    uint32_t calls;
    uint8_t ways, way;                         /* those it may take, as bits; the best */
    uint8_t few;                               /* calls of a trial that count */
    uint8_t tries[TEAM_WAYS], seen[TEAM_WAYS]; /* calls of its last trial; known ones */
    uint64_t trial[TEAM_TRIES];                /* those, of the way that is tried */
    uint32_t due[TEAM_WAYS];                   /* the call that tries it once more */
    uint64_t imbalance, settled; /* means of ns for a KiB; that when it was settled */
    uint64_t work[TEAM_WAYS];
};

/* When a PE came to a call, and when it left it; the last such call. */
struct team_times {
    uint64_t came, left;
};
struct team_timed {
    struct team_adapt *state; /* NULL: there is none, or it has been taken in */
    size_t bytes;
    unsigned way;
    struct team_times own; /* of a call to a root */
};

/* An algorithm, for so many bytes of a PE at most. */
struct team_choice {
    size_t most;
    int algorithm;
};

/* What a PE says about its call of a collective, for SHMEM_DEBUG=2 (coll/api/verify.c).
 */
enum { TEAM_FN_MAX = 48, TEAM_VALUES_MAX = 10 };
struct team_call {
    char fn[TEAM_FN_MAX];
    uint64_t value[TEAM_VALUES_MAX];
};

/* What a PE brings to a collective with lengths of its own (collect): how many elements,
 * and from where (check_place). */
struct team_part {
    uint64_t count, place;
};

/* What a PE brings to a call of a small collective on its node, and to which one: the
 * first bytes come with the number, in one line (coll/sync/mailbox.c). */
struct team_slot {
    _Alignas(NODE_LINE) uint64_t call;
    _Alignas(16) char data[TEAM_SLOT_BYTES];
};
struct team_line {
    _Alignas(NODE_LINE) uint64_t call;
    _Alignas(16) char data[TEAM_LINE_BYTES];
};

/* A part of what a PE hands on: the number of the one that is there, and of the last one
 * that has been read, in the chains of the team so far, from 1. */
struct team_relay {
    _Alignas(NODE_LINE) uint64_t filled; /* by its owner */
    _Alignas(NODE_LINE) uint64_t freed;  /* by who has read it */
};

/* How a PE learns in a nonblocking collective what others have done; written by them, in
 * each call by one for each word (coll/nonblocking/nb.c says which word means what). */
struct team_nb {
    _Alignas(NODE_LINE) uint64_t meet[TEAM_ROUNDS]; /* call << 8 | meeting */
    uint64_t down;                                  /* call */
    uint64_t leader_msg, up[TEAM_ROUNDS]; /* 0 = not yet; made 0 again by their owner */
};

/*
 * The words through which a team's PEs meet; each PE has them at the same offset of its
 * heap, and they are zero when the team begins (but for its end).  `arrived`, `epoch` and
 * `cpu` are used on the team's first PE, the others on every PE.  What is written at
 * different times has a line of its own.
 *
 * Far teams: `arrived`, `epoch`, `box`, `landed`, `pushed` and `round` are used on the
 * leaders, and it is the PEs of the leader's node that call.
 */
struct team_words {
    _Alignas(NODE_LINE) uint32_t arrived; /* calls of the barrier so far, all PEs' */
    _Alignas(NODE_LINE) uint32_t epoch;   /* barriers completed */
    /* Barriers, plus 1, that this PE had begun when it left the job; 0 while it is there.
     * Written by its owner alone, before node->left counts it: so a PE that waits has to
     * look at it, in each PE of the team, only once that is not 0. */
    _Alignas(NODE_LINE) uint32_t left;
    /* The same for the calls of mailbox.c; and how many nonblocking ones it has ended,
     * plus
     * 1.  Written before `left`. */
    uint64_t left_call, left_nb;
    /* What slot this PE has for the team that is being made of this one, in rounds with
     * even and odd numbers (coll/api/split.c). */
    _Alignas(NODE_LINE) uint32_t offer[2];
    _Alignas(NODE_LINE) struct team_part part; /* of this PE */
    _Alignas(NODE_LINE) struct team_call call; /* of this PE */
    /* By processor: how many PEs were there at their last call, and as (epoch << 16 | n)
     * how many of those have called in this barrier.  A hint: see barrier.c.  Not in far
     * teams. */
    struct {
        _Alignas(NODE_LINE) uint32_t residents;
        uint32_t called;
    } cpu[TEAM_CPUS];
    struct {
        _Alignas(NODE_LINE) uint32_t epoch; /* the barrier that the partner is in */
        /* Between leaders: the partner's last calls with even and odd numbers, modulo
         * 256 in each byte, or in the first one alone; or how many there were
         * (coll/sync/internode.c).  And where ours are sent from. */
        uint32_t called[2];
        uint8_t call[2];
    } round[TEAM_ROUNDS];
    /* The last message that has come from another leader, of those with the same number
     * modulo TEAM_LEADERS, in collectives with even and odd numbers
     * (coll/sync/leader_msg.c). */
    _Alignas(NODE_LINE) uint64_t landed[2][TEAM_LEADERS];
    /* The last small broadcast that has come, of those with the same number modulo
     * TEAM_PUSHES (coll/algorithms/bcast_internode.c). */
    _Alignas(NODE_LINE) uint64_t pushed[TEAM_PUSHES];
    /* Collectives on one node (coll/sync/mailbox.c): the last call of this PE in which it
     * will read nothing of the others any more; */
    _Alignas(NODE_LINE) uint64_t done;
    /* when it came to and left its last timed calls (coll/select/adapt.c); */
    _Alignas(NODE_LINE) struct team_times seen[2];
    /* what it has handed on in a call, as call << 16 | parts (coll/sync/mailbox.c); */
    _Alignas(NODE_LINE) uint64_t handed;
    /* and on the team's first PE: the last call for which one PE does the work, the last
     * one that is done and by whom (call << 16 | PE), how many PEs have come to such
     * calls so far (coll/algorithms/reduce_combiner.c), and who came last to a call in
     * the order of arrival (coll/sync/arrival.c). */
    _Alignas(NODE_LINE) uint64_t claim;
    _Alignas(NODE_LINE) uint64_t lead;
    _Alignas(NODE_LINE) uint64_t gathered;
    _Alignas(NODE_LINE) uint64_t tail;
    /* Who came to that call at which position, as call << 16 | PE; */
    _Alignas(NODE_LINE) uint64_t order[TEAM_ORDER];
    /* and as `tail`, of a call that a PE may leave before others come to it; by its
     * number. */
    struct {
        _Alignas(NODE_LINE) uint64_t tail;
    } queue[TEAM_SLOTS];
    struct team_slot slot[TEAM_SLOTS];
    struct team_line line[TEAM_LINES];
    struct team_nb nb[TEAM_NB_SLOTS];
    struct team_relay relay[TEAM_RELAYS];
    /* The last ones: they need not be zero when a team begins. */
    union {
        /* Parts of chains on one node (coll/algorithms/reduce_buffered.c). */
        _Alignas(NODE_LINE) char relayed[TEAM_RELAYS][TEAM_RELAY_BYTES];
        /* Of a far team: what its PEs bring to a small collective, with even and odd
         * numbers (coll/sync/internode.c); and small broadcasts. */
        struct {
            _Alignas(NODE_LINE) char box[2][TEAM_BOX];
            _Alignas(NODE_LINE) char push[TEAM_PUSHES][TEAM_PUSH_BYTES];
        };
    };
};

/* A message whose source is in use until it has left. */
struct team_left {
    struct transport_completion done;
    int pe;
};

/* Who is where in a far team, as numbers in the team, and what the leaders have done. */
struct team_nodes {
    int local_pes;       /* how many PEs there are on our node */
    const int *local_pe; /* those, ascending: the first one is our leader */
    int leaders, me;     /* how many nodes there are; which of them is ours */
    const int *leader;   /* by node, ascending */
    const int *begin; /* by node: how many PEs the nodes before it have; and the last */
    const int *place; /* of each PE, node by node; NULL: that is its number in the team */
    uint32_t counts;  /* how often the PEs of our node have counted in */
    uint32_t internode_epoch; /* how often the leaders have met */
    uint32_t boxes;           /* how many of those with a box */
    /* Between leaders (coll/sync/leader_msg.c): messages so far; the collectives in which
     * they were, of which all leaders have ended those up to leader_synced; and what has
     * been posted in the last one. */
    uint64_t exchange, leader_calls, leader_synced;
    struct team_left left[TEAM_LEFT];
    unsigned nleft;
    uint64_t eager_seq; /* small broadcasts so far (coll/algorithms/bcast_internode.c) */
    bool asked; /* all leaders have said where they have space for large reductions: */
    uint64_t *space; /* by node, an offset in the heap; NULL: not all of them have it */
};

struct nb; /* a nonblocking collective */

struct shmem_team {
    struct pool_item item;
    int npes, me;      /* me = number of this PE in the team */
    int start, stride; /* world PE of i = start + i * stride, if list is NULL */
    const int *list;   /* else list[i]; belongs to the team */
    uint32_t epoch;    /* barriers begun by this PE */
    uint32_t counted;  /* those of them that count in `arrived` (coll/sync/barrier.c) */
    uint32_t offers;   /* rounds of offers begun by this PE */
    uint64_t calls;    /* calls with a mailbox begun by this PE (coll/sync/mailbox.c) */
    uint64_t relays;   /* parts of the rooted chains so far: the same on all PEs */
    uint64_t relayed[TEAM_RELAYS]; /* which part is in each of ours; 0: none yet */
    uint64_t known;   /* all PEs have ended those up to this one, for certain */
    uint64_t gathers; /* those of them that count in `gathered` */
    uint64_t nbs; /* nonblocking collectives begun by this PE (coll/nonblocking/nb.c), */
    uint64_t nbs_ended;         /* of which all up to this one have ended; */
    struct nb *nb;              /* those that have not, in the order of their calls; */
    struct nb **nb_end;         /* where the next one goes; */
    struct shmem_team *nb_next; /* another team with such */
    struct team_adapt adapt[3][TEAM_CLASSES]; /* by enum adapt_kind */
    struct team_timed timed, timed_to_root;   /* of its calls that adapt */
    uint64_t timings;                         /* timed calls to all so far */
    bool planned;                             /* the choices below have been made */
    struct team_choice plan[TEAM_COLLECTIVES][TEAM_CHOICES]; /* ascending; to SIZE_MAX */
    int cpu;                  /* where we are a resident, -1 = nowhere yet */
    size_t words_offset;      /* of struct team_words in every PE's heap */
    bool far;                 /* some of its PEs are on other nodes */
    struct team_nodes *nodes; /* of a far team; NULL for an active set */
    struct shmem_team *near;  /* the same: its PEs on our node, as a team of their own */
    long *psync;              /* an active set: symmetric words of the user; else NULL */
    const char *name;         /* "WORLD", "SHARED"; NULL for the user's teams */
    int num_contexts;         /* how many the user has announced; no limit */
    uint32_t contexts;        /* how many there are */
    uint64_t inside;          /* with SHMEM_DEBUG: the thread in a barrier, 0 = none */
    int inside_depth;         /* how often: belongs to that thread */
    uint32_t sets_inside;     /* of the world: calls with an active set of all its PEs */
};

/* Some PEs of a team, in an order: i-th = start + i * stride, or list[i]. */
struct team_set {
    int size, start, stride;
    const int *list; /* or NULL */
};

static inline int team_set_at(const struct team_set *set, int i)
{
    return set->list != NULL ? set->list[i] : set->start + i * set->stride;
}

/* Is one of its PEs far?  Looks at all of them. */
bool team_has_remote(const struct shmem_team *team);
/* How many of them? */
int team_count_remote(const struct shmem_team *team);

/* Are the n >= 1 PEs of a list start + i * stride? */
bool team_strided(const int *list, int n, int *start, int *stride);

/* The team behind a handle; ends the job with a sentence if there is none. */
struct shmem_team *team_of(shmem_team_t handle, const char *fn);

/* SHMEM_TEAM_WORLD, on behalf of whatever routine the thread is in. */
struct shmem_team *team_world(void);

/* Is it the handle of a team?  For any value; false for SHMEM_TEAM_INVALID. */
bool team_alive(shmem_team_t handle);

/* PE number in the world of PE i of the team, 0 <= i < npes. */
static inline int team_world_pe(const struct shmem_team *team, int i)
{
    return team->list != NULL ? team->list[i] : team->start + i * team->stride;
}

/* The words of PE i of the team, which is not far. */
struct team_words *team_words(const struct shmem_team *team, int i);

/* The place of PE i of a far team when they are counted node by node; for teams of at
 * most TEAM_BOX PEs. */
static inline int team_place(const struct shmem_team *team, int i)
{
    return team->nodes->place != NULL ? team->nodes->place[i] : i;
}

/* Which node of a far team has its PE i. */
int team_node(const struct shmem_team *team, int i);

/* Where a slot's words are in the heap: those of the predefined teams in the reserved
 * part (heap.h), those of the user's teams behind it.  And the slot of a team. */
size_t team_slot_offset(uint32_t slot);
uint32_t team_slot(const struct shmem_team *team);

/* The symmetric address of a word of team_words(team, i): the same word in our heap. */
const void *team_here(const struct shmem_team *team, size_t offset);

/* Barriers of the world team that this PE has begun. */
uint32_t team_world_epoch(void);

/* The number in the team of a PE of the world; -1 if it is not in it. */
int team_index(const struct shmem_team *team, int world_pe);

/* A team of some PEs of the parent, of which we are one; NULL without memory.  It has no
 * words and is not alive before team_begin. */
struct shmem_team *team_new(const struct shmem_team *parent, const struct team_set *set);
/* Its words are in this slot: clear ours.  Others may use them after a barrier. */
void team_begin(struct shmem_team *team, uint32_t slot);
/* Free it, begun or not, with its slot.  No PE may use the words any more. */
void team_free(struct shmem_team *team);

/* Set up the predefined teams; after the heap. */
void team_init(void);
/* Say in the words of all teams alive that this PE comes to no more barriers. */
void team_leave_all(void);
/* Free the teams that are left. */
void team_fini(void);

#endif
