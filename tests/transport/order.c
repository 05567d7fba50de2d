/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.c - operations posted after a fence, and amos with after_puts, do not become
 * visible before the operations that precede them.
 *
 * Every PE sends to every PE, including itself, in numbered turns: data, a fence (unless
 * the flag has after_puts), a flag.  The target polls the flag in its own memory and then
 * checks the data.  Up to SLOTS turns are in flight: the target publishes in shared
 * memory which turns it has received.
 * Uses: suite.
 */
#include <stdlib.h>

#include "tests/transport/suite.h"

enum {
    SLOTS = 4,
    ROOM = HEAP_SLOT / SLOTS,
    PES_MAX = 16,
    FLAG_0 = 0, /* words: SLOTS flags of each origin, then a counter of each */
    COUNT_0 = PES_MAX * SLOTS,
    SAME_0 = COUNT_0 + PES_MAX,
};

enum ahead { PUT_NBI = 1, PUT_DONE = 2, ADD = 4, ADD_FETCH = 8, CHAIN = 16, QUIET = 32 };
/* AFTER_SET and later: with after_puts instead of a fence. */
enum flag {
    FLAG_PUT,
    FLAG_SET,
    FLAG_ADD,
    FLAG_SWAP,
    FLAG_PUT_BYTE,
    AFTER_SET,
    AFTER_ADD,
    AFTER_UNACKED
};

struct plan {
    unsigned ahead; /* a mask of enum ahead: what precedes the flag */
    enum flag flag;
    const size_t *lens;
    unsigned nlens, turns;
};

struct flows {
    struct pe *pe;
    struct chan *chan;
    const struct plan *plan;
    unsigned turns, sent, received[PES_MAX];
    uint64_t *number; /* number[k] == k: constant sources of puts */
    uint64_t *olds;   /* results of nonblocking amos */
};

static const size_t mixed[] = {1,    8,    64,    100,   128,   129,    300,    1000,
                               4096, 8191, 16385, 20000, 65537, 131072, 300001, 2};
static const size_t small[] = {1, 2, 4, 8, 16, 24, 33, 64, 65, 100, 128, 192, 256, 257};
static const size_t large[] = {1 << 20, 700001, (1 << 20) + 3, 500000};
#define LENS(table) .lens = table, .nlens = sizeof table / sizeof table[0]

static size_t len_of(const struct plan *plan, unsigned k)
{
    return plan->lens[k % plan->nlens];
}

static uint64_t seed_of(int from, int to, unsigned k)
{
    return (uint64_t)k * PES_MAX * PES_MAX + (uint64_t)(from * PES_MAX + to);
}

static struct transport_symaddr data_symaddr(const struct pe *pe, int to, int from,
                                             unsigned k)
{
    return slot_symaddr(pe, to, SEGMENT_HEAP, from, (size_t)(k % SLOTS) * ROOM + k % 3);
}

/* -- the origin ----------------------------------------------------------------- */

static void send_ahead(struct flows *f, int to, unsigned k)
{
    struct pe *pe = f->pe;
    const unsigned ahead = f->plan->ahead;
    const struct transport_symaddr at = data_symaddr(pe, to, pe->me, k);
    const unsigned char *from = pattern(seed_of(pe->me, to, k));
    const struct transport_symaddr count = word_symaddr(to, COUNT_0 + (unsigned)pe->me);
    const struct transport_amo add = {
        .op = TRANSPORT_AMO_ADD,
        .size = 8,
        .operand = 1,
        .result = &f->olds[k * (unsigned)pe->npes + (unsigned)to]};

    if (ahead & QUIET)
        quiet(f->chan);
    if (ahead & PUT_NBI)
        put_nbi(f->chan, at, from, len_of(f->plan, k));
    if (ahead & PUT_DONE)
        put(f->chan, at, from, len_of(f->plan, k));
    if (ahead & CHAIN)
        fence(f->chan);
    if (ahead & ADD)
        amo_nbi(f->chan, count, TRANSPORT_AMO_ADD, 8, 1);
    if (ahead & ADD_FETCH)
        CHECK(pe, try_amo(f->chan, count, &add, NULL) == 0, "an add was refused");
}

static void send_flag(struct flows *f, int to, unsigned k)
{
    const struct transport_symaddr at =
        word_symaddr(to, FLAG_0 + (unsigned)f->pe->me * SLOTS + k % SLOTS);
    const struct transport_amo swap = {
        .op = TRANSPORT_AMO_SWAP,
        .size = 8,
        .operand = k,
        .result = &f->olds[k * (unsigned)f->pe->npes + (unsigned)to]};

    const struct transport_amo after = {
        .op = f->plan->flag == AFTER_ADD ? TRANSPORT_AMO_ADD : TRANSPORT_AMO_SET,
        .size = 8,
        .operand = f->plan->flag == AFTER_ADD ? 1 : k,
        .after_puts = true};

    const struct transport_signal signal = {.at = at,
                                            .op = TRANSPORT_AMO_SET,
                                            .size = 8,
                                            .operand = k,
                                            .unacked = true,
                                            .after_puts = true};

    switch (f->plan->flag) {
    case FLAG_PUT:
        put_nbi(f->chan, at, &f->number[k], sizeof f->number[k]);
        break;
    case FLAG_PUT_BYTE:
        put_nbi(f->chan, at, &f->number[k], 1);
        break;
    case FLAG_SET:
        amo_nbi(f->chan, at, TRANSPORT_AMO_SET, 8, k);
        break;
    case FLAG_ADD:
        amo_nbi(f->chan, at, TRANSPORT_AMO_ADD, 8, 1);
        break;
    case FLAG_SWAP:
        CHECK(f->pe, try_amo(f->chan, at, &swap, NULL) == 0, "a swap was refused");
        break;
    case AFTER_SET:
    case AFTER_ADD:
        CHECK(f->pe, try_amo(f->chan, at, &after, NULL) == 0, "a signal was refused");
        break;
    case AFTER_UNACKED:
        CHECK(f->pe, try_put_signal(f->chan, at, NULL, 0, &signal, NULL) == 0,
              "an unacknowledged signal was refused");
        break;
    }
}

/* Send one turn to all PEs if all have received the turn that used its slot before. */
static bool send_turn(struct flows *f)
{
    const unsigned k = f->sent + 1;

    if (f->sent == f->turns)
        return false;
    for (int to = 0; to < f->pe->npes; to++)
        if (load(&f->pe->shared->pe[to].word[f->pe->me]) + SLOTS < k)
            return false;
    for (int to = 0; to < f->pe->npes; to++)
        send_ahead(f, to, k);
    if (f->plan->flag < AFTER_SET)
        fence(f->chan);
    for (int to = 0; to < f->pe->npes; to++)
        send_flag(f, to, k);
    f->sent = k;
    return true;
}

/* -- the target ----------------------------------------------------------------- */

/* How often turns 1..k have used the slot of k. */
static uint64_t uses(unsigned k)
{
    return k / SLOTS + (k % SLOTS ? 1 : 0);
}

static bool flag_is(const struct flows *f, int from, unsigned k)
{
    const uint64_t *flag = own_word(f->pe, FLAG_0 + (unsigned)from * SLOTS + k % SLOTS);

    if (f->plan->flag == FLAG_ADD || f->plan->flag == AFTER_ADD)
        return load(flag) == uses(k);
    if (f->plan->flag == FLAG_PUT_BYTE)
        return __atomic_load_n((const unsigned char *)flag, __ATOMIC_ACQUIRE) ==
               (unsigned char)k;
    return load(flag) == k;
}

static bool receive_turn(struct flows *f, int from)
{
    struct pe *pe = f->pe;
    const unsigned k = f->received[from] + 1;

    if (f->received[from] == f->turns || !flag_is(f, from, k))
        return false;
    if (f->plan->ahead & (PUT_NBI | PUT_DONE))
        check_bytes(pe, own(pe, data_symaddr(pe, pe->me, from, k)),
                    pattern(seed_of(from, pe->me, k)), len_of(f->plan, k),
                    "data put before a fence or signal, once the flag is visible");
    if (f->plan->ahead & (ADD | ADD_FETCH))
        CHECK(pe, load(own_word(pe, COUNT_0 + (unsigned)from)) >= k,
              "PE %d: flag %u is visible, but only %llu adds posted before the fence",
              from, k, (unsigned long long)load(own_word(pe, COUNT_0 + (unsigned)from)));
    f->received[from] = k;
    store(&pe->mine->word[from], k);
    return true;
}

/* -- all flows of a PE ---------------------------------------------------------- */

static bool at_end(const struct flows *f)
{
    for (int from = 0; from < f->pe->npes; from++)
        if (f->received[from] < f->turns)
            return false;
    return f->sent == f->turns;
}

static void run_flows(struct pe *pe, struct chan *chan, const struct plan *plan)
{
    struct flows f = {
        .pe = pe, .chan = chan, .plan = plan, .turns = times(pe, plan->turns)};
    const size_t n = f.turns + 1;
    struct wait w = wait_begin(chan, "flags of the others", __LINE__, true);

    f.number = malloc(n * sizeof f.number[0]);
    f.olds = malloc(n * (size_t)pe->npes * sizeof f.olds[0]);
    CHECK(pe, f.number && f.olds, "no memory");
    for (size_t k = 0; k < n; k++)
        f.number[k] = k;
    while (!at_end(&f)) {
        bool moved = send_turn(&f);

        for (int from = 0; from < pe->npes; from++)
            moved |= receive_turn(&f, from);
        if (!moved)
            wait_step(&w);
        else
            w.turns = 0;
    }
    quiet(chan);
    barrier(pe);
    free(f.number);
    free(f.olds);
}

static void put_put(struct pe *pe)
{
    static const struct plan plan = {PUT_NBI, FLAG_PUT, LENS(mixed), .turns = 160};

    run_flows(pe, &pe->ctx0, &plan);
}

static void done_put(struct pe *pe)
{
    static const struct plan plan = {PUT_DONE, FLAG_PUT_BYTE, LENS(mixed), .turns = 96};

    run_flows(pe, &pe->ctx0, &plan);
}

static void put_amo(struct pe *pe)
{
    static const struct plan plan = {PUT_NBI, FLAG_SWAP, LENS(mixed), .turns = 96};

    run_flows(pe, &pe->ctx0, &plan);
}

static void amo_put(struct pe *pe)
{
    static const struct plan plan = {ADD, FLAG_PUT, LENS(small), .turns = 300};

    run_flows(pe, &pe->ctx0, &plan);
}

static void amo_amo(struct pe *pe)
{
    static const struct plan plan = {ADD, FLAG_SET, LENS(small), .turns = 300};
    static const struct plan fetch = {ADD_FETCH, FLAG_PUT, LENS(small), .turns = 100};

    run_flows(pe, &pe->ctx0, &plan);
    words_clear(pe);
    run_flows(pe, &pe->ctx0, &fetch);
}

static void chain(struct pe *pe)
{
    static const struct plan plan = {PUT_NBI | CHAIN | ADD, FLAG_SET, LENS(mixed),
                                     .turns = 96};

    run_flows(pe, &pe->ctx0, &plan);
}

static void large_first(struct pe *pe)
{
    static const struct plan plan = {PUT_NBI, FLAG_PUT, LENS(large), .turns = 8};

    run_flows(pe, &pe->ctx0, &plan);
}

static void other_ctx(struct pe *pe)
{
    static const struct plan plan = {PUT_NBI | ADD, FLAG_SET, LENS(mixed), .turns = 96};
    struct chan chan;

    chan_open(pe, &chan, true);
    run_flows(pe, &chan, &plan);
    chan_close(&chan);
}

/* -- signals -------------------------------------------------------------------- */

static void signal_small(struct pe *pe)
{
    static const struct plan plan = {PUT_NBI, FLAG_SET, LENS(small), .turns = 1200};

    run_flows(pe, &pe->ctx0, &plan);
}

static void signal_add(struct pe *pe)
{
    static const struct plan plan = {PUT_DONE, FLAG_ADD, LENS(small), .turns = 600};

    run_flows(pe, &pe->ctx0, &plan);
}

static void signal_large(struct pe *pe)
{
    static const struct plan plan = {PUT_NBI, FLAG_ADD, LENS(large), .turns = 8};

    run_flows(pe, &pe->ctx0, &plan);
}

/* Amos and unacknowledged signals with after_puts, posted without waiting for the puts.
 */
static void after_puts(struct pe *pe)
{
    static const struct plan plans[] = {
        {PUT_NBI, AFTER_SET, LENS(small), .turns = 600},
        {PUT_NBI | PUT_DONE, AFTER_ADD, LENS(mixed), .turns = 160},
        {PUT_DONE, AFTER_SET, LENS(mixed), .turns = 96},
        {PUT_NBI | QUIET, AFTER_SET, LENS(mixed), .turns = 96},
        {PUT_NBI, AFTER_SET, LENS(large), .turns = 8},
        {PUT_NBI, AFTER_UNACKED, LENS(small), .turns = 600},
        {PUT_DONE, AFTER_UNACKED, LENS(mixed), .turns = 160},
        {PUT_NBI, AFTER_UNACKED, LENS(large), .turns = 8},
    };
    struct chan chan;

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        run_flows(pe, &pe->ctx0, &plans[i]);
        words_clear(pe);
    }
    chan_open(pe, &chan, true);
    run_flows(pe, &chan, &plans[1]);
    chan_close(&chan);
}

/* -- repeated writes to one word ------------------------------------------------ */

/* The writer stores growing values with a fence between them; the reader must never see
 * the word decrease, and the last value must remain. */
static void same_word(struct pe *pe)
{
    const unsigned turns = times(pe, 400);
    const int to = (pe->me + 1) % pe->npes;
    const struct transport_symaddr at = word_symaddr(to, SAME_0);
    uint64_t *number = malloc((turns + 1) * sizeof number[0]);
    uint64_t last = 0;

    CHECK(pe, number, "no memory");
    for (unsigned k = 1; k <= turns; k++) {
        const uint64_t now = load(own_word(pe, SAME_0));

        number[k] = k;
        if (k % 2)
            put_nbi(&pe->ctx0, at, &number[k], sizeof number[k]);
        else
            amo_nbi(&pe->ctx0, at, TRANSPORT_AMO_SET, 8, k);
        fence(&pe->ctx0);
        CHECK(pe, now >= last, "a word decreased from %llu to %llu",
              (unsigned long long)last, (unsigned long long)now);
        last = now;
    }
    quiet(&pe->ctx0);
    CHECK(pe, load(view_word(pe, to, SAME_0)) == turns, "the last value is %llu, not %u",
          (unsigned long long)load(view_word(pe, to, SAME_0)), turns);
    barrier(pe);
    free(number);
}

const struct test_case order_cases[] = {
    {.name = "order.put_put", .run = put_put},
    {.name = "order.done_put", .run = done_put},
    {.name = "order.put_amo", .run = put_amo},
    {.name = "order.amo_put", .run = amo_put},
    {.name = "order.amo_amo", .run = amo_amo},
    {.name = "order.chain", .run = chain},
    {.name = "order.large", .run = large_first},
    {.name = "order.ctx", .run = other_ctx},
    {.name = "order.same", .run = same_word},
    {.name = "signal.small", .run = signal_small},
    {.name = "signal.add", .run = signal_add},
    {.name = "signal.large", .run = signal_large},
    {.name = "signal.after_puts", .run = after_puts},
    {.name = "signal.after_late",
     .run = after_puts,
     .flags = CASE_HOOK,
     .faults = "seed=7,delay=200us,reorder"},
    {.name = NULL},
};
