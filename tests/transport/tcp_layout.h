/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_layout.h - the fields of the messages of the handshake (tcp_wire.h), and of what
 * their MACs cover. */
#ifndef TESTS_TRANSPORT_TCP_LAYOUT_H
#define TESTS_TRANSPORT_TCP_LAYOUT_H

#include <stddef.h>

#include "pgas/transport/tcp/tcp.h"

enum { FIELDS_MAX = 7 };

enum message { HELLO, CHALLENGE, PROOF, WELCOME, MESSAGES };

struct field {
    const char *name;
    size_t offset, size;
};
/* clang-format off */
#define FIELD(type, name) {#name, offsetof(type, name), sizeof((type *)0)->name}
/* clang-format on */
static const struct layout {
    const char *name;
    bool to_target;
    size_t size;
    struct field field[FIELDS_MAX];
} layouts[MESSAGES] = {
    [HELLO] = {"hello",
               true,
               sizeof(struct tcp_hello),
               {FIELD(struct tcp_hello, magic), FIELD(struct tcp_hello, version),
                FIELD(struct tcp_hello, pe), FIELD(struct tcp_hello, challenge)}},
    [CHALLENGE] = {"challenge",
                   false,
                   sizeof(struct tcp_challenge),
                   {FIELD(struct tcp_challenge, magic),
                    FIELD(struct tcp_challenge, challenge),
                    FIELD(struct tcp_challenge, mac)}},
    [PROOF] = {"proof",
               true,
               sizeof(struct tcp_proof),
               {FIELD(struct tcp_proof, magic), FIELD(struct tcp_proof, mac)}},
    [WELCOME] = {"welcome",
                 false,
                 sizeof(struct tcp_reply),
                 {FIELD(struct tcp_reply, kind), FIELD(struct tcp_reply, acked),
                  FIELD(struct tcp_reply, len)}},
};
static const struct layout transcript_layout = {
    "transcript",
    false,
    sizeof(struct tcp_transcript),
    {FIELD(struct tcp_transcript, magic), FIELD(struct tcp_transcript, version),
     FIELD(struct tcp_transcript, port), FIELD(struct tcp_transcript, initiator),
     FIELD(struct tcp_transcript, target),
     FIELD(struct tcp_transcript, initiator_challenge),
     FIELD(struct tcp_transcript, target_challenge)}};

/* The field of a byte. */
static inline const struct field *field_of(const struct layout *l, size_t byte)
{
    for (size_t i = 0; i < FIELDS_MAX && l->field[i].name != NULL; i++)
        if (byte - l->field[i].offset < l->field[i].size)
            return &l->field[i];
    return NULL;
}

#endif
