/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_raw.h - one end of a connection of the tcp transport as a plain socket, for tests
 * that write its bytes themselves: PE 0 of a pair as initiator, or PE 1 as target.
 *
 * Every wait makes progress on the pair and fails the test after RAW_WAIT_MS.
 * Uses: pair, tcp.h.
 */
#ifndef TESTS_TRANSPORT_TCP_RAW_H
#define TESTS_TRANSPORT_TCP_RAW_H

#include "pgas/transport/tcp/tcp.h"
#include "tests/transport/pair.h"

enum { RAW_INITIATOR, RAW_TARGET, RAW_WAIT_MS = 20000 };

struct raw {
    struct pair *pair;
    struct transport_ctx *ctx; /* NULL, or another context that makes progress */
    int fd;
    struct tcp_endpoint endpoint; /* of the target */
    struct tcp_transcript transcript;
};

/* The endpoint descriptor of a PE. */
struct tcp_endpoint raw_endpoint_of(const struct pair *pair, int pe);
/* A false target: what raw_false_address, a transport_world.address_of, returns for each
 * PE. */
extern struct tcp_endpoint raw_false;
ssize_t raw_false_address(const struct transport_world *world, int pe, void *to,
                          size_t space);
/* A listening socket at 127.0.0.`last`; *port: 0, or the port to use. */
int raw_listen(unsigned last, uint32_t *port);
void raw_connect(struct raw *r);
/* Accept a connection; false: there is none. */
bool raw_try_accept(struct raw *r, int listener);
/* Wait for one. */
void raw_accept(struct raw *r, int listener);
/* Wait a moment for the socket or for the transports, and make progress. */
void raw_progress(const struct raw *r, int fd);
void raw_send(const struct raw *r, const void *from, size_t len);
/* Receive len bytes, or fewer at the end of the connection; returns their number. */
size_t raw_receive(const struct raw *r, void *to, size_t len);

/* The messages of the handshake; hello and challenge enter r->transcript. */
struct tcp_hello raw_hello(struct raw *r);
struct tcp_challenge raw_challenge(struct raw *r);
struct tcp_proof raw_proof(const struct raw *r);
/* Receive them. */
void raw_receive_hello(struct raw *r);
struct tcp_challenge raw_receive_challenge(struct raw *r);
void raw_receive_proof(const struct raw *r);
void raw_receive_welcome(const struct raw *r);
void raw_send_welcome(const struct raw *r);

/* The whole handshake: connects, or has accepted. */
void raw_open_initiator(struct raw *r);
void raw_open_target(struct raw *r);

#endif
