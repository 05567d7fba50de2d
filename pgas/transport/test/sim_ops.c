/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_ops.c - the sim transport: operations as events.
 *
 * An operation has two events: its request arrives (the effect at the target), and its
 * reply arrives (it is appended to the list of ended operations).  It is done when its PE
 * makes progress.
 * Uses: sim_int, random, perform.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"
#include "pgas/transport/test/random.h"
#include "pgas/transport/test/sim_int.h"

enum kind { KIND_PUT, KIND_GET, KIND_AMO, KIND_SIGNAL, KIND_BLOCKS };
enum phase { PHASE_REQUEST, PHASE_REPLY };

struct sim_op {
    struct transport_ctx *ctx;      /* NULL: the context was closed */
    struct sim_op *next, *previous; /* of the context */
    struct sim_op *next_ended;      /* in ctx->ended or in a fiber's list of early ones */
    bool in_flight;                 /* it has an event or is early */
    bool silent;                    /* its target died silently: it never ends */
    enum phase phase;
    enum kind kind;
    struct transport_symaddr at;
    size_t len;
    const char *from;
    char *to;
    struct transport_amo amo;
    struct transport_signal signal;
    uint64_t value;              /* amo: the old value */
    struct transport_blocks put; /* its bytes, and of a get NULL: */
    const struct transport_blocks *get;
    struct transport_completion *done;
    int error;
    char copy[]; /* source of a put with done */
};

/* A PE to which a context has posted operations: the arrival time of the last one, and of
 * the last one before the latest fence. */
struct contact {
    int pe; /* -1 = an empty entry */
    uint64_t epoch, last, fenced;
    uint64_t counted; /* 1 + fiber.epoch of the traffic in which it is counted */
};

struct transport_ctx {
    struct transport_net *net;
    struct transport_ctx *next;
    struct sim_op *ops;     /* operations that are not done, the newest first */
    uint64_t nops, unacked; /* their number; unacknowledged puts with signal among them */
    struct sim_op *ended, **ended_end;
    uint64_t epoch;
    struct contact *contact; /* hash table by PE; space: a power of two, or 0 */
    size_t contacts, space;
};

struct transport_net {
    const struct transport_world *world;
    struct sim *sim;
    struct transport_ctx *ctxs; /* the last one is context 0 */
    struct transport_ctx *ctx_0;
    int ended;   /* ended operations of all contexts, not yet done */
    int skipped; /* value of `ended` when progress last skipped a yield for them */
    bool *lost;  /* by PE: sim_lost was called; NULL: for no PE */
    char text[TRANSPORT_TEXT_MAX];
};

/* -- contexts --------------------------------------------------------------------- */

static int sim_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    struct transport_ctx *c = calloc(1, sizeof *c);

    if (c == NULL)
        return -ENOMEM;
    c->net = net;
    c->epoch = 1;
    c->ended_end = &c->ended;
    c->next = net->ctxs;
    net->ctxs = c;
    *ctx = c;
    return 0;
}

static bool sim_op_is_unacked(const struct sim_op *op)
{
    return op->kind == KIND_SIGNAL && op->signal.unacked;
}

static void sim_op_unlink(struct sim_op *op)
{
    if (op->next != NULL)
        op->next->previous = op->previous;
    if (op->previous != NULL)
        op->previous->next = op->next;
    else
        op->ctx->ops = op->next;
    op->ctx->nops--;
    op->ctx->unacked -= sim_op_is_unacked(op);
}

static void sim_ctx_close(struct transport_ctx *ctx)
{
    struct transport_ctx **link = &ctx->net->ctxs;

    for (struct sim_op *op = ctx->ended; op != NULL; op = op->next_ended)
        ctx->net->ended--;
    ctx->net->skipped = 0;
    while (ctx->ops != NULL) {
        struct sim_op *op = ctx->ops;
        sim_op_unlink(op);
        op->ctx = NULL;
        if (!op->in_flight)
            free(op);
    }
    while (*link != ctx)
        link = &(*link)->next;
    *link = ctx->next;
    free(ctx->contact);
    free(ctx);
}

static struct transport_ctx *sim_ctx_0(struct transport_net *net)
{
    return net->ctx_0;
}

/* -- arrival times ---------------------------------------------------------------- */

static uint64_t sim_trip_ns(struct sim *sim, size_t bytes)
{
    const struct sim_config *c = &sim->config;
    uint64_t ns = c->latency_ns;

    if (c->jitter_ns > 0)
        ns += random_below(&sim->random, c->jitter_ns + 1);
    if (c->slow_ns > 0 && random_below(&sim->random, SIM_SLOW) == 0)
        ns += random_below(&sim->random, c->slow_ns);
    if (c->bytes_per_ns > 0)
        ns += (uint64_t)((double)bytes / c->bytes_per_ns);
    return ns;
}

static size_t sim_contact_slot(const struct contact *table, size_t space, int pe)
{
    size_t i = (size_t)((uint64_t)pe * RANDOM_STEP >> 32) & (space - 1);

    while (table[i].pe >= 0 && table[i].pe != pe)
        i = (i + 1) & (space - 1);
    return i;
}

/* Double the table, to at least CONTACTS_FIRST. */
static bool sim_contact_grow(struct transport_ctx *ctx)
{
    enum { CONTACTS_FIRST = 8 };
    size_t space = ctx->space > 0 ? 2 * ctx->space : CONTACTS_FIRST;
    struct contact *table = malloc(space * sizeof *table);

    if (table == NULL)
        return false;
    for (size_t i = 0; i < space; i++)
        table[i] = (struct contact){.pe = -1};
    for (size_t i = 0; i < ctx->space; i++)
        if (ctx->contact[i].pe >= 0)
            table[sim_contact_slot(table, space, ctx->contact[i].pe)] = ctx->contact[i];
    free(ctx->contact);
    ctx->contact = table;
    ctx->space = space;
    return true;
}

/* The entry of PE pe in the table of ctx; NULL: no memory. */
static struct contact *sim_contact_get(struct transport_ctx *ctx, int pe)
{
    if (2 * ctx->contacts >= ctx->space && !sim_contact_grow(ctx))
        return NULL;
    struct contact *contact =
        &ctx->contact[sim_contact_slot(ctx->contact, ctx->space, pe)];
    if (contact->pe < 0) {
        *contact = (struct contact){.pe = pe, .epoch = ctx->epoch};
        ctx->contacts++;
    }
    return contact;
}

/* The arrival time of an operation that takes `ns`: not before operations that a fence
 * orders before it, or, if `last`, before any (equal times keep the order of posting). */
static uint64_t sim_op_arrival_ns(struct transport_ctx *ctx, struct contact *contact,
                                  uint64_t ns, bool last)
{
    uint64_t at = ctx->net->sim->now + ns;

    if (contact->epoch != ctx->epoch) {
        contact->epoch = ctx->epoch;
        contact->fenced = contact->last;
    }
    if (at < contact->fenced)
        at = contact->fenced;
    if (last && at < contact->last)
        at = contact->last;
    if (contact->last < at)
        contact->last = at;
    return at;
}

/* -- steps of an operation -------------------------------------------------------- */

static void *sim_memory_of(const struct transport_world *world,
                           const struct transport_symaddr *at, size_t len)
{
    size_t space = world->segment[at->segment].len;

    if (len > space || at->offset > space - len)
        return NULL;
    return (char *)world->segment[at->segment].base + at->offset;
}

/* The word of a signal; not NULL for other operations. */
static void *sim_word_of(const struct transport_world *world, const struct sim_op *op)
{
    return op->kind != KIND_SIGNAL
               ? world->segment[op->at.segment].base
               : sim_memory_of(world, &op->signal.at, op->signal.size);
}

/* op->from, of a put: the vectors and the packed bytes. */
static int sim_op_perform_blocks(struct sim_op *op, const struct transport_world *world)
{
    struct perform_segment segment[SEGMENTS];
    unsigned n = op->put.nvectors;

    perform_own_segments(world, segment);
    if (op->get != NULL)
        return perform_blocks_here(segment, op->get, false);
    return perform_put_blocks(segment, op->from, n, op->from + perform_vectors_size(n),
                              op->put.bytes);
}

/* Perform the operation at the target.  0 or -errno. */
static int sim_op_perform(struct sim_op *op, const struct transport_world *world)
{
    void *memory = sim_memory_of(world, &op->at, op->len), *word = sim_word_of(world, op);

    if (op->kind == KIND_BLOCKS)
        return sim_op_perform_blocks(op, world);
    if (memory == NULL || word == NULL)
        return -EINVAL;
    if ((op->kind == KIND_PUT || op->kind == KIND_SIGNAL) && op->len > 0)
        memcpy(memory, op->from, op->len);
    else if (op->kind == KIND_GET)
        memcpy(op->to, memory, op->len);
    else if (op->kind == KIND_AMO)
        op->value = perform_amo(memory, &op->amo);
    if (op->kind == KIND_SIGNAL)
        perform_signal(word, &op->signal);
    return 0;
}

static void sim_op_arrive(struct sim *sim, struct sim_op *op)
{
    struct fiber *target = &sim->fiber[op->at.pe];
    size_t bytes = 0;

    if ((target->state == FIBER_DEAD && target->silent) ||
        (sim->config.job && sim->fiber[op->ctx->net->world->me].state == FIBER_DEAD)) {
        op->in_flight = false;
        op->silent = true;
        sim->operations--;
        return;
    }
    if (!target->opened && target->state != FIBER_RETURNED &&
        target->state != FIBER_DEAD) {
        op->next_ended = NULL;
        *target->early_end = op;
        target->early_end = &op->next_ended;
        return;
    }
    op->error = -EHOSTDOWN;
    if (target->net != NULL && target->state != FIBER_DEAD) {
        op->error = sim_op_perform(op, target->net->world);
        sim_wake(sim, op->at.pe);
        bytes = op->kind == KIND_GET ? op->len : op->get != NULL ? op->get->bytes : 0;
    }
    op->phase = PHASE_REPLY;
    sim_push(sim, (struct event){.at = sim->now + sim_trip_ns(sim, bytes), .op = op});
}

static void sim_op_return(struct sim *sim, struct sim_op *op)
{
    struct transport_ctx *ctx = op->ctx;

    op->in_flight = false;
    sim->operations--;
    op->next_ended = NULL;
    *ctx->ended_end = op;
    ctx->ended_end = &op->next_ended;
    ctx->net->ended++;
    sim_wake(sim, ctx->net->world->me);
}

void sim_op_step(struct sim *sim, struct sim_op *op)
{
    if (op->ctx == NULL) {
        sim->operations--;
        free(op);
    } else if (op->phase == PHASE_REQUEST) {
        sim_op_arrive(sim, op);
    } else {
        sim_op_return(sim, op);
    }
}

void sim_op_discard(struct sim_op *op)
{
    op->in_flight = false;
    if (op->ctx == NULL)
        free(op);
}

void sim_op_discard_all(struct sim_op *early)
{
    while (early != NULL) {
        struct sim_op *next = early->next_ended;
        sim_op_discard(early);
        early = next;
    }
}

/* -- operations ------------------------------------------------------------------- */

static void sim_op_report(const struct transport_world *world, int pe, int error)
{
    char text[TRANSPORT_TEXT_MAX];

    snprintf(text, sizeof text, "an operation of PE %d on PE %d failed: %s", world->me,
             pe, strerror(-error));
    world->failed(world, pe, text);
}

static bool sim_is_lost(const struct transport_net *net, int pe)
{
    return net->lost != NULL && net->lost[pe];
}

/* Check the target of a post. 0; or -errno: it is lost or dead (not silently) or the
 * address is invalid. */
static int sim_op_check_target(struct transport_ctx *ctx, const struct sim_op *op)
{
    const struct transport_symaddr *at = &op->at;
    const struct fiber *target = &ctx->net->sim->fiber[at->pe];

    if (sim_is_lost(ctx->net, at->pe))
        return -EHOSTDOWN;
    if (target->state == FIBER_DEAD && !target->silent) {
        sim_op_report(ctx->net->world, at->pe, -EHOSTDOWN);
        return -EHOSTDOWN;
    }
    if (target->net != NULL && (sim_memory_of(target->net->world, at, op->len) == NULL ||
                                sim_word_of(target->net->world, op) == NULL))
        return -EINVAL;
    return 0;
}

static void sim_count(struct sim *sim, int me, struct contact *contact, size_t bytes)
{
    struct fiber *fiber = &sim->fiber[me];

    fiber->traffic.operations++;
    fiber->traffic.bytes += bytes;
    fiber->traffic.peers += contact->counted != fiber->epoch + 1;
    contact->counted = fiber->epoch + 1;
}

/* Start an operation; `bytes` travel to the target, `copied` of them from a copy. */
static int sim_op_post(struct transport_ctx *ctx, const struct sim_op *what, size_t bytes,
                       size_t copied)
{
    struct sim *sim = ctx->net->sim;
    int error = sim_op_check_target(ctx, what);

    if (error != 0)
        return error;
    struct contact *contact = sim_contact_get(ctx, what->at.pe);
    struct sim_op *op = sim_reserve(sim) ? malloc(sizeof *op + copied) : NULL;
    if (contact == NULL || op == NULL) {
        free(op);
        return -ENOMEM;
    }
    *op = *what;
    if (copied > 0) {
        memcpy(op->copy, what->from, copied);
        op->from = op->copy;
    }
    op->ctx = ctx;
    op->next = ctx->ops;
    if (ctx->ops != NULL)
        ctx->ops->previous = op;
    ctx->ops = op;
    ctx->nops++;
    ctx->unacked += sim_op_is_unacked(op);
    op->in_flight = true;
    sim->operations++;
    sim_count(sim, ctx->net->world->me, contact, bytes);
    uint64_t at = sim_op_arrival_ns(ctx, contact, sim_trip_ns(sim, bytes),
                                    op->amo.after_puts || op->signal.after_puts);
    sim_push(sim, (struct event){.at = at, .op = op});
    return 0;
}

static int sim_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
                   const void *from, size_t len, struct transport_completion *done)
{
    struct sim_op op = {.kind = KIND_PUT, .at = *to, .from = from, .len = len};
    int error = sim_op_post(ctx, &op, len, done != NULL ? len : 0);

    if (error == 0)
        perform_completion(done, 0);
    return error;
}

static int sim_get(struct transport_ctx *ctx, void *to,
                   const struct transport_symaddr *from, size_t len,
                   struct transport_completion *done)
{
    struct sim_op op = {
        .kind = KIND_GET, .at = *from, .to = to, .len = len, .done = done};

    return sim_op_post(ctx, &op, 0, 0);
}

static int sim_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
                   const struct transport_amo *amo, struct transport_completion *done)
{
    struct sim_op op = {
        .kind = KIND_AMO, .at = *at, .len = amo->size, .amo = *amo, .done = done};

    return sim_op_post(ctx, &op, 0, 0);
}

static size_t sim_signal_max(struct transport_net *net)
{
    (void)net;
    return SIZE_MAX;
}

static int sim_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                          const void *from, size_t len,
                          const struct transport_signal *signal,
                          struct transport_completion *done)
{
    struct sim_op op = {
        .kind = KIND_SIGNAL, .at = *to, .from = from, .len = len, .signal = *signal};
    int error = sim_op_post(ctx, &op, len, done != NULL || signal->unacked ? len : 0);

    if (error == 0)
        perform_completion(done, 0);
    return error;
}

static int sim_put_blocks(struct transport_ctx *ctx,
                          const struct transport_blocks *blocks)
{
    char message[PERFORM_BLOCKS_MAX];
    size_t vectors = perform_vectors_size(blocks->nvectors);
    struct sim_op op = {
        .kind = KIND_BLOCKS, .at.pe = blocks->pe, .put = *blocks, .from = message};

    memcpy(message, blocks->vector, vectors);
    blocks->copy(blocks, message + vectors);
    return sim_op_post(ctx, &op, vectors + blocks->bytes, vectors + blocks->bytes);
}

static int sim_get_blocks(struct transport_ctx *ctx,
                          const struct transport_blocks *blocks,
                          struct transport_completion *done)
{
    struct sim_op op = {
        .kind = KIND_BLOCKS, .at.pe = blocks->pe, .get = blocks, .done = done};

    return sim_op_post(ctx, &op, 0, 0);
}

/* Always 0: sim_op_arrival_ns keeps the order. */
static int sim_fence(struct transport_ctx *ctx)
{
    ctx->epoch++;
    return 0;
}

static int sim_quiet(struct transport_ctx *ctx)
{
    return ctx->nops == ctx->unacked ? 0 : -EAGAIN;
}

static int sim_quiet_all(struct transport_ctx *ctx)
{
    return ctx->nops == 0 ? 0 : -EAGAIN;
}

static uint64_t sim_pending(struct transport_ctx *ctx, int *pe)
{
    const struct sim_op *op = ctx->ops;

    while (op != NULL && sim_op_is_unacked(op))
        op = op->next;
    if (pe != NULL && op != NULL)
        *pe = op->at.pe;
    return ctx->nops - ctx->unacked;
}

/* -- progress --------------------------------------------------------------------- */

static void sim_op_finish(struct transport_ctx *ctx, struct sim_op *op)
{
    if (op->error != 0 && !sim_is_lost(ctx->net, op->at.pe))
        sim_op_report(ctx->net->world, op->at.pe, op->error);
    else if (op->error == 0 && op->kind == KIND_AMO)
        perform_result(&op->amo, op->value);
    perform_completion(op->done, op->error);
    sim_op_unlink(op);
    free(op);
}

/* Complete the operations of a context on lost PEs, except those that have ended: the
 * next sim_ctx_drain completes these.  An operation in flight has no effect any more. */
static void sim_ctx_lose(struct transport_ctx *ctx)
{
    for (struct sim_op *op = ctx->ops, *next; op != NULL; op = next) {
        next = op->next;
        if (!sim_is_lost(ctx->net, op->at.pe) || (!op->in_flight && !op->silent))
            continue;
        perform_completion(op->done, -EHOSTDOWN);
        sim_op_unlink(op);
        op->ctx = NULL;
        if (!op->in_flight)
            free(op);
    }
}

static void sim_lost(struct transport_net *net, int pe, bool node)
{
    (void)node;
    if (net->lost == NULL)
        net->lost = calloc((size_t)net->world->npes, sizeof net->lost[0]);
    if (net->lost == NULL)
        abort();
    net->lost[pe] = true;
    for (struct transport_ctx *ctx = net->ctxs; ctx != NULL; ctx = ctx->next)
        sim_ctx_lose(ctx);
    sim_wake(net->sim, net->world->me);
}

static int sim_ctx_drain(struct transport_ctx *ctx)
{
    int n = 0;

    for (; ctx->ended != NULL; n++) {
        struct sim_op *op = ctx->ended;
        ctx->ended = op->next_ended;
        if (ctx->ended == NULL)
            ctx->ended_end = &ctx->ended;
        ctx->net->ended--;
        sim_op_finish(ctx, op);
    }
    if (ctx->net->skipped > ctx->net->ended)
        ctx->net->skipped = ctx->net->ended;
    return n;
}

/* In a job: without yielding.  If operations of other contexts have ended, return once
 * without yielding: the caller may poll those contexts next. */
static int sim_progress(struct transport_ctx *ctx)
{
    struct transport_net *net = ctx->net;
    int n = sim_ctx_drain(ctx);

    if (n > 0 || net->sim->config.job)
        return n;
    if (net->ended > net->skipped) {
        net->skipped = net->ended;
        return 0;
    }
    sim_park(net->sim);
    return sim_ctx_drain(ctx);
}

static int sim_fd(struct transport_ctx *ctx)
{
    (void)ctx;
    return -1;
}

static int sim_arm(struct transport_ctx *ctx)
{
    return ctx->ended != NULL ? -EAGAIN : 0;
}

/* -- open and close --------------------------------------------------------------- */

/* Deliver, in order, the operations that arrived before open. */
static void sim_net_deliver_early(struct sim *sim, struct fiber *fiber)
{
    fiber->opened = true;
    while (fiber->early != NULL) {
        struct sim_op *op = fiber->early;
        fiber->early = op->next_ended;
        sim_op_step(sim, op);
    }
    fiber->early_end = &fiber->early;
}

static int sim_open(const struct transport_world *world, struct transport_net **net,
                    char why[TRANSPORT_TEXT_MAX])
{
    struct sim *sim = sim_running();

    if (sim == NULL || sim->current != world->me || sim->config.npes != world->npes ||
        sim->fiber[world->me].net != NULL) {
        snprintf(why, TRANSPORT_TEXT_MAX,
                 "sim: PE %d of %d is not the running fiber of a simulation in this "
                 "thread, or has opened it before",
                 world->me, world->npes);
        return -EINVAL;
    }
    struct transport_net *n = calloc(1, sizeof *n);
    if (n == NULL || sim_ctx_open(n, &n->ctx_0) != 0) {
        free(n);
        snprintf(why, TRANSPORT_TEXT_MAX, "sim: no memory for a net");
        return -ENOMEM;
    }
    n->world = world;
    n->sim = sim;
    snprintf(n->text, sizeof n->text, "sim: PE %d of %d, on a virtual clock", world->me,
             world->npes);
    sim->fiber[world->me].net = n;
    *net = n;
    sim_net_deliver_early(sim, &sim->fiber[world->me]);
    return 0;
}

static void sim_close(struct transport_net *net)
{
    while (net->ctxs != NULL)
        sim_ctx_close(net->ctxs);
    free(net->lost);
    net->sim->fiber[net->world->me].net = NULL;
    free(net);
}

static size_t sim_address(struct transport_net *net, void *to)
{
    memcpy(to, &net->world->me, sizeof net->world->me);
    return sizeof net->world->me;
}

static const char *sim_describe(struct transport_net *net)
{
    return net->text;
}

const struct transport transport_sim = {
    .name = "sim",
    .text = "PEs that are fibers of one process, on a virtual clock (for tests)",
    .open = sim_open,
    .close = sim_close,
    .address = sim_address,
    .describe = sim_describe,
    .ctx_0 = sim_ctx_0,
    .ctx_open = sim_ctx_open,
    .ctx_close = sim_ctx_close,
    .put = sim_put,
    .get = sim_get,
    .amo = sim_amo,
    .signal_max = sim_signal_max,
    .put_signal = sim_put_signal,
    .blocks_max = perform_blocks_max,
    .put_blocks = sim_put_blocks,
    .get_blocks = sim_get_blocks,
    .fence = sim_fence,
    .quiet = sim_quiet,
    .quiet_all = sim_quiet_all,
    .pending = sim_pending,
    .lost = sim_lost,
    .progress = sim_progress,
    .fd = sim_fd,
    .arm = sim_arm,
};
