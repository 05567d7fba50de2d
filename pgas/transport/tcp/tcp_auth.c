/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_auth.c - the handshake of a connection (messages: tcp_wire.h).
 *
 * The secret of a target is random, is made anew in each job, and is in its endpoint
 * descriptor, which the launcher distributes within the job.  Each end proves that it
 * knows the secret by a MAC over both challenges, one of which the verifier has just
 * made, so that a recorded handshake is worth nothing later.  The role of the sender is
 * in the MAC, and so are the PEs of both ends, so that no MAC can be returned to its
 * sender or be used at another PE.
 *
 * The target proves itself first.  A program that only knows the port thereby learns a
 * random number and a MAC with the role of a target, which is good for nothing.
 *
 * The proofs do not protect what follows.  Whoever forwards the packets of a connection,
 * in both directions, can read and change requests once both ends have proved
 * themselves.  The port is in the MAC: a relay has to receive what is sent to the port
 * of the target at one of its addresses, which other users of the hosts cannot.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/counter.h"
#include "pgas/transport/tcp/tcp.h"

void tcp_auth_mac(const unsigned char secret[SEAL_SECRET], enum tcp_role sender,
                  const struct tcp_transcript *t, unsigned char mac[SEAL_MAC])
{
    const struct seal_part part = {t, sizeof *t};

    seal_mac(secret, sender == TCP_TARGET ? "pgas tcp target" : "pgas tcp initiator",
             &part, 1, mac);
}

static bool tcp_auth_verify(const unsigned char secret[SEAL_SECRET], enum tcp_role sender,
                            const struct tcp_transcript *t,
                            const unsigned char mac[SEAL_MAC])
{
    const struct seal_part part = {t, sizeof *t};

    return seal_verify(secret,
                       sender == TCP_TARGET ? "pgas tcp target" : "pgas tcp initiator",
                       &part, 1, mac);
}

static struct tcp_transcript tcp_auth_transcript(int32_t initiator, int32_t target,
                                                 uint32_t port)
{
    return (struct tcp_transcript){.magic = TCP_MAGIC,
                                   .version = TCP_VERSION,
                                   .port = port,
                                   .initiator = initiator,
                                   .target = target};
}

bool tcp_auth_has_magic(const void *head)
{
    const uint64_t magic = TCP_MAGIC;

    return memcmp(head, &magic, sizeof magic) == 0;
}

/* ---- the initiator ----------------------------------------------------------------- */

int tcp_auth_hello(struct tcp_peer *peer, struct tcp_hello *hello)
{
    struct tcp_attempt *a = peer->attempt;
    const int me = peer->ctx->net->world->me;

    *hello = (struct tcp_hello){.magic = TCP_MAGIC, .version = TCP_VERSION, .pe = me};
    if (!seal_random(hello->challenge, sizeof hello->challenge))
        return -errno;
    a->transcript = tcp_auth_transcript(me, peer->pe, a->endpoint.port);
    memcpy(a->transcript.initiator_challenge, hello->challenge, sizeof hello->challenge);
    return 0;
}

static int tcp_auth_challenge(struct tcp_peer *peer, const void *message)
{
    struct tcp_attempt *a = peer->attempt;
    struct tcp_challenge c;

    memcpy(&c, message, sizeof c);
    memcpy(a->transcript.target_challenge, c.challenge, sizeof c.challenge);
    if (!tcp_auth_verify(a->endpoint.secret, TCP_TARGET, &a->transcript, c.mac))
        return -EPROTO;
    tcp_peer_challenged(peer);
    return 0;
}

void tcp_auth_proof(const struct tcp_peer *peer, struct tcp_proof *proof)
{
    const struct tcp_attempt *a = peer->attempt;

    proof->magic = TCP_MAGIC;
    tcp_auth_mac(a->endpoint.secret, TCP_INITIATOR, &a->transcript, proof->mac);
}

/* Nothing may come between the challenge and our proof. */
ptrdiff_t tcp_auth_reply_size(const struct tcp_peer *peer, const void *head)
{
    const struct tcp_reply welcome = {.kind = TCP_WELCOME,
                                      .acked = (uint32_t)counter_start()};

    if (peer->state == TCP_PEER_HELLO && tcp_auth_has_magic(head))
        return sizeof(struct tcp_challenge);
    if (peer->state == TCP_PEER_PROVED && memcmp(head, &welcome, sizeof welcome) == 0)
        return sizeof welcome;
    return TCP_MALFORMED;
}

int tcp_auth_reply(struct tcp_peer *peer, const void *message)
{
    if (peer->state == TCP_PEER_HELLO)
        return tcp_auth_challenge(peer, message);
    tcp_peer_welcomed(peer);
    return 0;
}

/* ---- the target -------------------------------------------------------------------- */

ptrdiff_t tcp_auth_request_size(const struct tcp_client *client, const void *head)
{
    if (!tcp_auth_has_magic(head))
        return TCP_MALFORMED;
    return client->transcript != NULL ? (ptrdiff_t)sizeof(struct tcp_proof)
                                      : (ptrdiff_t)sizeof(struct tcp_hello);
}

/* Answer a hello with the challenge. */
static int tcp_auth_answer(struct tcp_client *client, const void *message)
{
    const struct transport_net *net = client->ctx->net;
    struct tcp_challenge answer = {.magic = TCP_MAGIC};
    struct tcp_transcript t;
    struct tcp_hello hello;

    memcpy(&hello, message, sizeof hello);
    if (hello.version != TCP_VERSION || hello.pe < 0 || hello.pe >= net->world->npes ||
        tcp_is_lost(net, hello.pe))
        return -EPROTO;
    if (!seal_random(answer.challenge, sizeof answer.challenge))
        return -EIO;
    t = tcp_auth_transcript(hello.pe, net->world->me, net->endpoint.port);
    memcpy(t.initiator_challenge, hello.challenge, sizeof hello.challenge);
    memcpy(t.target_challenge, answer.challenge, sizeof answer.challenge);
    tcp_auth_mac(net->secret, TCP_TARGET, &t, answer.mac);
    client->transcript = malloc(sizeof t);
    if (client->transcript == NULL ||
        !tcp_output_add(&client->stream, &answer, sizeof answer))
        return -ENOMEM;
    *client->transcript = t;
    return 0;
}

static int tcp_auth_check(struct tcp_client *client, const void *message)
{
    const struct transport_net *net = client->ctx->net;
    struct tcp_transcript *t = client->transcript;
    struct tcp_proof proof;

    memcpy(&proof, message, sizeof proof);
    if (!tcp_auth_verify(net->secret, TCP_INITIATOR, t, proof.mac) ||
        tcp_is_lost(net, t->initiator))
        return -EPROTO;
    client->pe = t->initiator;
    client->ctx->nunknown--;
    client->transcript = NULL;
    free(t);
    return tcp_client_reply(client, TCP_WELCOME, 0);
}

int tcp_auth_request(struct tcp_client *client, const void *message)
{
    return client->transcript == NULL ? tcp_auth_answer(client, message)
                                      : tcp_auth_check(client, message);
}
