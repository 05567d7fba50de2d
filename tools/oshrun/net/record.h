/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - the encrypted records in which a link sends its stream of frames.
 *
 *     u32 length of the body, little-endian, at most RECORD_BODY_MAX
 *     tag of the length
 *     body: bytes of the stream, encrypted
 *     tag of the body
 *
 * A record has no relation to frames: it carries what was queued when it was made.  The
 * length has a tag of its own, because a receiver that believed a changed length would
 * wait for bytes that never come.  Both tags also cover the number of the record
 * (seal.h), so that no record can be dropped, repeated or moved without notice.
 *
 * A length of 0, without body and its tag, is an alert: what its sender has received is
 * not authentic or not complete, and it sends nothing more.  It may come in the middle of
 * a frame.
 *
 * Uses libevent, seal.h, error.h.  Used by link.c, link_help.h.
 */
#ifndef OSHRUN_NET_RECORD_H
#define OSHRUN_NET_RECORD_H

#include "pgas/core/base/seal.h"

#include <stddef.h>
#include <stdint.h>

enum {
    RECORD_HEAD = sizeof(uint32_t) + SEAL_TAG,
    RECORD_BODY_MAX = 16 * 1024,
    RECORD_MAX = RECORD_HEAD + RECORD_BODY_MAX + SEAL_TAG,
};

struct evbuffer;

/* Moves bytes from `plain`, which is not empty, to one record at the end of `wire`. */
void record_seal(struct seal *s, struct evbuffer *plain, struct evbuffer *wire);

/* Adds an alert. */
void record_seal_alert(struct seal *s, struct evbuffer *wire);

enum record_status {
    RECORD_MORE, /* the next record is not complete */
    RECORD_DONE, /* its body was moved */
    RECORD_ALERT,
    RECORD_NOT_AUTHENTIC
};

/* Moves the body of the next record from `wire` to the end of `plain`.  *body: 0 before
 * the first call; then the length of a body whose head was received. */
enum record_status record_open(struct seal *s, uint32_t *body, struct evbuffer *wire,
                               struct evbuffer *plain);

#endif
