/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_map.h - the alive map of a node: which PEs of the job have failed, and the mailboxes
 * between the PEs of the node and its agent (ft_agent.h).
 *
 * The map is the last part of the node segment (core/boot/node.h), so that every PE of
 * the node, the node daemon and the agent share it.  Its creator calls ft_map_init; a job
 * with SHMEM_FT=abort leaves it unused, and its pages are never touched.
 *
 * Invariants and memory order.  A bit of `failed` is set once and never cleared.  The
 * thread that sets it (fetch_or, acq_rel) raises `failures` to the number of bits,
 * increments `epoch` with release, and wakes every sleeper of the node: a thread that
 * loads the new epoch with acquire sees the bit.  `epoch` counts changes (failures,
 * revocations). A process may die between these steps; the next ft_map_fail for the PE
 * does the others.
 *
 * A mailbox belongs to its PE while its state is FT_IDLE or FT_DONE, and to the agent
 * while it is FT_POSTED; both hand it over with release.
 *
 * A line of ft_calls is only read and answered by the agent; see ft_commit.h.
 *
 * Revocations.  Each PE has a record for each of its team slots (struct ft_team_slot).
 * The PE stores the unique ID of a new team in it before it enters the last barrier or
 * agreement of the creation, so before any PE has the team and can revoke it.  The agent
 * marks the record, by storing the ID a second time, if the PE's team in the slot is the
 * one that is revoked, or if the PE is certain to have it, though it may not have stored
 * the ID yet: SHMEM_TEAM_WORLD, and SHMEM_TEAM_SHARED of a PE of this node.  No other
 * thread writes a mark.  A team is revoked if the mark is its ID.  So nothing needs to be
 * cleared when another team gets the slot: the mark of the former team is not the ID of
 * the new one, even if the agent stores it later than the PE stores the new ID; and the
 * agent, which processes revocations one after the other, can store the former ID only if
 * it has not yet seen the new one, that is, before it marks the new team.
 *
 * Uses: core/boot/node.h.  Used by: ft, core/progress, coll/api, tools/oshrun.
 */
#ifndef PGAS_FT_MAP_H
#define PGAS_FT_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FT_WORDS = 24,           /* words of a contribution to an agreement */
    FT_SLOTS = 4,            /* mailboxes of a PE: its agreements in progress at a time */
    FT_SECRET = 32,          /* bytes of the key with which agents authenticate */
    FT_ADDRESSES = 4,        /* addresses of an agent, of different interfaces */
    FT_DECIDED = 16,         /* last decisions that the map keeps */
    FT_LINE = 64,            /* bytes of a cache line */
    FT_TEAMS = 4096,         /* teams of a PE whose calls have a uniform outcome */
    FT_TEAM_SLOTS = 1 << 17, /* team slots of a PE */
    FT_SLOT_WORLD = 0,       /* of SHMEM_TEAM_WORLD */
    FT_SLOT_SHARED = 1, /* of SHMEM_TEAM_SHARED, of which each node has another one */
    FT_SLOTS_PREDEFINED = 2,
};

/* An agent's listening address: IPv4 in the first 4 bytes of `ip`, or IPv6. */
struct ft_address {
    uint16_t family; /* AF_INET, AF_INET6; 0: none */
    uint16_t port;   /* host byte order */
    uint8_t ip[16];
    uint32_t scope; /* IPv6 scope ID */
};

/* The agent of a node as its leader PE publishes it. */
struct ft_endpoint {
    struct ft_address address[FT_ADDRESSES];
    uint32_t domain; /* failure domain: hash of a name, or list of SHMEM_FT_DOMAINS */
    uint32_t pad;
};

/* True if one of the agents has no IP address that the other one lacks: they are on one
 * host.  A part of the addresses may be equal on different hosts, such as that of a
 * bridge which all hosts have. */
bool ft_endpoint_share_host(const struct ft_endpoint *a, const struct ft_endpoint *b);

enum ft_mailbox_state { FT_IDLE, FT_POSTED, FT_DONE };
enum ft_request { FT_AGREE = 1, FT_REVOKE };

/* A request of a PE.  The sets of PEs `members` and `failed` follow the mailboxes
 * (ft_map_members, ft_map_agreed). */
struct ft_mailbox {
    _Alignas(FT_LINE) _Atomic uint32_t state; /* enum ft_mailbox_state; a futex */
    uint32_t request;                         /* enum ft_request */
    uint64_t team;                            /* unique ID of the team */
    uint32_t seq;                             /* number of the agreement in the team */
    uint32_t slot;                            /* of the team, to revoke it */
    uint16_t ands, maxs;                      /* ands + maxs <= FT_WORDS */
    /* In: of this PE; out: bitwise and of the first `ands` words, maximum of each of the
     * next `maxs` words, over all PEs that took part. */
    uint64_t word[FT_WORDS];
};

enum ft_agent_state {
    FT_AGENT_NONE,
    FT_AGENT_LISTENING, /* `own` is set */
    FT_AGENT_ARMED,     /* `endpoint` of all nodes is set: the ring may start */
    FT_AGENT_RUNNING,
    FT_AGENT_STOPPED, /* all PEs have finalized */
    FT_AGENT_FAILED,  /* the other agents consider this node failed: its PEs are killed */
};

/* Robust-futex word of a PE (ft_watch.h): the thread ID of its watch thread and
 * FUTEX_WAITERS; 0: not watched. The kernel sets FUTEX_OWNER_DIED when the thread dies.
 */
struct ft_word {
    _Alignas(FT_LINE) _Atomic uint32_t futex;
    /* The last generation of the PE in which it has left shmem_finalize: from then on its
     * end is no failure. */
    _Atomic uint32_t departed;
    /* CLOCK_MONOTONIC milliseconds, modulo 2^32, at which the PE last called or
     * progressed the library; 0: SHMEM_FT_WATCHDOG does not watch it. */
    _Atomic uint32_t alive_ms;
};

/*
 * The result of an agreement, for an agent that takes over: it completes mailboxes that
 * its predecessor has left behind, and knows the result if another node asks.  Only the
 * agent writes it, before it completes the mailboxes: `valid` is 0 meanwhile.
 */
struct ft_decided {
    _Alignas(FT_LINE) _Atomic uint32_t valid;
    uint32_t seq;
    uint64_t team, view;
    uint32_t ands, maxs;
    uint64_t word[FT_WORDS];
};

/*
 * The synchronizing calls of a PE on a team (ft_commit.h), in the line of the team's
 * slot.  The PE writes the first part, the agent the answer.  Calls of a team are
 * numbered from 1; ended <= begun <= ended + 1, except after an answer.
 */
struct ft_call {
    _Atomic uint64_t team;     /* unique ID; 0: none */
    _Atomic uint64_t begun;    /* the last call that the PE has entered */
    _Atomic uint64_t ended;    /* the last call that has succeeded on this PE */
    _Atomic uint64_t asked;    /* the call whose outcome the PE asks for; 0: none */
    uint32_t cause;            /* stored before `asked`: a failed PE of the team, or
                                * FT_CAUSE_REVOKED */
    uint32_t success;          /* stored before `answered`: the outcome of that call */
    _Atomic uint64_t answered; /* the call whose outcome the agent has stored */
};
#define FT_CAUSE_REVOKED UINT32_MAX /* the team is revoked */

/* The lines of a local rank in use, and those with a question for the agent. */
struct ft_calls {
    _Alignas(FT_LINE) _Atomic uint32_t used; /* lines 0 .. used - 1 may be in use */
    _Atomic uint64_t asking[FT_TEAMS / 64];  /* a set of lines */
    _Alignas(FT_LINE) struct ft_call line[FT_TEAMS];
};

/* A team slot of a PE; unique IDs, 0: none. */
struct ft_team_slot {
    _Atomic uint64_t team;    /* the latest team in it; the PE writes it */
    _Atomic uint64_t revoked; /* the latest one that was revoked; the agent writes it */
};

struct ft_map {
    uint32_t npes, nnodes, node; /* of the job; the number of this node */
    uint32_t local;              /* PEs of this node */
    /* Offsets from the map in bytes. */
    uint64_t failed_at, failed_nodes_at, node_of_at, rank_at, word_at, endpoint_at,
        mailbox_at, sets_at, calls_at, slots_at;
    uint64_t decided_at, decided_bytes; /* bytes of one decision with its sets */
    uint32_t node_words;                /* of a set of nodes */
    uint32_t period_ms, timeout_ms;     /* of the ring; stored before FT_AGENT_ARMED */

    _Alignas(FT_LINE) _Atomic uint32_t epoch; /* a futex: number of changes */
    _Atomic uint32_t failures;                /* bits set in `failed` */

    _Alignas(FT_LINE) _Atomic uint32_t agent; /* enum ft_agent_state; a futex */
    _Atomic int32_t agent_pid;                /* the process that hosts the agent */
    /* A futex on which the agent sleeps beside its sockets: incremented for each request,
     * each failure, and each change of `agent`. */
    _Atomic uint32_t event;
    _Atomic uint32_t generation;  /* of the PEs; stored before FT_AGENT_ARMED */
    _Atomic uint32_t incarnation; /* agents that have run on this node */
    uint32_t decisions;           /* stored so far; only the agent uses it */
    uint32_t watchdog_ms;         /* SHMEM_FT_WATCHDOG; stored before FT_AGENT_ARMED */
    uint8_t secret[FT_SECRET];    /* if a PE hosts the agent; else zeros: oshrun has it */
    struct ft_endpoint own;
};

/* Bytes of a map. */
size_t ft_map_bytes(uint32_t npes, uint32_t nnodes, uint32_t local);
/* Writes the header of a map of zeros. */
void ft_map_init(struct ft_map *map, uint32_t npes, uint32_t nnodes, uint32_t node,
                 uint32_t local);

static inline void *ft_map_part(const struct ft_map *map, uint64_t at)
{
    return (char *)(uintptr_t)map + at;
}
/* The node of each PE; the PE of each local rank; written before the agent is armed. */
static inline uint32_t *ft_map_node_of(const struct ft_map *map)
{
    return ft_map_part(map, map->node_of_at);
}
static inline uint32_t *ft_map_rank(const struct ft_map *map)
{
    return ft_map_part(map, map->rank_at);
}
/* The robust-futex word of each local rank. */
static inline struct ft_word *ft_map_word(const struct ft_map *map)
{
    return ft_map_part(map, map->word_at);
}
/* The agents of all nodes. */
static inline struct ft_endpoint *ft_map_endpoint(const struct ft_map *map)
{
    return ft_map_part(map, map->endpoint_at);
}
static inline _Atomic uint64_t *ft_map_failed(const struct ft_map *map)
{
    return ft_map_part(map, map->failed_at);
}
/* The failed nodes, for an agent that takes over; only the agent uses it. */
static inline _Atomic uint64_t *ft_map_failed_nodes(const struct ft_map *map)
{
    return ft_map_part(map, map->failed_nodes_at);
}
/* Words of a set of PEs. */
static inline uint32_t ft_map_set_words(const struct ft_map *map)
{
    return (map->npes + 63) / 64;
}
static inline struct ft_mailbox *ft_map_mailbox(const struct ft_map *map, uint32_t local,
                                                int slot)
{
    struct ft_mailbox *all = ft_map_part(map, map->mailbox_at);
    return &all[local * FT_SLOTS + (uint32_t)slot];
}
/* Of the mailbox: the members of the team; out: the failed PEs that all survivors agree
 * on. */
static inline uint64_t *ft_map_members(const struct ft_map *map, uint32_t local, int slot)
{
    uint64_t *all = ft_map_part(map, map->sets_at);
    return all +
           2 * (uint64_t)ft_map_set_words(map) * (local * FT_SLOTS + (uint32_t)slot);
}
static inline uint64_t *ft_map_agreed(const struct ft_map *map, uint32_t local, int slot)
{
    return ft_map_members(map, local, slot) + ft_map_set_words(map);
}

static inline struct ft_calls *ft_map_calls(const struct ft_map *map, uint32_t local)
{
    struct ft_calls *all = ft_map_part(map, map->calls_at);
    return &all[local];
}

/* The FT_TEAM_SLOTS slots of a local rank; NULL: there is no such slot. */
static inline struct ft_team_slot *ft_map_slot(const struct ft_map *map, uint32_t local,
                                               uint32_t slot)
{
    struct ft_team_slot *all = ft_map_part(map, map->slots_at);
    return slot < FT_TEAM_SLOTS ? &all[(uint64_t)local * FT_TEAM_SLOTS + slot] : NULL;
}

static inline struct ft_decided *ft_map_decided(const struct ft_map *map, uint32_t i)
{
    return ft_map_part(map, map->decided_at + i * map->decided_bytes);
}
/* Of the decision: the failed PEs, and the nodes of the members. */
static inline uint64_t *ft_map_decided_failed(struct ft_decided *decided)
{
    return (uint64_t *)(void *)(decided + 1);
}
static inline uint64_t *ft_map_decided_nodes(const struct ft_map *map,
                                             struct ft_decided *decided)
{
    return ft_map_decided_failed(decided) + ft_map_set_words(map);
}

/* True if the PE is known to have failed. */
static inline bool ft_map_has_failed(const struct ft_map *map, uint32_t pe)
{
    uint64_t word =
        atomic_load_explicit(&ft_map_failed(map)[pe / 64], memory_order_acquire);
    return (word >> pe % 64 & 1) != 0;
}

struct node;

/* Marks the n PEs as failed, wakes the sleepers of the node and the agent.  Any process
 * that maps the segment may call it.  True if one of them was not marked before. */
bool ft_map_fail(struct node *node, const uint32_t *pe, uint32_t n);
/* Marks the team as revoked on its PE of this local rank, if that has it in this slot, or
 * is `certain` to have it; true if it was not marked before.  The caller, the agent,
 * calls ft_map_changed. */
bool ft_map_revoke(struct ft_map *map, uint32_t local, uint32_t slot, uint64_t team,
                   bool certain);
/* True if it is marked. */
bool ft_map_is_revoked(const struct ft_map *map, uint32_t local, uint32_t slot,
                       uint64_t team);
/* Increments `epoch`, and wakes the sleepers of the node and the agent. */
void ft_map_changed(struct node *node);
/* Increments `epoch` though nothing has changed: wakes the threads that sleep on it. */
void ft_map_wake_watchers(struct ft_map *map);
/* Increments `event` and wakes the agent. */
void ft_map_notify_agent(struct ft_map *map);
/* Stores map->agent, and wakes the agent and the sleepers of the node. */
void ft_map_set_agent(struct node *node, enum ft_agent_state state);
/* Answers a question: stores the outcome of the call, and wakes the PE. */
void ft_map_answer(struct node *node, uint32_t local, uint32_t line, bool success);
/* Completes a mailbox: stores FT_DONE and wakes its PE. */
void ft_map_complete(struct node *node, uint32_t local, int slot);
/* Wakes every sleeping thread of the PEs of the node. */
void ft_map_wake_all(struct node *node);

#endif
