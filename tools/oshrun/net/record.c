/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - see record.h. */
#include "config.h"

#include "tools/oshrun/net/record.h"

#include "tools/oshrun/util/error.h"

#include <endian.h>
#include <event2/buffer.h>
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

/* Returns the end of the head. */
static unsigned char *record_seal_head(struct seal *s, uint32_t body, unsigned char *head)
{
    uint32_t len = htole32(body);
    memcpy(head, &len, sizeof len);
    seal_encrypt(s, head, sizeof len, NULL, 0, NULL, head + sizeof len);
    return head + RECORD_HEAD;
}

void record_seal(struct seal *s, struct evbuffer *plain, struct evbuffer *wire)
{
    size_t n = evbuffer_get_length(plain);
    n = n < RECORD_BODY_MAX ? n : RECORD_BODY_MAX;
    struct evbuffer_iovec v = record_reserve(wire, RECORD_HEAD + n + SEAL_TAG);
    unsigned char *body = record_seal_head(s, (uint32_t)n, v.iov_base);
    evbuffer_remove(plain, body, n);
    seal_encrypt(s, NULL, 0, body, n, body, body + n);
    evbuffer_commit_space(wire, &v, 1);
}

void record_seal_alert(struct seal *s, struct evbuffer *wire)
{
    struct evbuffer_iovec v = record_reserve(wire, RECORD_HEAD);
    record_seal_head(s, 0, v.iov_base);
    evbuffer_commit_space(wire, &v, 1);
}

/* Reads the head of the next record: MORE if a body follows. */
static enum record_status record_read_head(struct seal *s, uint32_t *body,
                                           struct evbuffer *wire)
{
    unsigned char head[RECORD_HEAD];
    uint32_t len;
    evbuffer_remove(wire, head, sizeof head);
    memcpy(&len, head, sizeof len);
    *body = le32toh(len);
    if (!seal_decrypt(s, head, sizeof len, NULL, 0, NULL, head + sizeof len) ||
        *body > RECORD_BODY_MAX)
        return RECORD_NOT_AUTHENTIC;
    return *body > 0 ? RECORD_MORE : RECORD_ALERT;
}

enum record_status record_open(struct seal *s, uint32_t *body, struct evbuffer *wire,
                               struct evbuffer *plain)
{
    if (*body == 0) {
        if (evbuffer_get_length(wire) < RECORD_HEAD)
            return RECORD_MORE;
        enum record_status head = record_read_head(s, body, wire);
        if (head != RECORD_MORE)
            return head;
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
