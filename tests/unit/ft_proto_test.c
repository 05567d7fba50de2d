/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_proto_test.c - frames of the failure protocol: sets on the wire, and hostile bytes.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/ft/protocol/ft_proto_int.h"
#include "pgas/transport/test/random.h"

enum { NODES = 9, PES = 70, FRAMES_MAX = 512, ROUNDS = 20000 };
#define DELTA UINT64_C(1000000)

/* What a machine sends, as a source of valid frames. */
struct recorder {
    uint8_t *frame[FRAMES_MAX];
    size_t len[FRAMES_MAX], count;
    unsigned failures, decisions;
    bool self_failed;
};

static void record_send(void *host, uint32_t to, const void *frame, size_t len)
{
    struct recorder *r = host;

    cr_assert_lt(to, NODES);
    if (r->count == FRAMES_MAX)
        return;
    r->frame[r->count] = malloc(len);
    cr_assert_not_null(r->frame[r->count]);
    memcpy(r->frame[r->count], frame, len);
    r->len[r->count++] = len;
}

static void record_node_pes(void *host, uint32_t node, uint64_t *pes)
{
    (void)host;
    for (uint32_t pe = node; pe < PES; pe += NODES)
        ft_set_add(pes, pe);
}

static void record_failed(void *host, const struct ft_news *news)
{
    struct recorder *r = host;

    cr_assert_eq(ft_set_count(news->pes, PES), news->npes_failed);
    r->failures += news->npes_failed;
}

static void record_payload(void *host, uint32_t initiator, uint32_t kind,
                           const void *data, size_t len)
{
    (void)host;
    (void)initiator;
    (void)kind;
    cr_assert_leq(len, FT_PAYLOAD_MAX);
    for (size_t i = 0; i < len; i++)
        (void)((const volatile uint8_t *)data)[i];
}

static void record_decision(void *host, const struct ft_decision *d)
{
    struct recorder *r = host;

    cr_assert_leq(d->words.n_and + d->words.n_max, FT_WORDS_MAX);
    r->decisions++;
}

static void record_self_failed(void *host)
{
    ((struct recorder *)host)->self_failed = true;
}

static const struct ft_callbacks record_calls = {
    .send = record_send,
    .node_pes = record_node_pes,
    .failed = record_failed,
    .payload = record_payload,
    .decision = record_decision,
    .self_failed = record_self_failed,
};

static struct ft_proto *machine_open(uint32_t me, uint32_t incarnation,
                                     struct recorder *r)
{
    struct ft_config config = {.me = me,
                               .nnodes = NODES,
                               .npes = PES,
                               .incarnation = incarnation,
                               .delta = DELTA,
                               .agreements = 3,
                               .log_bytes = 2048,
                               .calls = &record_calls,
                               .host = r};
    struct ft_proto *p = ft_proto_init(&config, 0);

    cr_assert_not_null(p);
    return p;
}

static void recorder_clear(struct recorder *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->frame[i]);
    *r = (struct recorder){.count = 0};
}

/* Frames of every type. */
static void machine_exercise(struct ft_proto *p)
{
    static const uint32_t pes[] = {3, 9, 11, 12, 13, 40, 42, 44, 46, 48, 50, 52, 54, 56};
    struct ft_words words = {.n_and = 2, .n_max = 3, .word = {1, 2, 3, 4, 5}};
    uint64_t all = (1u << NODES) - 1;

    ft_proto_tick(p, 0);
    ft_proto_closed(p, 1, ft_proto_observing(p));
    ft_proto_broadcast(p, 2, 7, "payload", 7);
    ft_proto_agree(p, 3, (struct ft_key){5, 0}, &all, &words);
    ft_proto_pe_failed(p, 4, pes, sizeof pes / sizeof pes[0]);
    for (uint64_t t = ft_proto_wake(p); t < 30 * DELTA; t = ft_proto_tick(p, t))
        ;
    all = UINT64_C(1) << p->me;
    ft_proto_agree(p, 31 * DELTA, (struct ft_key){6, 0}, &all, &words);
    ft_proto_finish(p, 32 * DELTA);
}

Test(ft_proto, sets_survive_the_wire)
{
    uint64_t random = 1, set[FT_SET_WORDS(200)], back[FT_SET_WORDS(200)];
    uint8_t bytes[64];

    for (uint32_t round = 0; round < 5000; round++) {
        uint32_t n = 1 + (uint32_t)random_below(&random, 200), density = round % 5;
        struct ft_writer w = {.at = bytes, .end = bytes + ft_wire_set_max(n)};

        memset(set, 0, sizeof set);
        for (uint32_t i = 0; i < n; i++)
            if (random_below(&random, 4) < density)
                ft_set_add(set, i);
        ft_wire_put_set(&w, set, n);
        cr_assert_not(w.bad);
        struct ft_reader r = {.at = bytes, .end = w.at};

        ft_wire_get_set(&r, back, n);
        cr_assert(!r.bad && r.at == r.end);
        cr_assert_eq(memcmp(set, back, FT_SET_WORDS(n) * 8), 0);
    }
}

Test(ft_proto, wrong_sets_are_rejected)
{
    static const struct {
        const char *bytes;
        size_t len;
    } wrong[] = {
        {"", 0},
        {"\2", 1},                                          /* form */
        {"\0\1\0\0\0\5\0\0\0", 9},                          /* truncated */
        {"\0\1\0\0\0\5\0\0\0\0\0\0\0", 13},                 /* empty range */
        {"\0\1\0\0\0\5\0\0\0\6\0\0\0", 13},                 /* beyond n */
        {"\0\1\0\0\0\377\377\377\377\377\377\377\377", 13}, /* overflow */
        {"\0\2\0\0\0\5\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0", 21}, /* descending */
        {"\0\2\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\1\0\0\0", 21}, /* adjacent */
        {"\0\377\377\377\377", 5},                          /* count */
        {"\1\377", 2},                                      /* truncated bits */
        {"\1\0\10", 3},                                     /* bit n */
    };
    uint64_t set[1];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const uint8_t *at = (const uint8_t *)wrong[i].bytes;
        struct ft_reader r = {.at = at, .end = at + wrong[i].len};

        ft_wire_get_set(&r, set, 10);
        cr_assert(r.bad, "case %zu", i);
    }
}

/* The frame is in a block of exactly its length, so that a sanitizer sees reads beyond
 * it. */
static int receive_exact(struct ft_proto *p, uint32_t from, const uint8_t *frame,
                         size_t len)
{
    uint8_t *copy = malloc(len > 0 ? len : 1);
    int status;

    cr_assert_not_null(copy);
    if (len > 0)
        memcpy(copy, frame, len);
    status = ft_proto_receive(p, 40 * DELTA, from, len > 0 ? copy : NULL, len);
    free(copy);
    return status;
}

static void frames_collect(struct recorder *source)
{
    struct ft_proto *p;

    for (uint32_t me = 0; me < 2; me++) {
        p = machine_open(me, me, source);
        machine_exercise(p);
        ft_proto_free(p);
    }
    cr_assert_gt(source->count, 20);
}

Test(ft_proto, truncated_frames_are_malformed_and_have_no_effect)
{
    struct recorder source = {.count = 0}, sink = {.count = 0};
    struct ft_proto *p;

    frames_collect(&source);
    p = machine_open(8, 0, &sink);
    for (size_t i = 0; i < source.count; i++)
        for (size_t len = 0; len < source.len[i]; len++)
            cr_assert_eq(receive_exact(p, 1, source.frame[i], len), -1);
    cr_assert_eq(sink.count, 0);
    cr_assert_eq(sink.failures, 0);
    cr_assert_gt(ft_proto_malformed(p), 0);
    for (size_t i = 0; i < source.count; i++) { /* also with a byte too many */
        uint8_t *longer = calloc(1, source.len[i] + 1);

        cr_assert_not_null(longer);
        memcpy(longer, source.frame[i], source.len[i]);
        cr_assert_eq(receive_exact(p, 1, longer, source.len[i] + 1), -1);
        free(longer);
    }
    cr_assert_eq(sink.count, 0);
    ft_proto_free(p);
    recorder_clear(&source);
    recorder_clear(&sink);
}

/* Mutated and random frames: nothing but the return value and the sanitizers decide. */
Test(ft_proto, hostile_frames_are_survived)
{
    struct recorder source = {.count = 0}, sink = {.count = 0};
    struct ft_proto *p;
    uint64_t random = 7;
    uint8_t frame[4096];

    frames_collect(&source);
    p = machine_open(8, 0, &sink);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        size_t i = random_below(&random, source.count), len = source.len[i];

        cr_assert_leq(len, sizeof frame);
        memcpy(frame, source.frame[i], len);
        if (round % 8 == 0) {
            len = random_below(&random, 200);
            for (size_t k = 4; k < len; k++)
                frame[k] = (uint8_t)random_next(&random);
        }
        for (uint64_t k = random_below(&random, 5); k > 0 && len > 0; k--)
            frame[random_below(&random, len)] = (uint8_t)random_next(&random);
        receive_exact(p, (uint32_t)random_below(&random, NODES + 1), frame, len);
        recorder_clear(&sink);
        if (ft_proto_is_self_failed(p) || round % 500 == 0) {
            ft_proto_free(p);
            p = machine_open(8, 0, &sink);
        }
    }
    ft_proto_free(p);
    recorder_clear(&source);
    recorder_clear(&sink);
}

Test(ft_proto, invalid_configurations_are_refused)
{
    static const uint32_t twice[3] = {0, 1, 1};
    const struct ft_config good = {
        .me = 1, .nnodes = 3, .npes = 3, .delta = DELTA, .calls = &record_calls};
    struct ft_config c;

    for (int i = 0; i < 7; i++) {
        c = good;
        c.me = i == 0 ? 3 : c.me;
        c.nnodes = i == 1 ? 0 : c.nnodes;
        c.npes = i == 2 ? 0 : c.npes;
        c.delta = i == 3 ? 0 : c.delta;
        c.eta = i == 4 ? DELTA : 0;
        c.order = i == 5 ? twice : NULL;
        c.calls = i == 6 ? NULL : c.calls;
        cr_assert_null(ft_proto_init(&c, 0), "case %d", i);
    }
}

/* A team of one node decides at once; a second call has no effect; bounds of the words.
 */
/* The host may drop a VERDICT: a live node that was declared failed is told again. */
Test(ft_proto, a_failed_node_that_sends_is_told_once_per_delta)
{
    struct recorder r = {.count = 0};
    struct ft_proto *p = machine_open(0, 0, &r);
    uint8_t beat[] = {FT_WIRE_VERSION, FT_FRAME_BEAT, 0, 0};
    uint64_t t = 0;

    while (!ft_proto_node_failed(p, NODES - 1))
        t = ft_proto_tick(p, t);
    for (unsigned i = 1; i <= 4; i++) {
        recorder_clear(&r);
        t = t + 2 * DELTA;
        ft_proto_receive(p, t, NODES - 1, beat, sizeof beat);
        ft_proto_receive(p, t + DELTA / 2, NODES - 1, beat, sizeof beat);
        cr_assert_eq(r.count, 1);
        cr_assert_eq(r.frame[0][1], FT_FRAME_VERDICT);
    }
    recorder_clear(&r);
    ft_proto_free(p);
}

Test(ft_proto, agreement_with_itself)
{
    struct recorder r = {.count = 0};
    struct ft_proto *p = machine_open(2, 0, &r);
    uint64_t members = 1u << 2;
    struct ft_words words = {.n_and = 20, .n_max = 4};

    cr_assert_eq(ft_proto_agree(p, 1, (struct ft_key){1, 0}, &members, &words), 0);
    cr_assert_eq(ft_proto_agree(p, 1, (struct ft_key){1, 0}, &members, &words), 0);
    cr_assert_eq(r.decisions, 2);
    words.n_max = 5;
    cr_assert_eq(ft_proto_agree(p, 1, (struct ft_key){1, 1}, &members, &words), -1);
    cr_assert_eq(ft_proto_broadcast(p, 1, 0, "", FT_PAYLOAD_MAX + 1), -1);
    ft_proto_free(p);
    recorder_clear(&r);
}
