/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - see record.h. */
#include "config.h"

#include "tools/oshrun/net/record.h"

#include "tools/oshrun/util/error.h"

#include <endian.h>
#include <event2/buffer.h>
#include <stdbool.h>
#include <string.h>

/* n contiguous bytes at the end of b, to be committed.  Without memory the process
 * ends. */
static struct evbuffer_iovec record_reserve(struct evbuffer *b, size_t n)
{
    struct evbuffer_iovec v;
    if (evbuffer_reserve_space(b, (ev_ssize_t)n, &v, 1) != 1)
        error_no_memory();
    v.iov_len = n;
    return v;
}

void record_seal(struct seal *s, struct evbuffer *plain, struct evbuffer *wire)
{
    size_t n = evbuffer_get_length(plain);
    n = n < RECORD_BODY_MAX ? n : RECORD_BODY_MAX;
    uint32_t len = htole32((uint32_t)n);
    struct evbuffer_iovec v = record_reserve(wire, RECORD_HEAD + n + SEAL_TAG);
    unsigned char *head = v.iov_base, *body = head + RECORD_HEAD;
    memcpy(head, &len, sizeof len);
    seal_encrypt(s, head, sizeof len, NULL, 0, NULL, head + sizeof len);
    evbuffer_remove(plain, body, n);
    seal_encrypt(s, NULL, 0, body, n, body, body + n);
    evbuffer_commit_space(wire, &v, 1);
}

/* Reads the head of the next record.  False: it is not authentic. */
static bool record_read_head(struct seal *s, uint32_t *body, struct evbuffer *wire)
{
    unsigned char head[RECORD_HEAD];
    uint32_t len;
    evbuffer_remove(wire, head, sizeof head);
    memcpy(&len, head, sizeof len);
    *body = le32toh(len);
    return seal_decrypt(s, head, sizeof len, NULL, 0, NULL, head + sizeof len) &&
           *body >= 1 && *body <= RECORD_BODY_MAX;
}

enum record_status record_open(struct seal *s, uint32_t *body, struct evbuffer *wire,
                               struct evbuffer *plain)
{
    if (*body == 0) {
        if (evbuffer_get_length(wire) < RECORD_HEAD)
            return RECORD_MORE;
        if (!record_read_head(s, body, wire))
            return RECORD_NOT_AUTHENTIC;
    }
    size_t n = *body;
    if (evbuffer_get_length(wire) < n + SEAL_TAG)
        return RECORD_MORE;
    const unsigned char *from = evbuffer_pullup(wire, (ev_ssize_t)(n + SEAL_TAG));
    if (from == NULL)
        error_no_memory();
    struct evbuffer_iovec v = record_reserve(plain, n);
    if (!seal_decrypt(s, NULL, 0, from, n, v.iov_base, from + n))
        return RECORD_NOT_AUTHENTIC;
    evbuffer_commit_space(plain, &v, 1);
    evbuffer_drain(wire, n + SEAL_TAG);
    *body = 0;
    return RECORD_DONE;
}
