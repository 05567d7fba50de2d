/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_wire.c - sends malformed messages to the libfabric transport: each is rejected with
 * one message or ignored and changes no memory, and later operations work.
 * usage: ofi_wire [CASE]
 * Uses: pair, ofi_blocks.h.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "pgas/transport/ofi/ofi_blocks.h"
#include "tests/transport/pair.h"

enum { A, B, WORD = 5, MARK = 0x5a5a };

#define HEAD offsetof(struct ofi_message, name)

static struct pair pair;
static int rejected; /* messages that B has rejected so far */

/* Send `len` bytes from PE `from` to context 0 of the other PE. */
static void send_raw(int from, const void *message, size_t len)
{
    const struct transport_symaddr symaddr = {.pe = 1 - from};
    struct transport_ctx *ctx = pair.ctx[from];
    struct ofi_target target;
    struct ofi_op *op = NULL;
    ssize_t rc = -FI_EAGAIN;

    CHECK(ofi_target(ctx, &symaddr, &target) == 0, "no address of PE %d", 1 - from);
    if (len > ctx->net->info->tx_attr->inject_size) {
        op = ofi_op_alloc(ctx, OFI_REPLY, 1 - from, NULL);
        ctx->in_flight--;
    }
    PAIR_UNTIL(&pair,
               (rc = op == NULL ? fi_inject(ctx->ep, message, len, target.addr)
                                : fi_send(ctx->ep, message, len, NULL, target.addr,
                                          &op->fi)) != -FI_EAGAIN,
               "a message to be posted");
    CHECK(rc == 0, "a message of %zu bytes: %zd", len, rc);
}

/* A valid request to B to add 1 to its word WORD; the cases change one field of it. */
static struct ofi_message add_request(void)
{
    return (struct ofi_message){.token = ~0ULL << 32, /* index 0, unused generation */
                                .offset = WORD * sizeof(uint64_t),
                                .operand = 1,
                                .pe = A,
                                .type = OFI_MESSAGE_AMO,
                                .op = TRANSPORT_AMO_ADD,
                                .size = sizeof(uint64_t),
                                .segment = SEGMENT_HEAP};
}

static void mark_heap(void)
{
    for (unsigned i = 0; i < PAIR_WORDS; i++)
        pair.heap[B][i] = MARK;
}

static void check_untouched(const char *what)
{
    for (unsigned i = 0; i < PAIR_WORDS; i++)
        CHECK(pair.heap[B][i] == MARK, "%s: word %u of the target was changed", what, i);
    CHECK(pair.failures[A] == 0, "%s: the sender reports: %s", what, pair.message[A]);
}

/* B rejects this message with a text that contains `names`. */
static void is_rejected(const void *message, size_t len, const char *names)
{
    send_raw(A, message, len);
    pair_until_failed(&pair, B, ++rejected, names);
    CHECK(strstr(pair.message[B], names) != NULL && pair.failed_pe[B] == -1,
          "the message is '%s', which does not contain '%s'", pair.message[B], names);
    check_untouched(names);
}

/* ---- the cases ------------------------------------------------------------------- */

static void lengths(void)
{
    unsigned char bytes[OFI_MESSAGE_MAX] = {0};
    struct ofi_message m = add_request();

    memcpy(bytes, &m, HEAD);
    for (size_t len = 0; len < sizeof bytes; len += len < 2 * HEAD ? 1
                                                    : len < 1024   ? 7
                                                                   : 1021)
        if (len != HEAD)
            is_rejected(bytes, len, len < HEAD ? "shorter" : "length");
}

static void too_long(void)
{
    static unsigned char bytes[4 * OFI_MESSAGE_MAX];
    struct ofi_message m = add_request();

    memcpy(bytes, &m, HEAD);
    for (size_t len = OFI_MESSAGE_MAX + 1; len <= sizeof bytes; len *= 2) {
        send_raw(A, bytes, len);
        pair_until_failed(&pair, B, ++rejected, "a message that is too long");
        check_untouched("too long");
    }
}

static void heads(void)
{
    struct ofi_message m;

    for (unsigned kind = OFI_MESSAGE_REPLY + 1; kind <= UINT8_MAX; kind += 13) {
        m = add_request();
        m.type = (uint8_t)kind;
        is_rejected(&m, HEAD, "kind");
    }
    m = add_request();
    m.name_len = 10;
    is_rejected(&m, HEAD, "length");
    m.name_len = UINT8_MAX;
    is_rejected(&m, sizeof m, "length");
    m = add_request();
    m.len = 64;
    is_rejected(&m, HEAD, "length");
    is_rejected(&m, HEAD + 64, "it has data");
    m.type = OFI_MESSAGE_UNACKED;
    m.len = UINT16_MAX;
    is_rejected(&m, HEAD + 20, "length");
    for (int i = 0; i < 4; i++) {
        m = add_request();
        m.pe = (int[]){-1, PAIR_PES, INT_MAX, INT_MIN}[i];
        is_rejected(&m, HEAD, "sender");
    }
}

/* An unacknowledged signal with a bad address is reported at the target only; an
 * acknowledged one is answered with an error. */
static void has_bad_address(struct ofi_message m, const char *what)
{
    unsigned char bytes[OFI_MESSAGE_MAX] = {0};

    m.type = OFI_MESSAGE_UNACKED;
    memcpy(bytes, &m, HEAD);
    send_raw(A, bytes, HEAD + m.len);
    pair_until_failed(&pair, B, ++rejected, what);
    check_untouched(what);
    m.type = OFI_MESSAGE_SIGNAL; /* the reply matches no operation of A: ignored */
    memcpy(bytes, &m, HEAD);
    send_raw(A, bytes, HEAD + m.len);
    pair_idle(&pair, 5);
    check_untouched(what);
}

static void addresses(void)
{
    static const uint64_t wild[] = {sizeof pair.heap[B], sizeof pair.heap[B] - 4,
                                    UINT64_MAX - 7, UINT64_MAX / 2 + 1, 1};
    struct ofi_message m;

    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        m = add_request();
        m.offset = wild[i];
        has_bad_address(m, "the address of a word");
        m = add_request();
        m.len = 16;
        m.cond = wild[i] == 1 ? sizeof pair.heap[B] - 15 : wild[i];
        has_bad_address(m, "the address of data");
    }
    m = add_request();
    m.segment = SEGMENT_DATA; /* B has none */
    has_bad_address(m, "a segment without memory");
    m.segment = UINT8_MAX;
    has_bad_address(m, "an unknown segment");
    m = add_request();
    m.size = 3;
    has_bad_address(m, "a word of 3 bytes");
    m.size = 0;
    has_bad_address(m, "a word of no bytes");
    m = add_request();
    m.op = TRANSPORT_AMO_OPS;
    has_bad_address(m, "an unknown operation");
}

static void replies(void)
{
    static const uint64_t unknown[] = {64 * 1024, UINT32_MAX, UINT64_MAX, 0x7f0012345678};
    static const uint64_t stale[] = {7ULL << 32, UINT64_MAX << 32, 1ULL << 63 | 3, 70};
    struct ofi_message m = {.type = OFI_MESSAGE_REPLY};

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        m.token = unknown[i];
        is_rejected(&m, HEAD, "matches no operation");
    }
    pair_check_works(&pair); /* creates records of many kinds */
    for (size_t i = 0; i < sizeof stale / sizeof stale[0]; i++) {
        m.token = stale[i];
        send_raw(A, &m, HEAD);
        pair_idle(&pair, 5);
    }
    for (uint64_t index = 0; index < 2 * OFI_SLAB_OPS; index++) {
        m.token = index;
        send_raw(A, &m, HEAD);
        pair_progress(&pair);
    }
    pair_idle(&pair, 5);
    CHECK(pair.failures[B] == rejected,
          "a reply to a completed operation was rejected: %s", pair.message[B]);
    mark_heap();
    for (int i = 0; i < 2; i++) {
        m.token = 0;
        m.pe = (int[]){1, INT_MIN}[i];
        is_rejected(&m, HEAD, "errno");
    }
}

static bool find_token(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    (void)ctx;
    if (op->kind == OFI_REQUEST)
        *(uint64_t *)arg = op->u.message.token;
    return true;
}

/* ---- blocks ---------------------------------------------------------------------- */

/* Blocks that a message of A describes wrongly: the fault of each is in one member. */
static const struct {
    struct transport_vector v;
    uint64_t nvectors, bytes; /* as in the header */
} bad_blocks[] = {
    {{.offset = sizeof pair.heap[B] - 8, .stride = 8, .count = 2, .block = 8}, 1, 16},
    {{.offset = UINT64_MAX - 7, .stride = 8, .count = 2, .block = 8}, 1, 16},
    {{.offset = 0, .stride = -8, .count = 2, .block = 8}, 1, 16},
    {{.offset = 64, .stride = INT64_MIN, .count = 2, .block = 8}, 1, 16},
    {{.offset = 64, .stride = INT64_MAX, .count = 2, .block = 8}, 1, 16},
    {{.offset = 0, .stride = 1LL << 62, .count = 5, .block = 8}, 1, 40},
    {{.offset = 0, .stride = 8, .count = UINT64_MAX / 8 + 2, .block = 8}, 1, 8},
    {{.offset = 0, .stride = 8, .count = 0, .block = 8}, 1, 0},
    {{.offset = 0, .stride = 8, .count = 2, .block = 0}, 1, 16},
    {{.offset = 0, .stride = 8, .count = 2, .block = 8, .segment = SEGMENT_DATA}, 1, 16},
    {{.offset = 0, .stride = 8, .count = 2, .block = 8, .segment = SEGMENTS}, 1, 16},
    {{.offset = 0, .stride = 8, .count = 2, .block = 8}, 1, 24},
    {{.offset = 0, .stride = 8, .count = 2, .block = 8}, 1, 8},
    {{.offset = 0, .stride = 8, .count = 2, .block = 8}, 2, 16},
    {{.offset = 0, .stride = 8, .count = 2, .block = 8}, UINT64_MAX, 16},
    {{.offset = 0, .stride = 8, .count = 2, .block = 8}, 1ULL << 59, 16},
    {{.offset = 0, .stride = 8, .count = 2, .block = 8}, 0, 16},
};

/* None of them changes memory, and no get returns other memory: a reply to it would be
 * rejected, because its length is not that of an operation of A. */
static void blocks(void)
{
    unsigned char bytes[OFI_MESSAGE_MAX] = {0};

    for (size_t i = 0; i < 2 * sizeof bad_blocks / sizeof bad_blocks[0]; i++) {
        bool put = i % 2 == 0;
        struct ofi_message m = add_request();
        m.type = put ? OFI_MESSAGE_PUT_BLOCKS : OFI_MESSAGE_GET_BLOCKS;
        m.operand = bad_blocks[i / 2].nvectors;
        m.cond = bad_blocks[i / 2].bytes;
        m.len = (uint16_t)(sizeof bad_blocks[0].v + (put ? m.cond : 0));
        memcpy(bytes, &m, HEAD);
        memcpy(bytes + HEAD, &bad_blocks[i / 2].v, sizeof bad_blocks[0].v);
        send_raw(A, bytes, HEAD + m.len);
        pair_idle(&pair, 2);
        check_untouched("malformed blocks");
    }
    struct ofi_message m = add_request();
    m.type = OFI_MESSAGE_GET_BLOCKS;
    m.operand = 0;
    m.cond = UINT64_MAX;
    send_raw(A, &m, HEAD);
    pair_idle(&pair, 2);
    CHECK(pair.failures[B] == rejected, "%s", pair.message[B]);
}

static void fragment_copy(const struct transport_blocks *b, void *packed)
{
    if (b->arg != NULL)
        memcpy(b->arg, packed, b->bytes);
}

enum { GETS = 4, BLOCK = 8, COUNT = 100 };

/* Fails if a get has completed before an earlier one; returns true if all have. */
static bool is_in_order(const struct transport_completion *done)
{
    for (int i = 1; i < GETS; i++)
        CHECK(done[i].pending != 0 || done[i - 1].pending == 0,
              "the reply to get %d has overtaken that to get %d", i, i - 1);
    return done[GETS - 1].pending == 0;
}

/* Replies that wait for bounce buffers are sent in the order of the requests, and a new
 * one does not overtake them. */
static void queued_replies(void)
{
    static uint64_t got[GETS][COUNT];
    struct transport_vector v[GETS];
    struct transport_blocks get[GETS];
    struct transport_completion done[GETS];
    struct ofi_op *held[OFI_BOUNCES];

    pair_check_works(&pair);
    for (int i = 0; i < OFI_BOUNCES; i++) {
        held[i] = ofi_op_alloc(pair.ctx[B], OFI_REPLY, A, NULL);
        pair.ctx[B]->in_flight--;
        held[i]->bounce = ofi_bounce_new(pair.ctx[B]);
        CHECK(held[i]->bounce != NULL, "there is no bounce buffer %d", i);
    }
    for (int i = 0; i < GETS; i++) {
        v[i] = (struct transport_vector){.offset = (uint64_t)i * 8,
                                         .stride = 2 * BLOCK,
                                         .count = COUNT,
                                         .block = BLOCK};
        get[i] = (struct transport_blocks){.pe = B,
                                           .nvectors = 1,
                                           .bytes = sizeof got[i],
                                           .vector = &v[i],
                                           .copy = fragment_copy,
                                           .arg = got[i]};
        done[i] = (struct transport_completion){.pending = 1};
        if (i == GETS - 1)
            break;
        CHECK(pair.t->get_blocks(pair.ctx[A], &get[i], &done[i]) == 0, "a get of blocks");
        pair_idle(&pair, 10);
    }
    PAIR_UNTIL(&pair, pair.ctx[B]->replies != NULL, "a queued reply");
    CHECK(pair.t->get_blocks(pair.ctx[A], &get[GETS - 1], &done[GETS - 1]) == 0,
          "a get of blocks");
    ofi_op_free(pair.ctx[B], held[0]); /* so that one reply at a time can be sent */
    PAIR_UNTIL(&pair, is_in_order(done), "the gets of blocks");
    for (int i = 1; i < OFI_BOUNCES; i++)
        ofi_op_free(pair.ctx[B], held[i]);
}

/* ---- windows --------------------------------------------------------------------- */

/* Write `len` bytes from A to B with immediate data. */
static void write_raw(uint64_t at, uint64_t key, void *from, size_t len,
                      uint64_t immediate)
{
    const struct transport_symaddr symaddr = {.pe = B};
    struct ofi_target target;
    struct iovec local = {.iov_base = from, .iov_len = len};
    struct fi_rma_iov remote = {.addr = at, .len = len, .key = key};
    void *desc = NULL;
    struct fi_msg_rma m = {.msg_iov = &local,
                           .desc = &desc,
                           .iov_count = 1,
                           .rma_iov = &remote,
                           .rma_iov_count = 1,
                           .data = immediate};
    ssize_t rc = -FI_EAGAIN;

    CHECK(ofi_target(pair.ctx[A], &symaddr, &target) == 0, "no address of PE %d", B);
    m.addr = target.addr;
    struct ofi_op *op = ofi_op_alloc(pair.ctx[A], OFI_REPLY, B, NULL);
    pair.ctx[A]->in_flight--;
    m.context = &op->fi;
    PAIR_UNTIL(&pair,
               (rc = fi_writemsg(pair.ctx[A]->ep, &m,
                                 FI_COMPLETION | FI_REMOTE_CQ_DATA)) != -FI_EAGAIN,
               "a write to be posted");
    CHECK(rc == 0, "fi_writemsg returned %zd", rc);
}

static void immediate_is_rejected(const struct ofi_slot *slot, uint64_t immediate,
                                  const struct ofi_message *m, const char *names)
{
    unsigned char bytes[sizeof *m + 512] = {0};

    memcpy(bytes, m, HEAD);
    write_raw(slot->at, slot->key, bytes, sizeof bytes, immediate);
    pair_until_failed(&pair, B, ++rejected, names);
    CHECK(strstr(pair.message[B], names) != NULL, "the message is '%s', without '%s'",
          pair.message[B], names);
    check_untouched(names);
}

/* Slots that were not granted or whose contents are malformed, and replies to nothing. */
static void windows(void)
{
    const struct transport_vector v = {
        .stride = 2 * BLOCK, .count = COUNT, .block = BLOCK};
    const struct transport_blocks put = {.pe = B,
                                         .nvectors = 1,
                                         .bytes = COUNT * BLOCK,
                                         .vector = &v,
                                         .copy = fragment_copy};
    struct ofi_slot slot = {.index = -1};

    if (!pair.net[A]->immediate)
        return;
    CHECK(pair.t->put_blocks(pair.ctx[A], &put) == 0, "a put of blocks");
    PAIR_UNTIL(&pair, pair.t->quiet(pair.ctx[A]) == 0, "quiet");
    CHECK(ofi_window_find_slot(pair.ctx[A], B, &slot) == 0, "no window was granted");
    mark_heap();

    struct ofi_message m = add_request();
    m.type = OFI_MESSAGE_PUT_BLOCKS;
    m.operand = 1;
    m.len = sizeof v;
    immediate_is_rejected(&slot, slot.immediate + OFI_SLOTS, &m, "not granted");
    immediate_is_rejected(&slot, OFI_IMMEDIATE_REPLY - 1, &m, "not granted");
    immediate_is_rejected(&slot, UINT64_MAX, &m, "matches no operation");
    m.pe = B;
    immediate_is_rejected(&slot, slot.immediate, &m, "does not own it");
    m = add_request();
    immediate_is_rejected(&slot, slot.immediate, &m, "no put of blocks");
    m.type = OFI_MESSAGE_PUT_BLOCKS;
    m.operand = 2;
    m.len = sizeof v;
    immediate_is_rejected(&slot, slot.immediate, &m, "wrong length");
    m.operand = UINT64_MAX;
    m.len = UINT16_MAX;
    immediate_is_rejected(&slot, slot.immediate, &m, "wrong length");
    m.operand = 1;
    immediate_is_rejected(&slot, slot.immediate, &m, "wrong length");
    m.len = sizeof v + BLOCK; /* less data than the vector: answered by an error */
    unsigned char bytes[sizeof m + sizeof v + COUNT * BLOCK];
    memset(bytes, 0x77, sizeof bytes);
    memcpy(bytes, &m, HEAD);
    memcpy(bytes + HEAD, &v, sizeof v);
    write_raw(slot.at, slot.key, bytes, sizeof bytes, slot.immediate);
    write_raw(slot.at, slot.key, bytes, sizeof bytes, OFI_IMMEDIATE_REPLY); /* stale */
    pair_idle(&pair, 5);
    check_untouched("a slot with a malformed vector");
}

/* Memory for the bounce buffers cannot be allocated. */
static void no_memory(void)
{
    struct ofi_bounce_pool saved = pair.ctx[A]->bounces;
    const struct transport_vector v = {.stride = 16, .count = COUNT, .block = BLOCK};
    const struct transport_blocks put = {.pe = B,
                                         .nvectors = 1,
                                         .bytes = COUNT * BLOCK,
                                         .vector = &v,
                                         .copy = fragment_copy};
    int failures = pair.failures[A];

    pair.ctx[A]->bounces = (struct ofi_bounce_pool){.failed = true};
    int rc = pair.t->put_blocks(pair.ctx[A], &put);
    pair.ctx[A]->bounces = saved;
    CHECK(rc == -ENOMEM, "a put of blocks without memory returned %d", rc);
    CHECK(pair.failures[A] == failures + 1 &&
              strstr(pair.message[A], "bounce buffers") != NULL,
          "the message is '%s'", pair.message[A]);
}

/* A forged reply completes operation 0; the real reply, which arrives later, must not
 * complete operation 1, which uses the same record. */
static void twice(void)
{
    uint64_t got[2] = {0, 0};
    struct transport_completion done[2] = {{.pending = 1}, {.pending = 1}};
    struct ofi_message m = {.type = OFI_MESSAGE_REPLY, .operand = 77};

    pair_check_works(&pair);
    pair.heap[B][WORD] = 5;
    pair.heap[B][WORD + 1] = 6;
    for (unsigned i = 0; i < 2; i++) {
        const struct transport_symaddr at = {.pe = B,
                                             .offset = (WORD + i) * sizeof(uint64_t)};
        const struct transport_amo fetch = {
            .op = TRANSPORT_AMO_FETCH, .size = sizeof got[i], .result = &got[i]};
        CHECK(pair.t->amo(pair.ctx[A], &at, &fetch, &done[i]) == 0, "an amo was refused");
        if (i == 0) {
            ofi_ops_each(pair.ctx[A], find_token, &m.token);
            send_raw(B, &m, HEAD);
            while (done[0].pending != 0)
                pair.t->progress(pair.ctx[A]);
        }
    }
    CHECK(got[0] == 77, "the first reply was not accepted");
    PAIR_UNTIL(&pair, done[1].pending == 0, "the second operation");
    CHECK(got[1] == 6, "the second operation fetched %llu, the result of the first",
          (unsigned long long)got[1]);
    CHECK(pair.failures[A] == 0, "%s", pair.message[A]);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"lengths", lengths}, {"too_long", too_long},
             {"heads", heads},     {"addresses", addresses},
             {"replies", replies}, {"twice", twice},
             {"blocks", blocks},   {"queued_replies", queued_replies},
             {"windows", windows}, {"no_memory", no_memory}};

int main(int argc, char **argv)
{
    pair_open(&pair, &transport_ofi, "atomics", 5000);
    pair_check_works(&pair);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)
            continue;
        mark_heap();
        cases[i].run();
        pair_check_works(&pair);
        printf("ok %s\n", cases[i].name);
        fflush(stdout);
    }
    pair_close(&pair);
    return EXIT_SUCCESS;
}
