/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * auth.h - how the two ends of a new connection prove to each other that they know the
 * job's nonce.
 *
 * Uses address.h, seal.h.  Used by listener.c and connector.c.
 *
 *     listener -> connector   GREETING  challenge of the listener
 *     connector -> listener   PROOF     challenge of the connector, MAC
 *     listener -> connector   REPLY     MAC
 *
 * MAC = seal_mac, keyed with the nonce, of: the role of the sender, against reflection;
 * the listener's address, against a relay that listens elsewhere; and both challenges,
 * against replay.  The listener sends its MAC only after it has verified that of the
 * connector.  Each message has a fixed size and starts with the same magic bytes, so that
 * data of other protocols is recognized early.  What follows is sealed with keys that
 * both challenges determine (auth_seal).
 *
 * Two further messages carry no proof: AGAIN from the listener (its table is full; retry)
 * and LEAVE from the connector (another address has been authenticated).
 */
#ifndef OSHRUN_NET_AUTH_H
#define OSHRUN_NET_AUTH_H

#include "pgas/core/base/address.h"
#include "pgas/core/base/seal.h"
#include "tools/oshrun/net/listener.h"

#include <stdbool.h>
#include <stddef.h>

#define AUTH_HEADER_BYTES  8
#define AUTH_MESSAGE_BYTES (AUTH_HEADER_BYTES + SEAL_CHALLENGE + SEAL_MAC)

enum auth_role { AUTH_LISTENER, AUTH_CONNECTOR };

enum auth_news {
    AUTH_WAITS,   /* more bytes are needed */
    AUTH_GREETED, /* connector: the caller may call auth_prove */
    AUTH_PROVEN,
    AUTH_ALIEN, /* malformed message */
    AUTH_WRONG, /* the other side does not know the nonce */
    AUTH_AGAIN,
    AUTH_LEFT,
    AUTH_CLOSED,
    AUTH_BROKEN /* errno */
};

struct auth {
    int fd;
    enum auth_role role;
    const struct nonce *nonce;
    struct address listener;
    uint8_t mine[SEAL_CHALLENGE], theirs[SEAL_CHALLENGE];
    bool greeted, proved; /* of the connector */
    unsigned char got[AUTH_MESSAGE_BYTES];
    size_t have;
};

/* fd: connected and non-blocking; owned by the caller.  A listener sends GREETING.
 * Returns 0, or -1 with errno. */
int auth_start(struct auth *a, int fd, enum auth_role role, const struct nonce *nonce);

/* Reads available bytes, but none beyond the authentication messages. */
enum auth_news auth_read(struct auth *a);

/* Sends the connector's PROOF.  0, or -1 with errno. */
int auth_prove(struct auth *a);

/* After AUTH_PROVEN: the seal of this end. */
struct seal *auth_seal(const struct auth *a);

/* Sends AGAIN (listener) or LEAVE (connector); ignores errors. */
void auth_leave(struct auth *a);

#endif
