/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_steps.c - the steps of the schedules of nonblocking collectives, none of which
 * waits.  A signal is a word in the sync slot of its receiver.  Data are moved by gets: a
 * copy from a mapped PE, up to NB_GETS outstanding gets from remote PEs.
 * Uses: nb_int, executor, core/net, core/stress, rma, datatype/copy.
 *
 * Words.  Tag t of a phase has a word of its own, which the sender of that message sets
 * (release) and the receiver resets to 0 when it executes the RECV.  The schedules use a
 * tag again only when the sender knows that the message before has been received, so that
 * no signal is lost, even if the network delivers two stores of a PE in either order.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/nonblocking/nb_int.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

/* Values of a signal: the page of the heap where the sender's DATA begin, or NB_SAME. */
enum { NB_SAME = 1, NB_PAGE = 4096 };

/* ---- signals --------------------------------------------------------------------- */

static int nb_pe_of(const struct nb *r, int rank)
{
    const struct nb_phase *p = &r->phase[r->current];

    return (int)((p->root + (int64_t)rank * p->stride) % r->team->npes);
}

static size_t nb_word_offset(const struct nb *r, int tag)
{
    int word = r->phase[r->current].word + tag;

    return r->team->coll->extent + offsetof(struct team_extent, nb) +
           r->call % NB_SLOTS * sizeof(struct nb_slot) + offsetof(struct nb_slot, word) +
           (size_t)word * sizeof(uint32_t);
}

/* Sets the word of a tag of a PE; false: no resources now. */
static bool nb_signal(const struct nb *r, int pe, int tag, uint32_t value)
{
    const void *here = team_here(r->team, nb_word_offset(r, tag));

    stress_point();
    if (net_remote(pe))
        return net_start_set(net_ctx_0(), peer_symaddr(here, sizeof value, pe, r->fn),
                             value, sizeof value, r->fn);
    store_release_u32(peer_at(here, sizeof value, pe, r->fn), value);
    rma_changed(here, sizeof value, pe);
    return true;
}

static bool nb_arrived(void *job, const struct schedule_step *step)
{
    struct nb *r = job;
    uint32_t *word = (uint32_t *)((char *)team_words(r->team, r->team->me) +
                                  nb_word_offset(r, step->tag));
    uint32_t value = load_acquire_u32(word);

    if (value == 0)
        return false;
    store_relaxed_u32(word, 0);
    r->peer_data = value == NB_SAME ? 0 : (size_t)value * NB_PAGE;
    stress_point();
    return true;
}

/* ---- gets ------------------------------------------------------------------------- */

/* Retires completed gets; returns a free record or NULL. */
static struct nb_get *nb_get_free(struct nb *r)
{
    struct nb_get *unused = NULL;

    for (int i = 0; i < NB_GETS; i++) {
        struct nb_get *g = &r->get[i];
        if (g->busy && load_acquire_u32(&g->done.pending) == 0)
            g->busy = !net_check_done(&g->done, g->pe, r->fn);
        if (!g->busy)
            unused = g;
    }
    return unused;
}

static bool nb_gets_done(struct nb *r)
{
    (void)nb_get_free(r);
    for (int i = 0; i < NB_GETS; i++)
        if (r->get[i].busy)
            return false;
    return true;
}

/* Memory of a region of this PE; and its symmetric address on PE i of the team. */
static char *nb_region(const struct nb *r, const struct schedule_region *region)
{
    size_t at = region->first * r->size;

    return region->space == SPACE_INBOX    ? r->inbox + at
           : region->space == SPACE_SOURCE ? (char *)r->source + at
                                           : r->data + at;
}

static const char *nb_region_of(const struct nb *r, int i,
                                const struct schedule_region *region)
{
    const char *data = r->peer_data != 0 ? (char *)pgas_self.heap_base + r->peer_data
                       : i == r->root    ? r->root_data
                                         : r->dest;

    return (region->space == SPACE_SOURCE ? r->source : data) + region->first * r->size;
}

/* A get into the inbox that need not be copied is only a pointer if the PE is local. */
static bool nb_get(void *job, const struct schedule_step *step)
{
    struct nb *r = job;
    int i = nb_pe_of(r, step->peer), pe = team_world_pe(r->team, i);
    size_t bytes = step->to.count * r->size;
    const char *from = nb_region_of(r, i, &step->from);
    bool inbox = step->to.space == SPACE_INBOX, remote = net_remote(pe);
    struct nb_get *g = remote ? nb_get_free(r) : NULL;

    if (bytes == 0)
        return true;
    if (inbox)
        r->part[step->to.first / r->segment] =
            remote || step->copied ? NULL : peer_at(from, bytes, pe, r->fn);
    if (!remote && (!inbox || step->copied))
        copy_bytes(nb_region(r, &step->to), peer_at(from, bytes, pe, r->fn), bytes);
    if (!remote)
        return true;
    if (g == NULL)
        return false;
    g->pe = pe;
    g->busy = net_start_get(net_ctx_0(), nb_region(r, &step->to),
                            peer_symaddr(from, bytes, pe, r->fn), bytes, &g->done, r->fn);
    return g->busy;
}

/* ---- the other steps ----------------------------------------------------------------
 */

/* The data of a GET have arrived before the next SEND and REDUCE. */
static bool nb_send(void *job, const struct schedule_step *step)
{
    struct nb *r = job;
    uint32_t value = r->memory != 0 ? (uint32_t)(r->memory / NB_PAGE) : NB_SAME;

    return nb_gets_done(r) &&
           nb_signal(r, team_world_pe(r->team, nb_pe_of(r, step->peer)), step->tag,
                     value);
}

static bool nb_compute(void *job, const struct schedule_step *step)
{
    struct nb *r = job;
    const struct schedule_region *in = &step->from;
    const char *part = in->space == SPACE_INBOX ? r->part[in->first / r->segment] : NULL;
    const char *from = part != NULL ? part : nb_region(r, in);
    char *to = nb_region(r, &step->to);

    if (!nb_gets_done(r))
        return false;
    if (step->kind == STEP_REDUCE && step->before)
        r->op->three(to, from, to, step->to.count);
    else if (step->kind == STEP_REDUCE)
        r->op->two(to, from, step->to.count);
    else if (to != from)
        copy_bytes(to, from, step->to.count * r->size);
    return true;
}

static const struct executor_ops nb_executor_ops = {
    .send = nb_send, .arrived = nb_arrived, .get = nb_get, .compute = nb_compute};

/* ---- phases ------------------------------------------------------------------------ */

void nb_phase_add(struct nb *r, const struct nb_phase *phase)
{
    const struct schedule s = {.name = phase->name, .nodes = phase->nodes};
    struct nb_phase *p = &r->phase[r->phases];

    PGAS_ASSERT(r->phases < NB_PHASES && r->memory % NB_PAGE == 0 &&
                r->memory / NB_PAGE <= UINT32_MAX);
    if (phase->rank >= 0) {
        *p = *phase;
        p->word = r->words;
        r->phases++;
    }
    r->words += schedule_tags(&s);
    PGAS_ASSERT(r->words <= NB_WORDS);
}

static void nb_phase_begin(struct nb *r)
{
    const struct nb_phase *p = &r->phase[r->current];

    r->executor = (struct executor){.schedule = {.name = p->name,
                                                 .nodes = p->nodes,
                                                 .rank = p->rank,
                                                 .units = r->n,
                                                 .line = r->line,
                                                 .segment = r->segment},
                                    .ops = &nb_executor_ops,
                                    .job = r};
}

bool nb_advance(struct nb *r)
{
    for (; r->current < r->phases; r->current++, r->executor.job = NULL) {
        if (r->executor.job == NULL)
            nb_phase_begin(r);
        if (!executor_advance(&r->executor))
            return false;
    }
    if (r->deliver != NULL)
        memmove(r->dest, r->deliver, r->bytes);
    if (r->zeros)
        memset(r->dest, 0, r->bytes);
    return true;
}
