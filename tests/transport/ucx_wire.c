/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_wire.c - sends malformed messages to the UCX transport: each is rejected with one
 * message or ignored and changes no memory, and later operations work.
 * usage: ucx_wire [CASE]
 * Uses: pair, ucx.h.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "pgas/transport/ucx/ucx.h"
#include "tests/transport/pair.h"

enum { A, B, WORD = 5, MARK = 0x5a5a, BYTES_MAX = UCX_DATA_MAX + 4096 };

static struct pair pair;
static int rejected; /* messages that B has rejected so far */
static unsigned char bytes[BYTES_MAX];

static void sent(void *request, ucs_status_t status, void *arg)
{
    (void)status;
    ucx_lib.request_free(request);
    *(bool *)arg = true;
}

/* Send an active message from A to B. */
static void send_raw(unsigned id, const void *head, size_t head_len, size_t len)
{
    bool done = false;
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = sent,
        .user_data = &done,
    };
    ucs_status_ptr_t request = ucx_lib.am_send_nbx(pair.ctx[A]->peers[B]->ep, id, head,
                                                   head_len, bytes, len, &param);

    CHECK(!UCS_PTR_IS_ERR(request), "a message of %zu + %zu bytes cannot be sent",
          head_len, len);
    const volatile bool *is_sent = &done; /* set by the callback */
    PAIR_UNTIL(&pair, request == NULL || *is_sent, "a message to be sent");
}

static struct ucx_request_header add_request(void)
{
    return (struct ucx_request_header){.operand = 1,
                                       .word_offset = WORD * sizeof(uint64_t),
                                       .pe = A,
                                       .op = TRANSPORT_AMO_ADD,
                                       .size = sizeof(uint64_t),
                                       .word_segment = SEGMENT_HEAP,
                                       .segment = SEGMENT_HEAP};
}

static void is_rejected(unsigned id, const void *head, size_t head_len, size_t len,
                        const char *names)
{
    send_raw(id, head, head_len, len);
    pair_until_failed(&pair, B, ++rejected, names);
    CHECK(strstr(pair.message[B], names) != NULL,
          "the message is '%s', which does not contain '%s'", pair.message[B], names);
    for (unsigned i = 0; i < PAIR_WORDS; i++)
        CHECK(pair.heap[B][i] == MARK, "%s: word %u of the target was changed", names, i);
}

/* ---- the cases ------------------------------------------------------------------- */

static void lengths(void)
{
    unsigned char head[2 * sizeof(struct ucx_request_header)] = {0};
    struct ucx_request_header request = add_request();

    memcpy(head, &request, sizeof request);
    for (size_t len = 0; len < sizeof head; len += 5) {
        if (len != sizeof request)
            is_rejected(UCX_REQUEST_ID, head, len, 0, "length");
        if (len != sizeof(struct ucx_reply_header))
            is_rejected(UCX_REPLY_ID, head, len, 0, "length");
    }
    is_rejected(UCX_REPLY_ID, head, sizeof(struct ucx_reply_header), 8, "length");
    is_rejected(UCX_REQUEST_ID, &request, sizeof request, BYTES_MAX, "longer");
}

static void addresses(void)
{
    static const uint64_t wild[] = {sizeof pair.heap[B], sizeof pair.heap[B] - 4,
                                    UINT64_MAX - 7, UINT64_MAX / 2 + 1, 1};
    const char *outside = "is outside the symmetric memory";
    struct ucx_request_header head;

    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        head = add_request();
        head.word_offset = wild[i];
        is_rejected(UCX_REQUEST_ID, &head, sizeof head, 0, outside);
        head = add_request();
        head.offset = wild[i] == 1 ? sizeof pair.heap[B] - 15 : wild[i];
        is_rejected(UCX_REQUEST_ID, &head, sizeof head, 16, outside);
    }
    head = add_request();
    head.word_segment = SEGMENT_DATA; /* B has none */
    is_rejected(UCX_REQUEST_ID, &head, sizeof head, 0, outside);
    head.word_segment = UINT8_MAX;
    is_rejected(UCX_REQUEST_ID, &head, sizeof head, 0, outside);
    head = add_request();
    head.size = 3;
    is_rejected(UCX_REQUEST_ID, &head, sizeof head, 0, outside);
    head = add_request();
    head.op = TRANSPORT_AMO_XOR;
    is_rejected(UCX_REQUEST_ID, &head, sizeof head, 0, outside);
    for (int i = 0; i < 4; i++) {
        head = add_request();
        head.pe = (int[]){-1, PAIR_PES, INT_MAX, INT_MIN}[i];
        is_rejected(UCX_REQUEST_ID, &head, sizeof head, 0, "sender");
    }
}

static void replies(void)
{
    static const uint64_t unknown[] = {64 * 1024, UINT32_MAX, UINT64_MAX, 0x7f0012345678};
    static const uint64_t stale[] = {7ULL << 32, UINT64_MAX << 32, 1ULL << 63 | 3, 0};
    struct ucx_reply_header head = {.error = 0};

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        head.token = unknown[i];
        is_rejected(UCX_REPLY_ID, &head, sizeof head, 0, "reply to no operation");
    }
    for (size_t i = 0; i < sizeof stale / sizeof stale[0]; i++) {
        head.token = stale[i];
        send_raw(UCX_REPLY_ID, &head, sizeof head, 0);
        pair_idle(&pair, 5);
    }
    CHECK(pair.failures[B] == rejected,
          "a reply to a completed operation was rejected: %s", pair.message[B]);
    head.error = 1;
    is_rejected(UCX_REPLY_ID, &head, sizeof head, 0, "reply to no operation");
    head.error = INT64_MIN;
    is_rejected(UCX_REPLY_ID, &head, sizeof head, 0, "reply to no operation");
}

/* Blocks that a request describes wrongly are answered by an error; the reply matches no
 * operation of A and is ignored. */
static void blocks(void)
{
    static const struct {
        struct transport_vector v;
        uint64_t nvectors, bytes;
    } bad[] = {
        {{.offset = sizeof pair.heap[B] - 8, .stride = 8, .count = 2, .block = 8}, 1, 16},
        {{.offset = 0, .stride = -8, .count = 2, .block = 8}, 1, 16},
        {{.offset = 0, .stride = 1LL << 62, .count = 5, .block = 8}, 1, 40},
        {{.offset = 0, .stride = 8, .count = UINT64_MAX / 8 + 2, .block = 8}, 1, 8},
        {{.offset = 0, .stride = 8, .count = 0, .block = 8}, 1, 0},
        {{.offset = 0, .stride = 8, .count = 2, .block = 8, .segment = SEGMENTS}, 1, 16},
        {{.offset = 0, .stride = 8, .count = 2, .block = 8}, 1, 24},
        {{.offset = 0, .stride = 8, .count = 2, .block = 8}, 2, 16},
        {{.offset = 0, .stride = 8, .count = 2, .block = 8}, UINT64_MAX, 16},
    };

    for (size_t i = 0; i < 2 * sizeof bad / sizeof bad[0]; i++) {
        bool put = i % 2 == 0;
        struct ucx_request_header head = {.token = ~0ULL << 32,
                                          .operand = bad[i / 2].nvectors,
                                          .len = bad[i / 2].bytes,
                                          .pe = A,
                                          .type = put ? UCX_REQUEST_PUT_BLOCKS
                                                      : UCX_REQUEST_GET_BLOCKS};
        memcpy(bytes, &bad[i / 2].v, sizeof bad[0].v);
        is_rejected(UCX_REQUEST_ID, &head, sizeof head,
                    sizeof bad[0].v + (put ? bad[i / 2].bytes : 0),
                    "is outside the symmetric memory");
    }
}

static void fragment_copy(const struct transport_blocks *b, void *packed)
{
    memset(packed, MARK & UINT8_MAX, b->bytes);
}

/* Puts of blocks to a PE that makes no progress take a bounded amount of memory. */
static void bounded(void)
{
    enum { BLOCK = 8, COUNT = 1000 };
    const struct transport_vector v = {
        .stride = 2 * BLOCK, .count = COUNT, .block = BLOCK};
    const struct transport_blocks put = {.pe = B,
                                         .nvectors = 1,
                                         .bytes = COUNT * BLOCK,
                                         .vector = &v,
                                         .copy = fragment_copy};
    struct transport_ctx *ctx = pair.ctx[A];
    unsigned n = 0;
    int rc;

    while ((rc = pair.t->put_blocks(ctx, &put)) == 0 &&
           n < 2 * UCX_BLOCKS_MAX / put.bytes)
        n++;
    CHECK(rc == -EAGAIN && n > 0, "put %u of blocks returned %d", n, rc);
    CHECK(ctx->messages_len <= UCX_BLOCKS_MAX, "%zu bytes are in flight",
          ctx->messages_len);
    PAIR_UNTIL(&pair, pair.t->quiet(ctx) == 0, "quiet");
    CHECK(ctx->messages_len == 0, "%zu bytes are not freed", ctx->messages_len);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"lengths", lengths},
             {"addresses", addresses},
             {"replies", replies},
             {"blocks", blocks},
             {"bounded", bounded}};

int main(int argc, char **argv)
{
    pair_open(&pair, &transport_ucx, NULL, 5000);
    pair_check_works(&pair);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)
            continue;
        for (unsigned w = 0; w < PAIR_WORDS; w++)
            pair.heap[B][w] = MARK;
        cases[i].run();
        pair_check_works(&pair);
        printf("ok %s\n", cases[i].name);
        fflush(stdout);
    }
    pair_close(&pair);
    return EXIT_SUCCESS;
}
