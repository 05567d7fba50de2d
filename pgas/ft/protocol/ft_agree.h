/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_agree.h - agreement of the live member nodes of a team on words and on the set of
 * failed PEs, uniform over the survivors.
 *
 * The coordinator of an instance is its lowest live member node.  All member nodes send
 * their contributions to it; when it has those of all live members, it combines them and
 * broadcasts the decision reliably (forwarded before delivered).
 *
 * Views.  A view is (coordinator, incarnation of its agent); views are ordered, and the
 * view of a node follows from what it knows: it only increases.  When its view increases,
 * a node sends its contribution again, to the new coordinator.  A coordinator of a later
 * view asks all members: a node that delivered a decision answers with it, and the
 * coordinator adopts the one of the latest view instead of combining.
 *
 * Why decisions are uniform: after contributing without a decision to view v a node
 * ignores decisions of views before v.  So a live node that delivers a decision of an
 * earlier view delivered it before it contributed to v, and its contribution to v carries
 * that decision; the coordinator of v needs the contributions of all live members, so it
 * cannot decide otherwise.
 *
 * How long decisions are kept.  Only a live member that has not delivered the decision of
 * (team, seq) can ask for it.  Such a member has not contributed to seq + 1, so no
 * decision of seq + 1 exists: delivering the decision of seq + 1 frees that of seq.  Each
 * team thus holds at most two instances, and with `slots` at least twice the number of
 * teams that agree concurrently, the instances evicted under pressure (decided ones,
 * least recently used first) belong to teams that do not agree any more.
 *
 * No clock, no I/O, no malloc; memory, failed sets and incarnations belong to the caller.
 * Uses: ft_types, ft_wire (sets).  Used by: ft_proto.
 */
#ifndef PGAS_FT_AGREE_H
#define PGAS_FT_AGREE_H

#include "pgas/ft/ft_types.h"

#define FT_VIEW_NONE UINT64_C(0)

struct ft_contribution {
    struct ft_key key;
    uint64_t view;         /* the view that it contributes to */
    uint64_t decided_view; /* words and failed are the decision of this view; or NONE */
    struct ft_words words;
    const uint64_t *failed; /* npes bits */
};

/* Called during the functions below; they must not call them. */
struct ft_agree_outputs {
    void (*contribute)(void *owner, uint32_t to, const struct ft_contribution *c);
    void (*ask)(void *owner, uint32_t to, struct ft_key key, uint64_t view);
    void (*announce)(void *owner, const struct ft_decision *d); /* reliable broadcast */
    void (*reply)(void *owner, uint32_t to, const struct ft_decision *d);
    void (*deliver)(void *owner, const struct ft_decision *d);
};

enum ft_agree_state { FT_AGREE_FREE, FT_AGREE_OPEN, FT_AGREE_DECIDED };

struct ft_agree_instance {
    enum ft_agree_state state;
    bool local; /* this node has contributed: members, own and view are valid */
    bool mixed; /* acc holds at least one contribution */
    struct ft_key key;
    uint64_t view;         /* latest view that this node contributed to */
    uint64_t asked;        /* latest view that asked before this node had a decision */
    uint64_t decided_view; /* OPEN: acc and failed are an adopted decision, or NONE */
    uint64_t used;         /* for eviction */
    struct ft_words own, acc;
    uint64_t *members, *got; /* nodes; got: contributed to this node's view */
    uint64_t *failed;        /* PEs: union of the contributions, or of the decision */
};

struct ft_agree {
    uint32_t me, nnodes, npes, nslots;
    uint32_t *incarnation; /* of each node's agent, as far as known */
    const uint64_t *failed_nodes, *failed_pes;
    const struct ft_agree_outputs *outputs;
    void *owner;
    struct ft_agree_instance *slot; /* [nslots], with their sets allocated, zeroed */
    uint64_t clock;                 /* counts uses */
    uint64_t dropped;               /* contributions dropped because no slot was free */
};

uint64_t ft_agree_view(uint32_t coordinator, uint32_t incarnation);
/* Returns whether `view` names a node below nnodes. */
bool ft_agree_view_valid(const struct ft_agree *a, uint64_t view);

/* This node contributes.  If it has a decision, it sends that to the coordinator and
 * delivers it again.  Returns 0, or -1: no slot. */
int ft_agree_contribute(struct ft_agree *a, struct ft_key key, const uint64_t *members,
                        const struct ft_words *words);
int ft_agree_restore(struct ft_agree *a, const struct ft_decision *d,
                     const uint64_t *members);
void ft_agree_exclude(struct ft_agree *a, struct ft_key key, uint32_t node);
void ft_agree_forget(struct ft_agree *a, uint64_t team);

/* failed_nodes has changed. */
void ft_agree_nodes_failed(struct ft_agree *a);

/* The agent of `node` has at least this incarnation. */
void ft_agree_resumed(struct ft_agree *a, uint32_t node, uint32_t incarnation);

void ft_agree_receive_contribution(struct ft_agree *a, uint32_t from,
                                   const struct ft_contribution *c);
void ft_agree_receive_ask(struct ft_agree *a, uint32_t from, struct ft_key key,
                          uint64_t view);
void ft_agree_receive_decision(struct ft_agree *a, const struct ft_decision *d);

#endif
