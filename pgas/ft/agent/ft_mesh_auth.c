/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_mesh_auth.c - how two agents prove to each other that they know the secret of the
 * job.
 *
 * Each end sends a random challenge.  A MAC is the HMAC-SHA256, keyed with the secret, of
 * the role of its sender, against reflection; of the challenge of the listener and the
 * whole proof with that of the connector, against replay; and, in a reply, of the number
 * and the incarnation of the listener.  The proof names the node that it is for, so that
 * an agent that listens at the former port of another one is recognized.
 * Uses: ft_mesh_int.h, nettle.
 */
#include "config.h"

#include <errno.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>

#include "pgas/ft/agent/ft_mesh_int.h"

/* The last byte is the version. */
static const uint8_t hello_magic[8] = {'p', 'g', 'a', 's', 'f', 't', 'H', 1};
static const uint8_t proof_magic[8] = {'p', 'g', 'a', 's', 'f', 't', 'P', 1};
static const uint8_t reply_magic[8] = {'p', 'g', 'a', 's', 'f', 't', 'R', 1};

_Static_assert(SHA256_DIGEST_SIZE == FT_MAC, "a MAC is a SHA-256");
_Static_assert(sizeof(struct ft_endpoint) == FT_ADDRESSES * 24 + 8,
               "no padding in an endpoint");
_Static_assert(sizeof(struct ft_proof) ==
                   8 + FT_CHALLENGE + 40 + sizeof(struct ft_endpoint) + FT_MAC,
               "no padding in a proof");

static bool ft_auth_fill_random(uint8_t *bytes, size_t n)
{
    ssize_t got;

    do
        got = getrandom(bytes, n, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)n;
}

static void ft_auth_proof_mac(const struct ft_proof *proof, const struct ft_hello *hello,
                              const uint8_t *secret, uint8_t mac[FT_MAC])
{
    struct hmac_sha256_ctx ctx;

    hmac_sha256_set_key(&ctx, FT_SECRET, secret);
    hmac_sha256_update(&ctx, sizeof *hello, (const uint8_t *)hello);
    hmac_sha256_update(&ctx, offsetof(struct ft_proof, mac), (const uint8_t *)proof);
    hmac_sha256_digest(&ctx, FT_MAC, mac);
}

static void ft_auth_reply_mac(const struct ft_reply *reply, const struct ft_proof *proof,
                              const struct ft_hello *hello, const uint8_t *secret,
                              uint8_t mac[FT_MAC])
{
    struct hmac_sha256_ctx ctx;

    hmac_sha256_set_key(&ctx, FT_SECRET, secret);
    hmac_sha256_update(&ctx, offsetof(struct ft_reply, mac), (const uint8_t *)reply);
    hmac_sha256_update(&ctx, sizeof *hello, (const uint8_t *)hello);
    hmac_sha256_update(&ctx, sizeof *proof, (const uint8_t *)proof);
    hmac_sha256_digest(&ctx, FT_MAC, mac);
}

bool ft_auth_make_hello(struct ft_hello *hello)
{
    memcpy(hello->magic, hello_magic, sizeof hello_magic);
    return ft_auth_fill_random(hello->challenge, FT_CHALLENGE);
}

bool ft_auth_check_hello(const struct ft_hello *hello)
{
    return memcmp(hello->magic, hello_magic, sizeof hello_magic) == 0;
}

bool ft_auth_make_proof(struct ft_proof *proof, const struct ft_hello *hello,
                        const uint8_t *secret)
{
    memcpy(proof->magic, proof_magic, sizeof proof_magic);
    if (!ft_auth_fill_random(proof->challenge, FT_CHALLENGE))
        return false;
    memcpy(&proof->id, proof->challenge, sizeof proof->id);
    ft_auth_proof_mac(proof, hello, secret, proof->mac);
    return true;
}

bool ft_auth_check_proof(const struct ft_proof *proof, const struct ft_hello *hello,
                         const uint8_t *secret)
{
    uint8_t right[FT_MAC];

    ft_auth_proof_mac(proof, hello, secret, right);
    return memcmp(proof->magic, proof_magic, sizeof proof_magic) == 0 &&
           memeql_sec(right, proof->mac, FT_MAC) != 0;
}

void ft_auth_make_reply(struct ft_reply *reply, const struct ft_proof *proof,
                        const struct ft_hello *hello, const uint8_t *secret)
{
    memcpy(reply->magic, reply_magic, sizeof reply_magic);
    ft_auth_reply_mac(reply, proof, hello, secret, reply->mac);
}

bool ft_auth_check_reply(const struct ft_reply *reply, const struct ft_proof *proof,
                         const struct ft_hello *hello, const uint8_t *secret)
{
    uint8_t right[FT_MAC];

    ft_auth_reply_mac(reply, proof, hello, secret, right);
    return memcmp(reply->magic, reply_magic, sizeof reply_magic) == 0 &&
           memeql_sec(right, reply->mac, FT_MAC) != 0;
}
