/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team.h - teams: ordered sets of PEs, with the symmetric words of their collectives.
 *
 * A handle is a pointer to struct shmem_team, or a small number for the predefined teams.
 * coll/api/split.c creates and destroys teams, since both are collective.
 *
 * A team is `far` if some of its PEs cannot be mapped (net.h).  The first PE of the team
 * on each node is the leader of that node: leaders synchronise over the network, the
 * other PEs with their leader (coll/sync/internode.c).  The PEs of a far team on one node
 * also form the team `near`, which has no handle; its words follow those of the far team.
 * The intranode phase of hierarchical collectives runs on it.
 * Uses: core/peer, core/heap, core/pool, core/slot, core/net.
 * Used by: core/ctx, core/check, coll.
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
    TEAM_ROUNDS = 32, /* maximum rounds of dissemination: log2 of the number of PEs */
    TEAM_CPUS = 64,   /* processors with a residency hint (coll/sync/barrier.c) */
    TEAM_BOX = 32768, /* maximum bytes, of all PEs, of a small internode collective */
    /* Small internode broadcasts (coll/algorithms/bcast_internode.c) */
    TEAM_PUSHES = 32,       /* broadcasts between two barriers of the leaders */
    TEAM_PUSH_BYTES = 2048, /* maximum payload */
    /* Messages between leaders (coll/sync/leader_msg.h) */
    TEAM_LEADERS = 64, /* distinct arrival words of a receiver */
    TEAM_LEFT = 64,    /* maximum outstanding sends */
    /* Mailboxes: rings of eager buffers, indexed by call number (coll/sync/mailbox.h) */
    TEAM_SLOTS = 8,
    TEAM_SLOT_BYTES = 2048,
    TEAM_LINES = 64, /* of payloads that share one cache line with the call number */
    TEAM_LINE_BYTES = 48,
    TEAM_ORDER = 256, /* maximum PEs of a team that records the order of arrival */
    /* Ring of segments between neighbours of a rooted chain
     * (coll/algorithms/reduce_buffered.c) */
    TEAM_RELAYS = 8,
    TEAM_RELAY_BYTES = 16 * 1024,
    /* Selection of algorithms (coll/select/select.h) and adaptation (adapt.h) */
    TEAM_COLLECTIVES = 11, /* collectives with a choice of algorithms */
    TEAM_CHOICES = 16,     /* maximum size ranges of one collective */
    TEAM_CLASSES = 5,      /* size classes that adapt independently */
    TEAM_WAYS = 3,         /* candidate algorithms of a class */
    TEAM_TRIES = 7,        /* maximum calls of one trial */
    /* Nonblocking collectives (coll/nonblocking/nb.c) */
    TEAM_NB_OUT = 8,  /* maximum outstanding */
    TEAM_NB_MEET = 4, /* calls between two synchronisations of all PEs */
    TEAM_NB_SLOTS = 2 * TEAM_NB_OUT + TEAM_NB_MEET,
};

/* State of adaptation for one size class (coll/select/adapt.c).  Invariant: equal on all
 * PEs of the team. */
struct team_adapt {
    uint32_t calls;
    uint8_t ways, way; /* bit set of candidate algorithms; the current choice */
    uint8_t few;       /* measured calls of a trial */
    uint8_t tries[TEAM_WAYS],
        seen[TEAM_WAYS];         /* calls of the last trial; measured ones */
    uint64_t trial[TEAM_TRIES];  /* measurements of the current trial */
    uint32_t due[TEAM_WAYS];     /* call number of the next trial */
    uint64_t imbalance, settled; /* mean arrival imbalance, ns per KiB; at the choice */
    uint64_t work[TEAM_WAYS];
};

/* Times at which a PE entered and left its last timed call. */
struct team_times {
    uint64_t came, left;
};
struct team_timed {
    struct team_adapt *state; /* NULL: no measurement is pending */
    size_t bytes;
    unsigned way;
    struct team_times own; /* of a rooted call */
};

/* The algorithm for at most `most` bytes per PE. */
struct team_choice {
    size_t most;
    int algorithm;
};

/* Arguments of a PE's collective call, compared by SHMEM_DEBUG=2 (coll/api/verify.c). */
enum { TEAM_FN_MAX = 48, TEAM_VALUES_MAX = 10 };
struct team_call {
    char fn[TEAM_FN_MAX];
    uint64_t value[TEAM_VALUES_MAX];
};

/* Contribution of a PE to a collective of variable lengths (collect): the number of
 * elements and the source (symaddr_to_place). */
struct team_part {
    uint64_t count, place;
};

/* Eager buffers of small intranode collectives: payload and call number.  A payload of at
 * most TEAM_LINE_BYTES shares a cache line with the number (coll/sync/mailbox.c). */
struct team_slot {
    _Alignas(NODE_LINE) uint64_t call;
    _Alignas(16) char data[TEAM_SLOT_BYTES];
};
struct team_line {
    _Alignas(NODE_LINE) uint64_t call;
    _Alignas(16) char data[TEAM_LINE_BYTES];
};

/* Flow control of one segment of a chain: sequence numbers, counted from 1 over all
 * chains of the team, of the segment stored and of the last one read. */
struct team_relay {
    _Alignas(NODE_LINE) uint64_t filled; /* written by the owner */
    _Alignas(NODE_LINE) uint64_t freed;  /* written by the reader */
};

/* Progress of one nonblocking collective.  Each word has one remote writer per call
 * (coll/nonblocking/nb.c defines the words). */
struct team_nb {
    _Alignas(NODE_LINE) uint64_t meet[TEAM_ROUNDS]; /* call << 8 | synchronisation */
    uint64_t down;                                  /* call */
    uint64_t leader_msg, up[TEAM_ROUNDS];           /* reset to 0 by the owner */
};

/*
 * Symmetric words of a team, at the same heap offset on each of its PEs.  All but the
 * final union are zero when the team begins.  `arrived`, `epoch` and `cpu` are used on
 * the first PE of the team, the other words on every PE.  Words written at different
 * times are in different cache lines.
 *
 * Far teams use `arrived`, `epoch`, `box`, `landed`, `pushed` and `round` of the leaders;
 * `arrived` then counts the PEs of the leader's node.
 */
struct team_words {
    _Alignas(NODE_LINE) uint32_t arrived; /* barrier calls so far, of all PEs */
    _Alignas(NODE_LINE) uint32_t epoch;   /* barriers completed */
    /* 1 + the number of barriers that this PE had begun when it left the job; 0 before.
     * The owner stores it before it increments node->left, so a waiting PE reads it only
     * while node->left is not 0. */
    _Alignas(NODE_LINE) uint32_t left;
    /* The same for mailbox calls and for completed nonblocking collectives; stored before
     * `left`. */
    uint64_t left_call, left_nb;
    /* Slot proposed for a new team, double-buffered by round (coll/api/split.c) */
    _Alignas(NODE_LINE) uint32_t offer[2];
    _Alignas(NODE_LINE) struct team_part part; /* of this PE */
    _Alignas(NODE_LINE) struct team_call call; /* of this PE */
    /* By processor: the number of PEs that ran there at their last call, and (epoch << 16
     * | number of them that have called in this barrier).  Hints (coll/sync/barrier.c);
     * unused in far teams. */
    struct {
        _Alignas(NODE_LINE) uint32_t residents;
        uint32_t called;
    } cpu[TEAM_CPUS];
    struct {
        _Alignas(NODE_LINE) uint32_t epoch; /* barrier that the partner has entered */
        /* Between leaders: the partner's last even and odd call number modulo 256, in
         * each byte or in the first, or the number of its calls (coll/sync/internode.c);
         * and the source of our own puts. */
        uint32_t called[2];
        uint8_t call[2];
    } round[TEAM_ROUNDS];
    /* Sequence number of the last message from another leader, by number modulo
     * TEAM_LEADERS, double-buffered by collective (coll/sync/leader_msg.c) */
    _Alignas(NODE_LINE) uint64_t landed[2][TEAM_LEADERS];
    /* Sequence number of the last small broadcast received, by number modulo TEAM_PUSHES
     * (coll/algorithms/bcast_internode.c) */
    _Alignas(NODE_LINE) uint64_t pushed[TEAM_PUSHES];
    /* Last call whose payloads this PE has finished reading (coll/sync/mailbox.c) */
    _Alignas(NODE_LINE) uint64_t done;
    /* Times of the last timed calls (coll/select/adapt.c) */
    _Alignas(NODE_LINE) struct team_times seen[2];
    /* Parts published in a call: call << 16 | parts (coll/sync/mailbox.c) */
    _Alignas(NODE_LINE) uint64_t handed;
    /* On the first PE of the team.  Combining by one PE
     * (coll/algorithms/reduce_combiner.c): the last call claimed, the last call completed
     * and its combiner (call << 16 | PE), the number of arrivals so far. */
    _Alignas(NODE_LINE) uint64_t claim;
    _Alignas(NODE_LINE) uint64_t lead;
    _Alignas(NODE_LINE) uint64_t gathered;
    /* Arrival order (coll/sync/arrival.c): the last PE that arrived, and the PE at each
     * position (call << 16 | PE). */
    _Alignas(NODE_LINE) uint64_t tail;
    _Alignas(NODE_LINE) uint64_t order[TEAM_ORDER];
    /* `tail` by call number, for calls that a PE may leave before others arrive */
    struct {
        _Alignas(NODE_LINE) uint64_t tail;
    } queue[TEAM_SLOTS];
    struct team_slot slot[TEAM_SLOTS];
    struct team_line line[TEAM_LINES];
    struct team_nb nb[TEAM_NB_SLOTS];
    struct team_relay relay[TEAM_RELAYS];
    /* Payload buffers; not cleared when a team begins, therefore the last members. */
    union {
        /* Segments of intranode chains (coll/algorithms/reduce_buffered.c) */
        _Alignas(NODE_LINE) char relayed[TEAM_RELAYS][TEAM_RELAY_BYTES];
        /* Far teams: contributions to small collectives, double-buffered
         * (coll/sync/internode.c), and small broadcasts */
        struct {
            _Alignas(NODE_LINE) char box[2][TEAM_BOX];
            _Alignas(NODE_LINE) char push[TEAM_PUSHES][TEAM_PUSH_BYTES];
        };
    };
};

/* An outstanding send between leaders; its source is in use until local completion. */
struct team_left {
    struct transport_completion done;
    int pe;
};

/* Distribution of a far team over nodes (PEs by team index), and state of its leaders. */
struct team_nodes {
    int local_pes;       /* number of PEs on this node */
    const int *local_pe; /* those PEs, ascending; local_pe[0] is the leader */
    int leaders, me;     /* number of nodes; index of this node */
    const int *leader;   /* leader of each node, ascending */
    const int *begin;    /* by node: PEs on all nodes before it; leaders + 1 entries */
    const int *place; /* of each PE: its position in node order; NULL: the team index */
    uint32_t counts;  /* arrivals counted so far on this node */
    uint32_t internode_epoch; /* barriers of the leaders so far */
    uint32_t boxes;           /* those of them that carried data */
    /* Messages between leaders (coll/sync/leader_msg.c): number of messages; number of
     * collectives that used them; the last one that all leaders are known to have
     * completed; outstanding sends of the current one. */
    uint64_t exchange, leader_calls, leader_synced;
    struct team_left left[TEAM_LEFT];
    unsigned nleft;
    uint64_t eager_seq; /* small broadcasts so far (coll/algorithms/bcast_internode.c) */
    bool asked;      /* the leaders have exchanged the offsets of their scratch memory */
    uint64_t *space; /* by node: that heap offset; NULL: some leader has none */
};

struct nb; /* a nonblocking collective */

struct shmem_team {
    struct pool_item item;
    int npes, me;      /* me: index of this PE in the team */
    int start, stride; /* world PE of index i = start + i * stride, if list is NULL */
    const int *list;   /* else list[i]; owned by the team */
    const int *sorted; /* indices of list by ascending PE, behind it; NULL: it ascends */
    uint32_t epoch;    /* barriers begun by this PE */
    uint32_t counted;  /* those of them counted in `arrived` (coll/sync/barrier.c) */
    uint32_t offers;   /* rounds of slot proposals begun by this PE */
    uint64_t calls;    /* mailbox calls begun by this PE (coll/sync/mailbox.c) */
    uint64_t relays;   /* segments of rooted chains so far; equal on all PEs */
    uint64_t relayed[TEAM_RELAYS]; /* segment stored in each own buffer; 0: none */
    uint64_t known;                /* last mailbox call known complete on all PEs */
    uint64_t gathers;              /* mailbox calls counted in `gathered` */
    /* Nonblocking collectives (coll/nonblocking/nb.c) */
    uint64_t nbs;               /* begun by this PE */
    uint64_t nbs_ended;         /* all up to this number are complete */
    struct nb *nb;              /* outstanding ones, in call order */
    struct nb **nb_end;         /* end of that list */
    struct shmem_team *nb_next; /* next team with outstanding ones */
    /* Adaptation and selection (coll/select) */
    struct team_adapt adapt[3][TEAM_CLASSES]; /* by enum adapt_kind */
    struct team_timed timed, timed_to_root;   /* pending measurements */
    uint64_t timings;                         /* timed unrooted calls so far */
    bool planned;                             /* `plan` is valid */
    struct team_choice plan[TEAM_COLLECTIVES][TEAM_CHOICES]; /* ascending, to SIZE_MAX */
    int cpu;                  /* processor of this PE's residency hint; -1: none */
    size_t words_offset;      /* heap offset of struct team_words */
    bool far;                 /* some PEs are on other nodes */
    struct team_nodes *nodes; /* of a far team, else NULL */
    struct shmem_team *near;  /* of a far team: its PEs on this node */
    long *psync;              /* of an active set: the user's pSync array, else NULL */
    const char *name;         /* "WORLD", "SHARED"; NULL for user teams */
    int num_contexts;         /* contexts reserved by the user; not a limit */
    uint32_t contexts;        /* existing contexts */
    uint64_t inside;          /* with SHMEM_DEBUG: the thread in a barrier, 0 = none */
    int inside_depth;         /* its nesting; owned by that thread */
    uint32_t sets_inside;     /* of the world: calls with an active set of all its PEs */
};

/* An ordered subset of a team: index i is start + i * stride, or list[i]. */
struct team_set {
    int size, start, stride;
    const int *list; /* or NULL */
};

static inline int team_set_at(const struct team_set *set, int i)
{
    return set->list != NULL ? set->list[i] : set->start + i * set->stride;
}

/* True if some PE of the team cannot be mapped, O(npes); the number of such PEs, O(1)
 * except for an active set. */
bool team_has_remote(const struct shmem_team *team);
int team_count_remote(const struct shmem_team *team);

/* True if the n >= 1 PEs of the list are start + i * stride; sets start and stride. */
bool team_strided(const int *list, int n, int *start, int *stride);

/* The team of a handle; an invalid handle is reported in the name of fn and ends the job.
 */
struct shmem_team *team_of(shmem_team_t handle, const char *fn);

/* SHMEM_TEAM_WORLD; messages name the routine that the thread last called. */
struct shmem_team *team_world(void);

/* True if the value, which may be anything, is the handle of an existing team. */
bool team_alive(shmem_team_t handle);

/* World PE of index i, 0 <= i < npes. */
static inline int team_world_pe(const struct shmem_team *team, int i)
{
    return team->list != NULL ? team->list[i] : team->start + i * team->stride;
}

/* The words of PE i of the team; the PE must be mapped. */
struct team_words *team_words(const struct shmem_team *team, int i);

/* Position of PE i of a far team in node order; for teams of at most TEAM_BOX PEs. */
static inline int team_place(const struct shmem_team *team, int i)
{
    return team->nodes->place != NULL ? team->nodes->place[i] : i;
}

/* Index of the node of PE i in a far team. */
int team_node(const struct shmem_team *team, int i);

/* Heap offset of the words of a slot: predefined teams use the reserved part (heap.h),
 * user teams follow it.  team_slot: the slot of a team. */
size_t team_slot_offset(uint32_t slot);
uint32_t team_slot(const struct shmem_team *team);

/* Symmetric address of the word at this offset of struct team_words. */
const void *team_here(const struct shmem_team *team, size_t offset);

/* Number of barriers of the world team that this PE has begun. */
uint32_t team_world_epoch(void);

/* Index in the team of a world PE; -1 if it is no member. */
int team_index(const struct shmem_team *team, int world_pe);

/* Creates the team of a subset of the parent that contains this PE; NULL: no memory.
 * It has no words, and its handle is invalid, until team_begin. */
struct shmem_team *team_new(const struct shmem_team *parent, const struct team_set *set);
/* Assigns the slot and clears this PE's words; others may use them after a barrier. */
void team_begin(struct shmem_team *team, uint32_t slot);
/* Frees the team, begun or not, and its slot.  No PE may use the words afterwards. */
void team_free(struct shmem_team *team);

/* Creates the predefined teams; requires the heap. */
void team_init(void);
/* Marks this PE as departed in the words of all its teams: it enters no more barriers. */
void team_leave_all(void);
/* Frees all remaining teams. */
void team_fini(void);

#endif
