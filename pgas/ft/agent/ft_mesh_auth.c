/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_mesh_auth.c - how two agents prove to each other that they know the secret of the
 * job.
 *
 * Each end sends a random challenge.  The label of a MAC (seal_mac) names the role of its
 * sender, against reflection; it covers the challenge of the listener and the whole proof
 * with that of the connector, against replay; and, in a reply, the number and the
 * incarnation of the listener.  The proof names the node that it is for, so that an agent
 * that listens at the former port of another one is recognized.
 * Uses: ft_mesh_int.h, core/base/seal.h.
 */
#include "config.h"

#include <string.h>

#include "pgas/ft/agent/ft_mesh_int.h"

#define PROOF_LABEL FT_MESH_PROTOCOL ", proof of the connector"
#define REPLY_LABEL FT_MESH_PROTOCOL ", reply of the listener"

/* The last byte is the version. */
static const uint8_t hello_magic[8] = {'p', 'g', 'a', 's', 'f', 't', 'H', 2};
static const uint8_t proof_magic[8] = {'p', 'g', 'a', 's', 'f', 't', 'P', 2};
static const uint8_t reply_magic[8] = {'p', 'g', 'a', 's', 'f', 't', 'R', 2};

enum { PROOF_PARTS = 2, REPLY_PARTS = 3 };

_Static_assert((int)FT_SECRET == (int)SEAL_SECRET, "the secret of the job seals");
_Static_assert(sizeof(struct ft_endpoint) == FT_ADDRESSES * 24 + 8,
               "no padding in an endpoint");
_Static_assert(sizeof(struct ft_proof) ==
                   8 + SEAL_CHALLENGE + 40 + sizeof(struct ft_endpoint) + SEAL_MAC,
               "no padding in a proof");

static void ft_auth_proof_parts(const struct ft_proof *proof,
                                const struct ft_hello *hello,
                                struct seal_part part[PROOF_PARTS])
{
    part[0] = (struct seal_part){hello, sizeof *hello};
    part[1] = (struct seal_part){proof, offsetof(struct ft_proof, mac)};
}

static void ft_auth_reply_parts(const struct ft_reply *reply,
                                const struct ft_proof *proof,
                                const struct ft_hello *hello,
                                struct seal_part part[REPLY_PARTS])
{
    part[0] = (struct seal_part){reply, offsetof(struct ft_reply, mac)};
    part[1] = (struct seal_part){hello, sizeof *hello};
    part[2] = (struct seal_part){proof, sizeof *proof};
}

bool ft_auth_make_hello(struct ft_hello *hello)
{
    memcpy(hello->magic, hello_magic, sizeof hello_magic);
    return seal_random(hello->challenge, sizeof hello->challenge);
}

bool ft_auth_check_hello(const struct ft_hello *hello)
{
    return memcmp(hello->magic, hello_magic, sizeof hello_magic) == 0;
}

bool ft_auth_make_proof(struct ft_proof *proof, const struct ft_hello *hello,
                        const uint8_t *secret)
{
    struct seal_part part[PROOF_PARTS];

    memcpy(proof->magic, proof_magic, sizeof proof_magic);
    if (!seal_random(proof->challenge, sizeof proof->challenge))
        return false;
    memcpy(&proof->id, proof->challenge, sizeof proof->id);
    ft_auth_proof_parts(proof, hello, part);
    seal_mac(secret, PROOF_LABEL, part, PROOF_PARTS, proof->mac);
    return true;
}

bool ft_auth_check_proof(const struct ft_proof *proof, const struct ft_hello *hello,
                         const uint8_t *secret)
{
    struct seal_part part[PROOF_PARTS];

    ft_auth_proof_parts(proof, hello, part);
    return memcmp(proof->magic, proof_magic, sizeof proof_magic) == 0 &&
           seal_verify(secret, PROOF_LABEL, part, PROOF_PARTS, proof->mac);
}

void ft_auth_make_reply(struct ft_reply *reply, const struct ft_proof *proof,
                        const struct ft_hello *hello, const uint8_t *secret)
{
    struct seal_part part[REPLY_PARTS];

    memcpy(reply->magic, reply_magic, sizeof reply_magic);
    ft_auth_reply_parts(reply, proof, hello, part);
    seal_mac(secret, REPLY_LABEL, part, REPLY_PARTS, reply->mac);
}

bool ft_auth_check_reply(const struct ft_reply *reply, const struct ft_proof *proof,
                         const struct ft_hello *hello, const uint8_t *secret)
{
    struct seal_part part[REPLY_PARTS];

    ft_auth_reply_parts(reply, proof, hello, part);
    return memcmp(reply->magic, reply_magic, sizeof reply_magic) == 0 &&
           seal_verify(secret, REPLY_LABEL, part, REPLY_PARTS, reply->mac);
}

struct seal *ft_auth_seal(const struct ft_hello *hello, const struct ft_proof *proof,
                          const uint8_t *secret, bool is_listener)
{
    return seal_new(secret, FT_MESH_PROTOCOL, hello->challenge, proof->challenge,
                    is_listener);
}
