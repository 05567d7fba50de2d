/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_serve_run.c - performs runs of operations on words (see tcp_wire.h, tcp_serve.c).
 */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "pgas/datatype/copy.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/tcp/tcp.h"

/* The words of an operation are mostly far apart: those of later operations are fetched
 * in advance. */
enum { AHEAD = 8 };

/* The records of a run and the segment that they refer to. */
struct tcp_records {
    char *base;
    uint64_t last; /* highest offset of a word */
    const char *records;
    size_t n;    /* records */
    size_t size; /* of a word */
};

/* False: malformed. */
static bool tcp_run_open(struct tcp_records *run, const struct tcp_client *client,
                         const struct tcp_request *r, const char *body, size_t stride)
{
    const struct transport_world *world = client->ctx->net->world;
    uint64_t len = tcp_request_len(r);
    size_t size = tcp_serve_word_size(r->flags);

    if (r->segment >= SEGMENTS || world->segment[r->segment].len < size || len == 0 ||
        len % stride != 0)
        return false;
    *run = (struct tcp_records){.base = world->segment[r->segment].base,
                                .last = world->segment[r->segment].len - size,
                                .records = body,
                                .n = len / stride,
                                .size = size};
    return true;
}

/* The word of record i, whose offset is first; NULL: it is not inside the segment. */
ALWAYS_INLINE char *tcp_run_word(const struct tcp_records *run, size_t i, size_t stride)
{
    uint64_t offset, next;

    memcpy(&offset, run->records + i * stride, sizeof offset);
    if (i + AHEAD < run->n) {
        memcpy(&next, run->records + (i + AHEAD) * stride, sizeof next);
        if (likely(next <= run->last))
            __builtin_prefetch(run->base + next, 1);
    }
    return unlikely(offset > run->last) ? NULL : run->base + offset;
}

ALWAYS_INLINE uint64_t tcp_run_operand(const struct tcp_records *run, size_t i)
{
    uint64_t operand;

    memcpy(&operand,
           run->records + i * sizeof(struct tcp_record) +
               offsetof(struct tcp_record, operand),
           sizeof operand);
    return operand;
}

/* A reply for all results of the run; NULL: no memory. */
static char *tcp_run_reply(struct tcp_client *client, const struct tcp_records *run)
{
    size_t len = run->n * run->size;

    if (tcp_client_reply(client, TCP_DATA_RUN, len) != 0)
        return NULL;
    return tcp_output_reserve(&client->stream, len);
}

int tcp_serve_put_run(struct tcp_client *client, const struct tcp_request *r,
                      const char *body)
{
    struct tcp_records run;

    if (!tcp_run_open(&run, client, r, body, sizeof(struct tcp_record)))
        return -EPROTO;
    for (size_t i = 0; i < run.n; i++) {
        char *word = tcp_run_word(&run, i, sizeof(struct tcp_record));
        uint64_t value = tcp_run_operand(&run, i);
        if (word == NULL)
            return -EFAULT;
        copy_bytes(word, &value, run.size);
    }
    return tcp_serve_done(client, r->flags, (uint32_t)run.n);
}

int tcp_serve_get_run(struct tcp_client *client, const struct tcp_request *r,
                      const char *body)
{
    struct tcp_records run;

    if (!tcp_run_open(&run, client, r, body, sizeof(uint64_t)))
        return -EPROTO;
    char *to = tcp_run_reply(client, &run);
    if (to == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < run.n; i++) {
        const char *word = tcp_run_word(&run, i, sizeof(uint64_t));
        if (word == NULL)
            return -EFAULT;
        copy_bytes(to + i * run.size, word, run.size);
    }
    client->events++;
    return 0;
}

/* `old`: the results; or NULL.  op is constant. */
ALWAYS_INLINE int tcp_run_update(const struct tcp_records *run, enum transport_amo_op op,
                                 char *old)
{
    for (size_t i = 0; i < run->n; i++) {
        char *word = tcp_run_word(run, i, sizeof(struct tcp_record));
        if (unlikely(word == NULL || (uintptr_t)word % run->size != 0))
            return -EFAULT;
        uint64_t value = perform_op(op, word, tcp_run_operand(run, i), 0, run->size);
        if (old != NULL)
            memcpy(old + i * run->size, &value, run->size); /* its low bytes */
    }
    return 0;
}

/* Without results a bitwise operation is one instruction. */
#define UPDATE(OP)                                                                       \
    static int tcp_run_##OP(const struct tcp_records *run, char *old)                    \
    {                                                                                    \
        if (old == NULL)                                                                 \
            return tcp_run_update(run, TRANSPORT_AMO_##OP, NULL);                        \
        return tcp_run_update(run, TRANSPORT_AMO_##OP, old);                             \
    }
UPDATE(SET)
UPDATE(FETCH)
UPDATE(SWAP)
UPDATE(ADD)
UPDATE(AND)
UPDATE(OR)
UPDATE(XOR)
#undef UPDATE

static int (*const updates[TRANSPORT_AMO_OPS])(const struct tcp_records *run,
                                               char *old) = {
    [TRANSPORT_AMO_SET] = tcp_run_SET,   [TRANSPORT_AMO_FETCH] = tcp_run_FETCH,
    [TRANSPORT_AMO_SWAP] = tcp_run_SWAP, [TRANSPORT_AMO_ADD] = tcp_run_ADD,
    [TRANSPORT_AMO_AND] = tcp_run_AND,   [TRANSPORT_AMO_OR] = tcp_run_OR,
    [TRANSPORT_AMO_XOR] = tcp_run_XOR,
};

int tcp_serve_amo_run(struct tcp_client *client, const struct tcp_request *r,
                      const char *body)
{
    char *old = NULL;
    struct tcp_records run;

    if (r->op >= TRANSPORT_AMO_OPS || updates[r->op] == NULL ||
        !tcp_run_open(&run, client, r, body, sizeof(struct tcp_record)))
        return -EPROTO;
    if (r->flags & TCP_RESULT) {
        old = tcp_run_reply(client, &run);
        if (old == NULL)
            return -ENOMEM;
    }
    int error = updates[r->op](&run, old);
    return error != 0 ? error : tcp_serve_done(client, r->flags, (uint32_t)run.n);
}
