/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_agree.c - agreement of the live member nodes of a team (ft_agree.h). */
#include "config.h"

#include "pgas/ft/protocol/ft_agree.h"
#include "pgas/ft/protocol/ft_wire.h"

#include <string.h>

/* ---- views
 * ------------------------------------------------------------------------------- */

uint64_t ft_agree_view(uint32_t coordinator, uint32_t incarnation)
{
    return ((uint64_t)coordinator + 1) << 32 | incarnation;
}

static uint32_t ft_agree_coordinator(uint64_t view)
{
    return (uint32_t)(view >> 32) - 1;
}

bool ft_agree_view_valid(const struct ft_agree *a, uint64_t view)
{
    return view >> 32 != 0 && ft_agree_coordinator(view) < a->nnodes;
}

/* ---- instances
 * --------------------------------------------------------------------------- */

static struct ft_agree_instance *ft_agree_find(struct ft_agree *a, struct ft_key key)
{
    for (uint32_t i = 0; i < a->nslots; i++) {
        struct ft_agree_instance *inst = &a->slot[i];

        if (inst->state != FT_AGREE_FREE && inst->key.team == key.team &&
            inst->key.seq == key.seq)
            return inst;
    }
    return NULL;
}

/* A free slot, or the decided one that was not used for the longest time; NULL if none.
 */
static struct ft_agree_instance *ft_agree_alloc(struct ft_agree *a, struct ft_key key)
{
    struct ft_agree_instance *best = NULL;

    for (uint32_t i = 0; i < a->nslots; i++) {
        struct ft_agree_instance *inst = &a->slot[i];

        if (inst->state == FT_AGREE_FREE) {
            best = inst;
            break;
        }
        if (inst->state == FT_AGREE_DECIDED && (best == NULL || inst->used < best->used))
            best = inst;
    }
    if (best == NULL)
        return NULL;
    uint64_t *members = best->members, *got = best->got, *failed = best->failed;

    memset(members, 0, FT_SET_WORDS(a->nnodes) * sizeof *members);
    memset(got, 0, FT_SET_WORDS(a->nnodes) * sizeof *got);
    memset(failed, 0, FT_SET_WORDS(a->npes) * sizeof *failed);
    *best = (struct ft_agree_instance){.state = FT_AGREE_OPEN,
                                       .key = key,
                                       .members = members,
                                       .got = got,
                                       .failed = failed,
                                       .used = ++a->clock};
    return best;
}

/* Whether a later agreement of the team is decided here: then all live members have
 * delivered the decision of this one. */
static bool ft_agree_superseded(const struct ft_agree *a, struct ft_key key)
{
    for (uint32_t i = 0; i < a->nslots; i++) {
        const struct ft_agree_instance *inst = &a->slot[i];

        if (inst->state == FT_AGREE_DECIDED && inst->key.team == key.team &&
            (int32_t)(inst->key.seq - key.seq) > 0)
            return true;
    }
    return false;
}

static void ft_agree_free_before(struct ft_agree *a, struct ft_key key)
{
    for (uint32_t i = 0; i < a->nslots; i++) {
        struct ft_agree_instance *inst = &a->slot[i];

        if (inst->state != FT_AGREE_FREE && inst->key.team == key.team &&
            (int32_t)(inst->key.seq - key.seq) < 0)
            inst->state = FT_AGREE_FREE;
    }
}

void ft_agree_forget(struct ft_agree *a, uint64_t team)
{
    for (uint32_t i = 0; i < a->nslots; i++)
        if (a->slot[i].key.team == team)
            a->slot[i].state = FT_AGREE_FREE;
}

static void ft_agree_copy_set(uint64_t *to, const uint64_t *from, uint32_t n)
{
    memcpy(to, from, FT_SET_WORDS(n) * sizeof *to);
}

static void ft_agree_combine(struct ft_agree *a, struct ft_agree_instance *inst,
                             const struct ft_words *words, const uint64_t *failed)
{
    if (!inst->mixed) {
        inst->acc = *words;
        inst->mixed = true;
    } else {
        uint32_t n_and = words->n_and, n = n_and + words->n_max;

        for (uint32_t i = 0; i < n_and; i++)
            inst->acc.word[i] &= words->word[i];
        for (uint32_t i = n_and; i < n; i++)
            if (words->word[i] > inst->acc.word[i])
                inst->acc.word[i] = words->word[i];
    }
    for (size_t i = 0; i < FT_SET_WORDS(a->npes); i++)
        inst->failed[i] |= failed[i];
}

static struct ft_decision ft_agree_decision(const struct ft_agree_instance *inst,
                                            uint64_t view)
{
    return (struct ft_decision){
        .key = inst->key, .view = view, .words = inst->acc, .failed = inst->failed};
}

/* ---- steps
 * ------------------------------------------------------------------------------- */

static void ft_agree_send(struct ft_agree *a, const struct ft_agree_instance *inst,
                          uint64_t view)
{
    struct ft_contribution c = {.key = inst->key, .view = view};

    if (inst->state == FT_AGREE_DECIDED) {
        c.decided_view = inst->decided_view;
        c.words = inst->acc;
        c.failed = inst->failed;
    } else {
        c.words = inst->own;
        c.failed = a->failed_pes;
    }
    a->outputs->contribute(a->owner, ft_agree_coordinator(view), &c);
}

/* The instance has a decision in acc and failed, made in `view`.  It was forwarded
 * before. */
static void ft_agree_deliver(struct ft_agree *a, struct ft_agree_instance *inst,
                             uint64_t view)
{
    struct ft_decision d = ft_agree_decision(inst, view);

    inst->state = FT_AGREE_DECIDED;
    inst->decided_view = view;
    inst->used = ++a->clock;
    if (inst->asked > view && ft_agree_coordinator(inst->asked) != a->me)
        ft_agree_send(a, inst, inst->asked);
    ft_agree_free_before(a, inst->key);
    a->outputs->deliver(a->owner, &d);
}

static bool ft_agree_complete(const struct ft_agree *a,
                              const struct ft_agree_instance *inst)
{
    for (size_t i = 0; i < FT_SET_WORDS(a->nnodes); i++) {
        uint64_t missing = inst->members[i] & ~inst->got[i] & ~a->failed_nodes[i];

        if (a->me / 64 == i)
            missing &= ~(UINT64_C(1) << (a->me % 64));
        if (missing != 0)
            return false;
    }
    return true;
}

static void ft_agree_ask_missing(struct ft_agree *a, const struct ft_agree_instance *inst)
{
    uint32_t n = a->nnodes;

    for (uint32_t i = ft_set_next(inst->members, n, 0); i < n;
         i = ft_set_next(inst->members, n, i + 1))
        if (i != a->me && !ft_set_has(inst->got, i) && !ft_set_has(a->failed_nodes, i))
            a->outputs->ask(a->owner, i, inst->key, inst->view);
}

static uint32_t ft_agree_lowest_live(const struct ft_agree *a,
                                     const struct ft_agree_instance *inst)
{
    for (size_t i = 0; i < FT_SET_WORDS(a->nnodes); i++) {
        uint64_t live = inst->members[i] & ~a->failed_nodes[i];

        if (live != 0)
            return (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(live);
    }
    return a->me;
}

/* Follows the coordinator; decides if this node is it and has all contributions. */
static void ft_agree_update(struct ft_agree *a, struct ft_agree_instance *inst)
{
    if (inst->state != FT_AGREE_OPEN || !inst->local)
        return;
    uint32_t coordinator = ft_agree_lowest_live(a, inst);
    uint64_t view = ft_agree_view(coordinator, a->incarnation[coordinator]);

    if (view > inst->view) {
        /* A decision can exist only if this node (or its predecessor) contributed before.
         */
        bool may_be_decided = inst->view != FT_VIEW_NONE || a->incarnation[a->me] > 0;

        inst->view = view;
        if (coordinator != a->me)
            ft_agree_send(a, inst, view);
        else if (may_be_decided)
            ft_agree_ask_missing(a, inst);
    }
    if (coordinator != a->me || !ft_agree_complete(a, inst))
        return;
    if (inst->decided_view == FT_VIEW_NONE)
        ft_agree_combine(a, inst, &inst->own, a->failed_pes);
    struct ft_decision d = ft_agree_decision(inst, view);

    a->outputs->announce(a->owner, &d);
    ft_agree_deliver(a, inst, view);
}

static void ft_agree_update_all(struct ft_agree *a)
{
    for (uint32_t i = 0; i < a->nslots; i++)
        ft_agree_update(a, &a->slot[i]);
}

/* ---- inputs of this node
 * ----------------------------------------------------------------- */

/* This node contributes again to what is decided here: its host has forgotten the
 * decision, and perhaps the coordinator has, too. */
static void ft_agree_repeat(struct ft_agree *a, const struct ft_agree_instance *inst)
{
    uint32_t coordinator = ft_agree_lowest_live(a, inst);
    struct ft_decision d = ft_agree_decision(inst, inst->decided_view);

    if (coordinator != a->me)
        ft_agree_send(a, inst, ft_agree_view(coordinator, a->incarnation[coordinator]));
    a->outputs->deliver(a->owner, &d);
}

int ft_agree_contribute(struct ft_agree *a, struct ft_key key, const uint64_t *members,
                        const struct ft_words *words)
{
    struct ft_agree_instance *inst = ft_agree_find(a, key);

    if (inst == NULL)
        inst = ft_agree_alloc(a, key);
    if (inst == NULL)
        return -1;
    if (inst->local) {
        if (inst->state == FT_AGREE_DECIDED)
            ft_agree_repeat(a, inst);
        return 0;
    }
    inst->local = true;
    inst->own = *words;
    ft_agree_copy_set(inst->members, members, a->nnodes);
    ft_set_add(inst->members, a->me);
    if (inst->mixed &&
        (inst->acc.n_and != words->n_and || inst->acc.n_max != words->n_max)) {
        /* The early contributions are not of this agreement. */
        inst->mixed = false;
        inst->decided_view = FT_VIEW_NONE;
        memset(inst->got, 0, FT_SET_WORDS(a->nnodes) * sizeof *inst->got);
        memset(inst->failed, 0, FT_SET_WORDS(a->npes) * sizeof *inst->failed);
    }
    ft_agree_update(a, inst);
    return 0;
}

int ft_agree_restore(struct ft_agree *a, const struct ft_decision *d,
                     const uint64_t *members)
{
    struct ft_agree_instance *inst = ft_agree_find(a, d->key);

    if (inst == NULL)
        inst = ft_agree_alloc(a, d->key);
    if (inst == NULL)
        return -1;
    inst->local = true;
    inst->own = inst->acc = d->words;
    ft_agree_copy_set(inst->members, members, a->nnodes);
    ft_agree_copy_set(inst->failed, d->failed, a->npes);
    inst->state = FT_AGREE_DECIDED;
    inst->view = inst->decided_view = d->view;
    return 0;
}

void ft_agree_exclude(struct ft_agree *a, struct ft_key key, uint32_t node)
{
    struct ft_agree_instance *inst = ft_agree_find(a, key);

    if (inst == NULL || !inst->local || node == a->me)
        return;
    ft_set_remove(inst->members, node);
    ft_agree_update(a, inst);
}

void ft_agree_nodes_failed(struct ft_agree *a)
{
    ft_agree_update_all(a);
}

void ft_agree_resumed(struct ft_agree *a, uint32_t node, uint32_t incarnation)
{
    if (node == a->me || incarnation <= a->incarnation[node])
        return;
    a->incarnation[node] = incarnation;
    ft_agree_update_all(a);
}

/* ---- inputs from other nodes
 * ------------------------------------------------------------- */

static bool ft_agree_fits(const struct ft_agree_instance *inst,
                          const struct ft_words *words)
{
    const struct ft_words *known = inst->local ? &inst->own : &inst->acc;

    return (!inst->local && !inst->mixed) ||
           (known->n_and == words->n_and && known->n_max == words->n_max);
}

static void ft_agree_adopt(struct ft_agree *a, struct ft_agree_instance *inst,
                           const struct ft_words *words, const uint64_t *failed,
                           uint64_t view)
{
    inst->acc = *words;
    inst->mixed = true;
    inst->decided_view = view;
    ft_agree_copy_set(inst->failed, failed, a->npes);
}

void ft_agree_receive_contribution(struct ft_agree *a, uint32_t from,
                                   const struct ft_contribution *c)
{
    uint64_t mine = ft_agree_view(a->me, a->incarnation[a->me]);
    struct ft_agree_instance *inst = ft_agree_find(a, c->key);

    if (ft_agree_coordinator(c->view) != a->me || c->view > mine)
        return;
    if (c->view < mine) { /* meant for the predecessor of this agent */
        a->outputs->ask(a->owner, from, c->key, mine);
        return;
    }
    if (inst == NULL && ft_agree_superseded(a, c->key))
        return;
    if (inst == NULL && (inst = ft_agree_alloc(a, c->key)) == NULL) {
        a->dropped++;
        return;
    }
    if (!ft_agree_fits(inst, &c->words))
        return;
    if (inst->state == FT_AGREE_DECIDED) {
        if (c->decided_view == FT_VIEW_NONE) {
            struct ft_decision d = ft_agree_decision(inst, mine);

            a->outputs->reply(a->owner, from, &d);
        }
        return;
    }
    if (c->decided_view != FT_VIEW_NONE) {
        if (c->decided_view > inst->decided_view)
            ft_agree_adopt(a, inst, &c->words, c->failed, c->decided_view);
    } else if (inst->decided_view == FT_VIEW_NONE && !ft_set_has(inst->got, from)) {
        ft_agree_combine(a, inst, &c->words, c->failed);
    }
    ft_set_add(inst->got, from);
    ft_agree_update(a, inst);
}

void ft_agree_receive_ask(struct ft_agree *a, uint32_t from, struct ft_key key,
                          uint64_t view)
{
    struct ft_agree_instance *inst;

    if (ft_agree_coordinator(view) != from || from == a->me)
        return;
    ft_agree_resumed(a, from, (uint32_t)view);
    inst = ft_agree_find(a, key);
    if (inst == NULL || !inst->local)
        return;
    if (inst->state == FT_AGREE_DECIDED)
        ft_agree_send(a, inst, view);
    else if (view > inst->asked)
        inst->asked = view;
}

/* The instance has got a decision of an earlier view.  Nodes that have contributed to
 * this node's view already ignore it in that view: they get it as that of this node's
 * view. */
static void ft_agree_answer_early(struct ft_agree *a,
                                  const struct ft_agree_instance *inst)
{
    struct ft_decision d =
        ft_agree_decision(inst, ft_agree_view(a->me, a->incarnation[a->me]));
    uint32_t n = a->nnodes;

    for (uint32_t i = ft_set_next(inst->got, n, 0); i < n;
         i = ft_set_next(inst->got, n, i + 1))
        if (!ft_set_has(a->failed_nodes, i))
            a->outputs->reply(a->owner, i, &d);
}

void ft_agree_receive_decision(struct ft_agree *a, const struct ft_decision *d)
{
    struct ft_agree_instance *inst = ft_agree_find(a, d->key);

    if (inst == NULL || inst->state != FT_AGREE_OPEN || !inst->local ||
        d->view < inst->view || !ft_agree_fits(inst, &d->words))
        return;
    ft_agree_adopt(a, inst, &d->words, d->failed, d->view);
    ft_agree_answer_early(a, inst);
    ft_agree_deliver(a, inst, d->view);
}
