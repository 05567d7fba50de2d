/* SPDX-License-Identifier: BSD-3-Clause */
/* auth.c - see auth.h; the nonce itself is declared in listener.h. */
#include "config.h"

#include "tools/oshrun/net/auth.h"

#include <errno.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

enum kind { GREETING, PROOF, REPLY, AGAIN, LEAVE, KINDS };

/* Start of each message, the last byte is the version; one byte with the kind follows. */
static const unsigned char magic[AUTH_HEADER_BYTES - 1] = {'o', 's', 'h', 'r',
                                                           'u', 'n', 1};
static const size_t body_bytes[KINDS] = {
    [GREETING] = AUTH_CHALLENGE_BYTES,
    [PROOF] = AUTH_CHALLENGE_BYTES + AUTH_MAC_BYTES,
    [REPLY] = AUTH_MAC_BYTES,
};

_Static_assert(SHA256_DIGEST_SIZE == AUTH_MAC_BYTES, "a MAC is a SHA-256");

/* ---- the nonce -------------------------------------------------------------------- */

static int auth_fill_random(unsigned char *bytes, size_t len)
{
    ssize_t n;
    do
        n = getrandom(bytes, len, 0);
    while (n < 0 && errno == EINTR);
    if (n >= 0 && (size_t)n != len)
        errno = EIO;
    return n >= 0 && (size_t)n == len ? 0 : -1;
}

int nonce_make(struct nonce *n)
{
    return auth_fill_random(n->byte, sizeof n->byte);
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

/* Adds the listener's address in a form that is equal on both ends. */
static void auth_add_address(struct hmac_sha256_ctx *mac, const struct address *a)
{
    unsigned char family = (unsigned char)a->as.any.sa_family;
    hmac_sha256_update(mac, sizeof family, &family);
    if (a->as.any.sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = &a->as.in6;
        hmac_sha256_update(mac, sizeof six->sin6_addr, six->sin6_addr.s6_addr);
        hmac_sha256_update(mac, sizeof six->sin6_port, (const uint8_t *)&six->sin6_port);
    } else {
        const struct sockaddr_in *in = &a->as.in;
        hmac_sha256_update(mac, sizeof in->sin_addr, (const uint8_t *)&in->sin_addr);
        hmac_sha256_update(mac, sizeof in->sin_port, (const uint8_t *)&in->sin_port);
    }
}

/* The MAC that the end with role `sender` sends. */
static void auth_make_mac(const struct auth *a, enum auth_role sender,
                          unsigned char mac[AUTH_MAC_BYTES])
{
    static const char *const role[] = {
        [AUTH_LISTENER] = "listener", [AUTH_CONNECTOR] = "connector"};
    bool listener = a->role == AUTH_LISTENER;
    struct hmac_sha256_ctx ctx;
    hmac_sha256_set_key(&ctx, NONCE_BYTES, a->nonce->byte);
    hmac_sha256_update(&ctx, sizeof magic, magic);
    hmac_sha256_update(&ctx, strlen(role[sender]), (const uint8_t *)role[sender]);
    auth_add_address(&ctx, &a->listener);
    hmac_sha256_update(&ctx, AUTH_CHALLENGE_BYTES, listener ? a->mine : a->theirs);
    hmac_sha256_update(&ctx, AUTH_CHALLENGE_BYTES, listener ? a->theirs : a->mine);
    hmac_sha256_digest(&ctx, AUTH_MAC_BYTES, mac);
}

static bool auth_verify_mac(const struct auth *a, const unsigned char *mac)
{
    unsigned char right[AUTH_MAC_BYTES];
    auth_make_mac(a, a->role == AUTH_LISTENER ? AUTH_CONNECTOR : AUTH_LISTENER, right);
    return memeql_sec(right, mac, sizeof right) != 0;
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
    if (auth_fill_random(a->mine, sizeof a->mine) != 0)
        return -1;
    return role == AUTH_LISTENER ? auth_send_message(a, GREETING, a->mine) : 0;
}

int auth_prove(struct auth *a)
{
    unsigned char body[AUTH_CHALLENGE_BYTES + AUTH_MAC_BYTES];
    memcpy(body, a->mine, sizeof a->mine);
    auth_make_mac(a, AUTH_CONNECTOR, body + sizeof a->mine);
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
    unsigned char mac[AUTH_MAC_BYTES];
    memcpy(a->theirs, body, sizeof a->theirs);
    if (!auth_verify_mac(a, body + sizeof a->theirs))
        return AUTH_WRONG;
    auth_make_mac(a, AUTH_LISTENER, mac);
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
