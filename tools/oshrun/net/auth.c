/* SPDX-License-Identifier: BSD-3-Clause */
/* auth.c - see auth.h; the nonce itself is declared in listener.h. */
#include "config.h"

#include "tools/oshrun/net/auth.h"
#include "tools/oshrun/util/error.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum kind { GREETING, PROOF, REPLY, AGAIN, LEAVE, KINDS };

/* Start of each message, the last byte is the version; one byte with the kind follows. */
static const unsigned char magic[AUTH_HEADER_BYTES - 1] = {'o', 's', 'h', 'r',
                                                           'u', 'n', 2};
static const size_t body_bytes[KINDS] = {
    [GREETING] = SEAL_CHALLENGE,
    [PROOF] = SEAL_CHALLENGE + SEAL_MAC,
    [REPLY] = SEAL_MAC,
};

_Static_assert(NONCE_BYTES == SEAL_SECRET, "a nonce is the secret of seals");

/* ---- the nonce -------------------------------------------------------------------- */

int nonce_make(struct nonce *n)
{
    return seal_random(n->byte, sizeof n->byte) ? 0 : -1;
}

static const char digits[] = "0123456789abcdef";

void nonce_to_hex(const struct nonce *n, char hex[NONCE_HEX_BYTES])
{
    for (size_t i = 0; i < NONCE_BYTES; i++) {
        *hex++ = digits[n->byte[i] >> 4];
        *hex++ = digits[n->byte[i] & 0xf];
    }
    *hex = '\0';
}

int nonce_from_hex(struct nonce *n, const char *hex)
{
    if (strlen(hex) != 2 * NONCE_BYTES || strspn(hex, digits) != 2 * NONCE_BYTES)
        return -1;
    for (size_t i = 0; i < NONCE_BYTES; i++) {
        long high = strchr(digits, hex[2 * i]) - digits;
        long low = strchr(digits, hex[2 * i + 1]) - digits;
        n->byte[i] = (unsigned char)(high << 4 | low);
    }
    return 0;
}

/* ---- messages --------------------------------------------------------------------- */

/* A proof and what it covers. */
enum { HOST, PORT, OF_LISTENER, OF_CONNECTOR, PARTS };

static const char *const labels[] = {
    [AUTH_LISTENER] = "oshrun 2, listener", [AUTH_CONNECTOR] = "oshrun 2, connector"};

/* The length of the listener's address tells its family. */
static void auth_list_parts(const struct auth *a, struct seal_part part[PARTS])
{
    const struct address *at = &a->listener;
    bool listener = a->role == AUTH_LISTENER;
    if (at->as.any.sa_family == AF_INET6) {
        part[HOST] =
            (struct seal_part){&at->as.in6.sin6_addr, sizeof at->as.in6.sin6_addr};
        part[PORT] =
            (struct seal_part){&at->as.in6.sin6_port, sizeof at->as.in6.sin6_port};
    } else {
        part[HOST] = (struct seal_part){&at->as.in.sin_addr, sizeof at->as.in.sin_addr};
        part[PORT] = (struct seal_part){&at->as.in.sin_port, sizeof at->as.in.sin_port};
    }
    part[OF_LISTENER] =
        (struct seal_part){listener ? a->mine : a->theirs, SEAL_CHALLENGE};
    part[OF_CONNECTOR] =
        (struct seal_part){listener ? a->theirs : a->mine, SEAL_CHALLENGE};
}

/* The MAC of this end. */
static void auth_make_mac(const struct auth *a, uint8_t mac[SEAL_MAC])
{
    struct seal_part part[PARTS];
    auth_list_parts(a, part);
    seal_mac(a->nonce->byte, labels[a->role], part, PARTS, mac);
}

static bool auth_verify_mac(const struct auth *a, const uint8_t mac[SEAL_MAC])
{
    struct seal_part part[PARTS];
    enum auth_role other = a->role == AUTH_LISTENER ? AUTH_CONNECTOR : AUTH_LISTENER;
    auth_list_parts(a, part);
    return seal_verify(a->nonce->byte, labels[other], part, PARTS, mac);
}

struct seal *auth_seal(const struct auth *a)
{
    bool listener = a->role == AUTH_LISTENER;
    struct seal *s = seal_new(a->nonce->byte, "oshrun 2", listener ? a->mine : a->theirs,
                              listener ? a->theirs : a->mine, listener);
    if (s == NULL)
        error_no_memory();
    return s;
}

/* One send suffices: a message fits into the socket buffer of a new connection. */
static int auth_send_message(const struct auth *a, enum kind kind,
                             const unsigned char *body)
{
    unsigned char m[AUTH_MESSAGE_BYTES];
    size_t len = sizeof magic + 1 + body_bytes[kind];
    memcpy(m, magic, sizeof magic);
    m[sizeof magic] = (unsigned char)kind;
    if (body_bytes[kind] > 0)
        memcpy(m + sizeof magic + 1, body, body_bytes[kind]);
    ssize_t n = send(a->fd, m, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0 && (size_t)n != len)
        errno = EIO;
    return n >= 0 && (size_t)n == len ? 0 : -1;
}

int auth_start(struct auth *a, int fd, enum auth_role role, const struct nonce *nonce)
{
    *a = (struct auth){.fd = fd, .role = role, .nonce = nonce};
    if (role == AUTH_LISTENER)
        address_of_socket(&a->listener, fd);
    else
        address_of_peer(&a->listener, fd);
    if (!seal_random(a->mine, sizeof a->mine))
        return -1;
    return role == AUTH_LISTENER ? auth_send_message(a, GREETING, a->mine) : 0;
}

int auth_prove(struct auth *a)
{
    uint8_t body[SEAL_CHALLENGE + SEAL_MAC];
    memcpy(body, a->mine, sizeof a->mine);
    auth_make_mac(a, body + sizeof a->mine);
    a->proved = true;
    return auth_send_message(a, PROOF, body);
}

void auth_leave(struct auth *a)
{
    auth_send_message(a, a->role == AUTH_LISTENER ? AGAIN : LEAVE, NULL);
}

/* True if the bytes received so far begin a message that is valid in this state. */
static bool auth_acceptable(const struct auth *a)
{
    size_t len = a->have < sizeof magic ? a->have : sizeof magic;
    if (memcmp(a->got, magic, len) != 0)
        return false;
    if (a->have <= sizeof magic)
        return true;
    unsigned kind = a->got[sizeof magic];
    if (a->role == AUTH_LISTENER)
        return kind == PROOF || kind == LEAVE;
    return kind == AGAIN || (kind == GREETING && !a->greeted) ||
           (kind == REPLY && a->proved);
}

static enum auth_news auth_take_proof(struct auth *a, const unsigned char *body)
{
    uint8_t mac[SEAL_MAC];
    memcpy(a->theirs, body, sizeof a->theirs);
    if (!auth_verify_mac(a, body + sizeof a->theirs))
        return AUTH_WRONG;
    auth_make_mac(a, mac);
    return auth_send_message(a, REPLY, mac) == 0 ? AUTH_PROVEN : AUTH_BROKEN;
}

static enum auth_news auth_take_message(struct auth *a)
{
    const unsigned char *body = a->got + AUTH_HEADER_BYTES;
    a->have = 0;
    switch ((enum kind)a->got[sizeof magic]) {
    case GREETING:
        memcpy(a->theirs, body, sizeof a->theirs);
        a->greeted = true;
        return AUTH_GREETED;
    case PROOF:
        return auth_take_proof(a, body);
    case REPLY:
        return auth_verify_mac(a, body) ? AUTH_PROVEN : AUTH_WRONG;
    case AGAIN:
        return AUTH_AGAIN;
    default:
        return AUTH_LEFT;
    }
}

enum auth_news auth_read(struct auth *a)
{
    for (;;) {
        size_t need = AUTH_HEADER_BYTES;
        if (a->have >= AUTH_HEADER_BYTES)
            need += body_bytes[a->got[sizeof magic]];
        if (a->have == need)
            return auth_take_message(a);
        ssize_t n = recv(a->fd, a->got + a->have, need - a->have, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? AUTH_WAITS : AUTH_BROKEN;
        if (n == 0)
            return AUTH_CLOSED;
        a->have += (size_t)n;
        if (!auth_acceptable(a))
            return AUTH_ALIEN;
    }
}
