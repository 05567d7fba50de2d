/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal.c - puts with signal: once the signal is visible, so are the data, and no other
 * memory of the target changes.
 *
 * Every PE sends to every PE, including itself, at most SLOTS turns ahead of the last
 * turn that the target has published as received; the target polls its memory.  Lengths
 * are close to every limit of the transports: injection, eager messages, bounce buffers.
 * Data longer than signal_max are sent as in the library: a put and an amo with
 * after_puts.
 * Uses: suite.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/transport/suite.h"

enum {
    SLOTS = 4,
    ROOM = HEAP_SLOT / SLOTS,
    PES_MAX = 16,
    WORD = 8,
    WORDS_PER_FLAG = 3, /* the middle one; the others are guards */
    FILL = 0x5A,
};

struct plan {
    enum transport_amo_op op;
    bool done; /* wait for the completion, then overwrite the source */
    bool unacked;
    const size_t *lens;
    unsigned nlens, turns;
};

struct flows {
    struct pe *pe;
    struct chan *chan;
    const struct plan *plan;
    unsigned turns, sent, received[PES_MAX];
    unsigned char *source; /* of puts with done */
};

static const size_t small[] = {1,   8,   0,   17,  18,  19,  33,  64,  65, 100, 128,
                               192, 193, 194, 195, 200, 209, 210, 211, 4,  513};
static const size_t mixed[] = {8,     0,     1500,  3900,  3984,  3985,  4000,  4095,
                               4096,  5000,  8100,  8192,  8193,  12000, 16384, 16385,
                               30000, 65400, 65536, 65537, 90000, 3,     3986,  200001};
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
    return slot_symaddr(pe, to, SEGMENT_HEAP, from,
                        GUARD + (size_t)(k % SLOTS) * ROOM + k % 3);
}

/* The signal word has 8 bytes in even turns, 4 in odd ones. */
static uint32_t size_of(unsigned k)
{
    return k % 2 == 0 ? sizeof(uint64_t) : sizeof(uint32_t);
}

static struct transport_symaddr flag_symaddr(const struct pe *pe, int to, int from,
                                             unsigned k)
{
    (void)pe;
    return word_symaddr(to, ((unsigned)from * SLOTS + k % SLOTS) * WORDS_PER_FLAG + 1);
}

/* ---- the origin ----------------------------------------------------------------------
 */

/* A put with completion whose source is overwritten as soon as it is done. */
static void send_done(struct flows *f, struct transport_symaddr to,
                      const unsigned char *from, size_t len,
                      const struct transport_signal *signal)
{
    struct transport_completion done = NOT_DONE;

    if (len > f->pe->t->signal_max(f->pe->net)) {
        put_signal_nbi(f->chan, to, from, len, signal);
        return;
    }
    memcpy(f->source, from, len);
    CHECK(f->pe, try_put_signal(f->chan, to, f->source, len, signal, &done) == 0,
          "a put with signal was refused");
    done_wait(f->chan, &done, "the source of a put with signal");
    memset(f->source, FILL, len);
}

static void send_one(struct flows *f, int to, unsigned k)
{
    const struct pe *pe = f->pe;
    const struct transport_signal signal = {.at = flag_symaddr(pe, to, pe->me, k),
                                            .op = f->plan->op,
                                            .size = size_of(k),
                                            .operand =
                                                f->plan->op == TRANSPORT_AMO_ADD ? 1 : k,
                                            .unacked = f->plan->unacked};
    const unsigned char *from = pattern(seed_of(pe->me, to, k));

    if (f->plan->done)
        send_done(f, data_symaddr(pe, to, pe->me, k), from, len_of(f->plan, k), &signal);
    else
        put_signal_nbi(f->chan, data_symaddr(pe, to, pe->me, k), from, len_of(f->plan, k),
                       &signal);
}

static bool send_turn(struct flows *f)
{
    const unsigned k = f->sent + 1;

    if (f->sent == f->turns)
        return false;
    for (int to = 0; to < f->pe->npes; to++)
        if (load(&f->pe->shared->pe[to].word[f->pe->me]) + SLOTS < k)
            return false;
    for (int to = 0; to < f->pe->npes; to++)
        send_one(f, to, k);
    f->sent = k;
    return true;
}

/* ---- the target ----------------------------------------------------------------------
 */

/* The flag after turn k: k, or (ADD) how many of turns 1..k have used its slot. */
static uint64_t value_of(const struct plan *plan, unsigned k)
{
    return plan->op == TRANSPORT_AMO_SET ? k : k / SLOTS + (k % SLOTS ? 1 : 0);
}

static bool flag_is(const struct flows *f, int from, unsigned k)
{
    const void *flag = own(f->pe, flag_symaddr(f->pe, f->pe->me, from, k));

    if (size_of(k) == sizeof(uint32_t))
        return __atomic_load_n((const uint32_t *)flag, __ATOMIC_ACQUIRE) ==
               value_of(f->plan, k);
    return load(flag) == value_of(f->plan, k);
}

static void check_flag(struct flows *f, int from, unsigned k)
{
    const unsigned char *flag = own(f->pe, flag_symaddr(f->pe, f->pe->me, from, k));
    static const unsigned char none[2 * WORD];

    check_bytes(f->pe, flag - WORD, none, WORD, "the word before a signal");
    check_bytes(f->pe, flag + size_of(k), none, 2 * WORD - size_of(k),
                "the bytes after a signal");
}

static bool receive_turn(struct flows *f, int from)
{
    struct pe *pe = f->pe;
    const unsigned k = f->received[from] + 1;

    if (f->received[from] == f->turns || !flag_is(f, from, k))
        return false;
    unsigned char *at = own(pe, data_symaddr(pe, pe->me, from, k));
    const size_t len = len_of(f->plan, k);
    check_bytes(pe, at, pattern(seed_of(from, pe->me, k)), len,
                "data of a put with signal, once the signal is visible");
    CHECK(pe, k <= SLOTS || at[len] == FILL, "the byte after %zu bytes was changed", len);
    memset(at, FILL, ROOM - 2 * GUARD);
    check_flag(f, from, k);
    f->received[from] = k;
    store(&pe->mine->word[from], k);
    return true;
}

/* ---- all flows of a PE ---------------------------------------------------------------
 */

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
    struct wait w = wait_begin(chan, "signals of the others", __LINE__, true);

    f.source = malloc(ROOM);
    CHECK(pe, f.source, "no memory");
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
    free(f.source);
    words_clear(pe);
}

static void put_set(struct pe *pe)
{
    static const struct plan nbi = {TRANSPORT_AMO_SET, false, false, LENS(small), 300};
    static const struct plan done = {TRANSPORT_AMO_SET, true, false, LENS(mixed), 96};

    run_flows(pe, &pe->ctx0, &nbi);
    run_flows(pe, &pe->ctx0, &done);
}

static void put_add(struct pe *pe)
{
    static const struct plan nbi = {TRANSPORT_AMO_ADD, false, false, LENS(mixed), 96};
    static const struct plan done = {TRANSPORT_AMO_ADD, true, false, LENS(small), 300};

    run_flows(pe, &pe->ctx0, &nbi);
    run_flows(pe, &pe->ctx0, &done);
}

static void put_unacked(struct pe *pe)
{
    static const struct plan plans[] = {
        {TRANSPORT_AMO_SET, false, true, LENS(small), 300},
        {TRANSPORT_AMO_ADD, true, true, LENS(mixed), 96},
    };

    run_flows(pe, &pe->ctx0, &plans[0]);
    run_flows(pe, &pe->ctx0, &plans[1]);
}

static void other_ctxs(struct pe *pe)
{
    static const struct plan plans[] = {
        {TRANSPORT_AMO_SET, true, false, LENS(mixed), 48},
        {TRANSPORT_AMO_ADD, false, false, LENS(small), 100},
        {TRANSPORT_AMO_SET, false, true, LENS(small), 100},
    };
    enum { CTXS = sizeof plans / sizeof plans[0] };
    struct chan chan[CTXS];

    for (int i = 0; i < CTXS; i++)
        chan_open(pe, &chan[i], true);
    for (int i = 0; i < CTXS; i++)
        run_flows(pe, &chan[i], &plans[i]);
    for (int i = 0; i < CTXS; i++)
        chan_close(&chan[i]);
}

/* ---- completion ----------------------------------------------------------------------
 */

/* After quiet all data and signals have arrived, for all lengths, although no PE waits
 * for a signal and the service threads are paused. */
static void flood(struct pe *pe)
{
    enum { TURNS = 200, BLOCKS = 40, LEN = 5000 };
    const unsigned turns = times(pe, TURNS);
    uint64_t sum = (uint64_t)turns * (uint64_t)pe->npes;

    service_pause(pe, true);
    barrier(pe);
    for (unsigned i = 0; i < turns; i++)
        for (int to = 0; to < pe->npes; to++) {
            const struct transport_signal signal = {.at = word_symaddr(to, 0),
                                                    .op = TRANSPORT_AMO_ADD,
                                                    .size = 8,
                                                    .operand = 1};

            put_signal_nbi(
                &pe->ctx0,
                slot_symaddr(pe, to, SEGMENT_DATA, pe->me, (size_t)(i % BLOCKS) * LEN),
                pattern(i), i * 7 % LEN, &signal);
            if (i % BLOCKS == BLOCKS - 1)
                fence(&pe->ctx0);
        }
    quiet(&pe->ctx0);
    barrier(pe);
    service_pause(pe, false);
    CHECK(pe, load(own_word(pe, 0)) == sum,
          "%llu of %llu signals are visible after quiet",
          (unsigned long long)load(own_word(pe, 0)), (unsigned long long)sum);
    for (int from = 0; from < pe->npes; from++)
        for (unsigned i = turns - BLOCKS; i < turns; i++)
            check_bytes(pe,
                        own(pe, slot_symaddr(pe, pe->me, SEGMENT_DATA, from,
                                             (size_t)(i % BLOCKS) * LEN)),
                        pattern(i), i * 7 % LEN, "put with signal and quiet");
    barrier(pe);
}

/* A fence orders later puts after the data and the signal of a put with signal. */
static void then_put(struct pe *pe)
{
    const int to = (pe->me + 1) % pe->npes;
    uint64_t *number = malloc((times(pe, 200) + 1) * sizeof number[0]);

    CHECK(pe, number, "no memory");
    for (unsigned k = 1; k <= times(pe, 200); k++) {
        const struct transport_signal signal = {
            .at = word_symaddr(to, 0), .op = TRANSPORT_AMO_SET, .size = 8, .operand = k};

        number[k] = k;
        put_signal_nbi(&pe->ctx0, word_symaddr(to, 2), &number[k], sizeof number[k],
                       &signal);
        fence(&pe->ctx0);
        put_nbi(&pe->ctx0, word_symaddr(to, 1), &number[k], sizeof number[k]);
        const uint64_t later = load(own_word(pe, 1)), first = load(own_word(pe, 0)),
                       data = load(own_word(pe, 2));
        CHECK(pe, first >= later && data >= later,
              "put %llu after a fence is visible, but the signal before it is %llu, its "
              "data %llu",
              (unsigned long long)later, (unsigned long long)first,
              (unsigned long long)data);
    }
    quiet(&pe->ctx0);
    barrier(pe);
    free(number);
}

/* A 4-byte add does not carry into the next word; adding a negative value works. */
static void words(struct pe *pe)
{
    const int to = (pe->me + 1) % pe->npes;
    const uint64_t ones = UINT32_MAX;
    struct transport_signal signal = {
        .at = word_symaddr(to, 0), .op = TRANSPORT_AMO_ADD, .size = 4, .operand = 1};

    *own_word(pe, 0) = ones;
    *own_word(pe, 1) = ones;
    barrier(pe);
    put_signal_nbi(&pe->ctx0, word_symaddr(to, 3), &ones, 4, &signal);
    signal.at = word_symaddr(to, 1);
    signal.size = 8;
    put_signal_nbi(&pe->ctx0, word_symaddr(to, 4), &ones, 4, &signal);
    quiet(&pe->ctx0);
    signal.operand = (uint64_t)-2;
    put_signal_nbi(&pe->ctx0, word_symaddr(to, 4), &ones, 8, &signal);
    quiet(&pe->ctx0);
    barrier(pe);
    CHECK(pe, *own_word(pe, 0) == 0, "4 bytes of ones plus 1 are %llx",
          (unsigned long long)*own_word(pe, 0));
    CHECK(pe, *own_word(pe, 1) == ones - 1,
          "the 8-byte word is %llx after adding 1 and -2",
          (unsigned long long)*own_word(pe, 1));
    CHECK(pe, *own_word(pe, 3) == ones && *own_word(pe, 4) == ones,
          "the data have not arrived");
    barrier(pe);
}

const struct test_case signal_cases[] = {
    {.name = "put_signal.set", .run = put_set},
    {.name = "put_signal.add", .run = put_add},
    {.name = "put_signal.unacked", .run = put_unacked},
    {.name = "put_signal.ctx", .run = other_ctxs},
    {.name = "put_signal.flood", .run = flood},
    {.name = "put_signal.fence", .run = then_put},
    {.name = "put_signal.words", .run = words},
    {.name = "put_signal.late",
     .run = put_add,
     .flags = CASE_HOOK,
     .faults = "seed=9,delay=200us,reorder"},
    {.name = NULL},
};
