/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seal.h - proofs and encryption for the control connections of a job: the links of
 * oshrun's daemons, the mesh of the failure agents, and the handshake of the tcp
 * transport.
 *
 * Both ends of a connection know a secret of SEAL_SECRET bytes.  In the handshake each
 * end sends a fresh challenge and proves that it knows the secret by seal_mac over both
 * challenges, its role and whatever else the proof shall bind (seal_verify checks it).
 * Nobody can replay a proof, since the verifier has contributed a challenge, or reflect
 * it, since the roles differ.
 *
 * A connection that stays encrypted continues with a seal, which has one key for each
 * direction:
 *
 *     PRK = HKDF-Extract(salt = challenges of listener and connector, secret)
 *     key = HKDF-Expand(PRK, protocol and direction)
 *
 * seal_encrypt and seal_decrypt apply ChaCha20-Poly1305; the nonce is the number of
 * frames that were sealed before in this direction.  So a frame that was changed,
 * dropped, repeated, reordered or reflected fails to decrypt.  Nothing is resumed:
 * another connection has other challenges, hence other keys.
 *
 * Sources: RFC 2104 (HMAC), RFC 5869 (HKDF), RFC 8439 (ChaCha20-Poly1305), by nettle.
 * Threads: one at a time for each direction of a seal; the functions without a seal from
 * any thread.
 */
#ifndef PGAS_CORE_SEAL_H
#define PGAS_CORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SEAL_SECRET = 32,
    SEAL_CHALLENGE = 32,
    SEAL_MAC = 32,
    SEAL_TAG = 16, /* bytes that authenticate a frame */
};

struct seal;

/* Part of what a MAC covers. */
struct seal_part {
    const void *bytes;
    size_t len;
};

/* Fills n bytes, n <= 256, with random numbers of the kernel.  False: there are none;
 * errno is set. */
bool seal_random(void *bytes, size_t n);

/* The secret for one purpose, from which the given one cannot be computed. */
void seal_derive(const uint8_t secret[SEAL_SECRET], const char *purpose,
                 uint8_t derived[SEAL_SECRET]);

/* HMAC-SHA256 of the label, which names protocol, version and the role of the sender,
 * and of all parts with their lengths. */
void seal_mac(const uint8_t secret[SEAL_SECRET], const char *label,
              const struct seal_part *part, size_t nparts, uint8_t mac[SEAL_MAC]);

/* True if `mac` is that of seal_mac.  Takes equal time for all wrong ones. */
bool seal_verify(const uint8_t secret[SEAL_SECRET], const char *label,
                 const struct seal_part *part, size_t nparts,
                 const uint8_t mac[SEAL_MAC]);

/* The seal of one end of a connection, whose handshake had these challenges; `protocol`
 * is equal on both ends.  Its keys are in seal_memory.  NULL: no memory. */
struct seal *seal_new(const uint8_t secret[SEAL_SECRET], const char *protocol,
                      const uint8_t listener[SEAL_CHALLENGE],
                      const uint8_t connector[SEAL_CHALLENGE], bool is_listener);

/* Erases the keys.  NULL is permitted. */
void seal_free(struct seal *s);

/* Encrypts the next frame of n bytes from `from` to `to`, which may be equal but must not
 * overlap otherwise.  The tag authenticates it, its position in the stream, and
 * aad_len bytes at `aad`, such as the frame's length, which are sent as they are. */
void seal_encrypt(struct seal *s, const void *aad, size_t aad_len, const void *from,
                  size_t n, void *to, uint8_t tag[SEAL_TAG]);

/* Decrypts the next frame.  False: it is not the next one that the other end has sealed;
 * what is at `to` must be ignored, and the connection be closed. */
bool seal_decrypt(struct seal *s, const void *aad, size_t aad_len, const void *from,
                  size_t n, void *to, const uint8_t tag[SEAL_TAG]);

/* Zeroed memory for secrets, which is left out of core dumps.  NULL: no memory. */
void *seal_memory_alloc(size_t n);

/* Erases and frees n bytes of seal_memory_alloc(n).  NULL is permitted. */
void seal_memory_free(void *p, size_t n);

/* Erases a secret; the compiler does not remove it. */
void seal_erase(void *p, size_t n);

#endif
