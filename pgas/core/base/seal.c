/* SPDX-License-Identifier: BSD-3-Clause */
/* seal.c - see seal.h. */
#include "config.h"

#include "pgas/core/base/seal.h"

#include <endian.h>
#include <errno.h>
#include <nettle/chacha-poly1305.h>
#include <nettle/hkdf.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "pgas/core/base/pgas_assert.h"

enum { SEAL_INFO_MAX = 128 }; /* bytes of a protocol's name and the direction */

struct seal_direction {
    struct chacha_poly1305_ctx ctx;
    uint64_t frames; /* sealed so far: the nonce of the next one */
};

struct seal {
    struct seal_direction send, recv;
};

_Static_assert(SHA256_DIGEST_SIZE == SEAL_MAC, "a MAC is a SHA-256");
_Static_assert(CHACHA_POLY1305_KEY_SIZE == SEAL_SECRET, "a key is as long as a secret");
_Static_assert(CHACHA_POLY1305_DIGEST_SIZE == SEAL_TAG, "a tag is that of Poly1305");

/* ---- secrets ----------------------------------------------------------------------- */

bool seal_random(void *bytes, size_t n)
{
    ssize_t got;

    PGAS_ASSERT(n <= 256); /* up to here getrandom returns all bytes or none */
    do
        got = getrandom(bytes, n, 0);
    while (got < 0 && errno == EINTR);
    if (got >= 0 && (size_t)got != n)
        errno = EIO;
    return got >= 0 && (size_t)got == n;
}

void seal_erase(void *p, size_t n)
{
    explicit_bzero(p, n);
}

void *seal_memory_alloc(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (madvise(p, n, MADV_DONTDUMP) == 0)
        return p;
    munmap(p, n);
    return NULL;
}

void seal_memory_free(void *p, size_t n)
{
    if (p == NULL)
        return;
    seal_erase(p, n);
    munmap(p, n);
}

/* ---- proofs ------------------------------------------------------------------------ */

/* HKDF of the secret with this salt, for this purpose. */
static void seal_hkdf(const uint8_t secret[SEAL_SECRET], const uint8_t *salt, size_t n,
                      const char *purpose, uint8_t derived[SEAL_SECRET])
{
    struct hmac_sha256_ctx ctx;
    uint8_t prk[SHA256_DIGEST_SIZE];

    hmac_sha256_set_key(&ctx, n, salt);
    hkdf_extract(&ctx, (nettle_hash_update_func *)hmac_sha256_update,
                 (nettle_hash_digest_func *)hmac_sha256_digest, SHA256_DIGEST_SIZE,
                 SEAL_SECRET, secret, prk);
    hmac_sha256_set_key(&ctx, sizeof prk, prk);
    hkdf_expand(&ctx, (nettle_hash_update_func *)hmac_sha256_update,
                (nettle_hash_digest_func *)hmac_sha256_digest, SHA256_DIGEST_SIZE,
                strlen(purpose), (const uint8_t *)purpose, SEAL_SECRET, derived);
    seal_erase(&ctx, sizeof ctx);
    seal_erase(prk, sizeof prk);
}

void seal_derive(const uint8_t secret[SEAL_SECRET], const char *purpose,
                 uint8_t derived[SEAL_SECRET])
{
    static const uint8_t no_salt[SHA256_DIGEST_SIZE]; /* RFC 5869, section 2.2 */

    seal_hkdf(secret, no_salt, sizeof no_salt, purpose, derived);
}

static void seal_mac_add(struct hmac_sha256_ctx *ctx, const void *bytes, size_t len)
{
    uint64_t n = htole64(len);

    hmac_sha256_update(ctx, sizeof n, (const uint8_t *)&n);
    hmac_sha256_update(ctx, len, bytes);
}

void seal_mac(const uint8_t secret[SEAL_SECRET], const char *label,
              const struct seal_part *part, size_t nparts, uint8_t mac[SEAL_MAC])
{
    struct hmac_sha256_ctx ctx;

    hmac_sha256_set_key(&ctx, SEAL_SECRET, secret);
    seal_mac_add(&ctx, label, strlen(label));
    for (size_t i = 0; i < nparts; i++)
        seal_mac_add(&ctx, part[i].bytes, part[i].len);
    hmac_sha256_digest(&ctx, SEAL_MAC, mac);
    seal_erase(&ctx, sizeof ctx);
}

bool seal_verify(const uint8_t secret[SEAL_SECRET], const char *label,
                 const struct seal_part *part, size_t nparts, const uint8_t mac[SEAL_MAC])
{
    uint8_t right[SEAL_MAC];

    seal_mac(secret, label, part, nparts, right);
    bool equal = memeql_sec(right, mac, SEAL_MAC) != 0;
    seal_erase(right, sizeof right);
    return equal;
}

/* ---- seals ------------------------------------------------------------------------- */

static void seal_set_key(struct seal_direction *d, const uint8_t secret[SEAL_SECRET],
                         const uint8_t salt[2 * SEAL_CHALLENGE], const char *protocol,
                         const char *direction)
{
    char info[SEAL_INFO_MAX];
    uint8_t key[SEAL_SECRET];

    PGAS_ASSERT(strlen(protocol) + strlen(direction) < sizeof info);
    strcpy(info, protocol);
    strcat(info, direction);
    seal_hkdf(secret, salt, (size_t)2 * SEAL_CHALLENGE, info, key);
    chacha_poly1305_set_key(&d->ctx, key);
    d->frames = 0;
    seal_erase(key, sizeof key);
}

struct seal *seal_new(const uint8_t secret[SEAL_SECRET], const char *protocol,
                      const uint8_t listener[SEAL_CHALLENGE],
                      const uint8_t connector[SEAL_CHALLENGE], bool is_listener)
{
    struct seal *s = seal_memory_alloc(sizeof *s);
    uint8_t salt[2 * SEAL_CHALLENGE];

    if (s == NULL)
        return NULL;
    memcpy(salt, listener, SEAL_CHALLENGE);
    memcpy(salt + SEAL_CHALLENGE, connector, SEAL_CHALLENGE);
    seal_set_key(is_listener ? &s->send : &s->recv, secret, salt, protocol,
                 ", listener to connector");
    seal_set_key(is_listener ? &s->recv : &s->send, secret, salt, protocol,
                 ", connector to listener");
    return s;
}

void seal_free(struct seal *s)
{
    seal_memory_free(s, sizeof *s);
}

/* Begins the next frame of a direction: no nonce is used twice with a key. */
static struct chacha_poly1305_ctx *seal_begin(struct seal_direction *d, const void *aad,
                                              size_t aad_len)
{
    uint8_t nonce[CHACHA_POLY1305_NONCE_SIZE] = {0};
    uint64_t number = htole64(d->frames++);

    PGAS_ASSERT(d->frames != 0);
    memcpy(nonce + sizeof nonce - sizeof number, &number, sizeof number);
    chacha_poly1305_set_nonce(&d->ctx, nonce);
    chacha_poly1305_update(&d->ctx, aad_len, aad);
    return &d->ctx;
}

void seal_encrypt(struct seal *s, const void *aad, size_t aad_len, const void *from,
                  size_t n, void *to, uint8_t tag[SEAL_TAG])
{
    struct chacha_poly1305_ctx *ctx = seal_begin(&s->send, aad, aad_len);

    chacha_poly1305_encrypt(ctx, n, to, from);
    chacha_poly1305_digest(ctx, SEAL_TAG, tag);
}

bool seal_decrypt(struct seal *s, const void *aad, size_t aad_len, const void *from,
                  size_t n, void *to, const uint8_t tag[SEAL_TAG])
{
    struct chacha_poly1305_ctx *ctx = seal_begin(&s->recv, aad, aad_len);
    uint8_t right[SEAL_TAG];

    chacha_poly1305_decrypt(ctx, n, to, from);
    chacha_poly1305_digest(ctx, SEAL_TAG, right);
    return memeql_sec(right, tag, SEAL_TAG) != 0;
}
