/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proxy.h - the frames of the protocols that the proxy changes (frame.c), and what
 * it does to one of them (proxy.c).
 */
#ifndef TESTS_LAUNCHER_TAMPER_PROXY_H
#define TESTS_LAUNCHER_TAMPER_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* OTHER: everything that is passed through unchanged, such as PMIx. */
enum protocol { UNKNOWN, LINK, MESH, TCP, OTHER, PROTOCOLS };
enum side { CONNECTOR, LISTENER, SIDES }; /* that sends */

/* The first and the second message of the handshake that a side sends, and what follows,
 * which is not sealed in the case of TCP. */
enum stage { FIRST, SECOND, SEALED, STAGES };

/* Of one side of a connection. */
struct stream {
    enum protocol protocol;
    enum side side;
    unsigned stage; /* of the next frame */
    bool plain;     /* of a former version, whose frames are not sealed */
};

/* What the first bytes of a side tell; UNKNOWN: more are needed, or the other side is the
 * first. */
enum protocol frame_protocol(const unsigned char *bytes, size_t n);

/* The length of the frame that begins here, 0 if more bytes are needed.  A frame of the
 * mesh has no length in clear: it is what arrived at once.  What is no longer changed has
 * no end: SIZE_MAX. */
size_t frame_length(struct stream *s, const unsigned char *bytes, size_t n);

/* The frame that began here has ended. */
void frame_end(struct stream *s);

#endif
