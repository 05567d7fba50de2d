/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_mesh_int.h - what the files of the mesh share: ft_mesh.c (nodes and their queues),
 * ft_mesh_link.c (one connection), ft_mesh_auth.c (authentication messages),
 * ft_mesh_listen.c (addresses and listening sockets).
 */
#ifndef PGAS_FT_MESH_INT_H
#define PGAS_FT_MESH_INT_H

#include "pgas/core/base/address.h"
#include "pgas/core/base/seal.h"
#include "pgas/ft/agent/ft_mesh.h"
#include "pgas/ft/ft_types.h"

#define FT_NS_PER_MS 1000000u
/* Of the keys that seal the frames; with the version. */
#define FT_MESH_PROTOCOL "pgas ft mesh 2"

/* ---- authentication: messages in the byte order of the job, which is the same on all
 * nodes --------------------------------------------------------------------------------
 */

/* listener -> connector */
struct ft_hello {
    uint8_t magic[8];
    uint8_t challenge[SEAL_CHALLENGE];
};

/* connector -> listener */
struct ft_proof {
    uint8_t magic[8];
    uint8_t challenge[SEAL_CHALLENGE];
    uint32_t from, to;
    uint32_t incarnation, known; /* of `from`; of `to`, as far as `from` knows */
    uint64_t id;                 /* of this connection */
    uint64_t previous; /* of the last connection that the connector had with `to` */
    uint64_t received; /* messages that the connector has got from that agent */
    struct ft_endpoint endpoint; /* of the connector */
    uint8_t mac[SEAL_MAC];
};

/* listener -> connector */
struct ft_reply {
    uint8_t magic[8];
    uint32_t from, incarnation;
    uint64_t received; /* messages that the listener has got from the connector */
    uint8_t mac[SEAL_MAC];
};

bool ft_auth_make_hello(struct ft_hello *hello);
bool ft_auth_check_hello(const struct ft_hello *hello);
/* Fills in all but from .. endpoint, which the caller has set.  False: no randomness. */
bool ft_auth_make_proof(struct ft_proof *proof, const struct ft_hello *hello,
                        const uint8_t *secret);
bool ft_auth_check_proof(const struct ft_proof *proof, const struct ft_hello *hello,
                         const uint8_t *secret);
void ft_auth_make_reply(struct ft_reply *reply, const struct ft_proof *proof,
                        const struct ft_hello *hello, const uint8_t *secret);
bool ft_auth_check_reply(const struct ft_reply *reply, const struct ft_proof *proof,
                         const struct ft_hello *hello, const uint8_t *secret);
/* The keys of the connection.  NULL: no memory. */
struct seal *ft_auth_seal(const struct ft_hello *hello, const struct ft_proof *proof,
                          const uint8_t *secret, bool is_listener);

/* ---- frames ------------------------------------------------------------------------ */

/* A message in a queue, and what is on the wire: the header, its tag of SEAL_TAG bytes,
 * and if len > 0 the bytes with another tag.  Header and bytes are sealed separately, so
 * that a length is authentic before it is believed. */
struct ft_frame {
    uint32_t len, tag;
    uint64_t received; /* messages that the sender of the frame has got by then */
};

enum { FT_HEAD_WIRE = sizeof(struct ft_frame) + SEAL_TAG };

/* What is sealed, as additional data. */
enum ft_part { FT_PART_HEAD, FT_PART_BODY };

/* The tags of a frame of length 0: it only acknowledges, or also asks the receiver to
 * acknowledge. */
enum ft_empty { FT_EMPTY_ACK, FT_EMPTY_ASK };

/* The tag of a message of the mesh itself: where the agent of a third node listens. */
#define FT_TAG_ENDPOINT UINT32_MAX

struct ft_moved {
    uint32_t node, incarnation;
    struct ft_endpoint endpoint;
};

/* ---- connections ------------------------------------------------------------------- */

/*
 * ACCEPTED (hello sent) -> UP when the proof is verified.
 * CONNECTING -> EXPECTS_HELLO -> EXPECTS_REPLY (proof sent) -> UP.
 * CLOSED: the descriptor is closed; ft_mesh_step frees the memory, because events that
 * have been read may still point to it.
 */
enum ft_link_state {
    FT_LINK_ACCEPTED,
    FT_LINK_CONNECTING,
    FT_LINK_EXPECTS_HELLO,
    FT_LINK_EXPECTS_REPLY,
    FT_LINK_UP,
    FT_LINK_CLOSED,
};

struct ft_link {
    struct ft_mesh *mesh;
    int fd;
    enum ft_link_state state;
    uint32_t node;  /* FT_NODE_NONE before the proof of an accepted connection */
    bool initiated; /* by this agent */
    bool writes;    /* waits for space in the socket buffer */
    uint64_t id;
    uint64_t deadline_ns; /* of the authentication */
    bool frozen;          /* not read: a proof has stated how much was received */
    bool forged;          /* what was received is not authentic */
    uint64_t probe_ns;    /* of the next probe; FT_NEVER: nothing was sent since */
    uint64_t probe_interval_ns;
    uint64_t written, acked; /* bytes: given to TCP; acknowledged at the last look */
    uint32_t probes;         /* sent since TCP had an acknowledgement */
    struct ft_link *next;    /* in one list of the mesh: pending, or closed */
    struct ft_hello hello;   /* sent or received */
    struct ft_proof *proof;  /* sent; NULL in other states */
    struct seal *seal;       /* NULL before FT_LINK_UP */
    uint8_t *in;
    size_t have, space;   /* received bytes that are not processed; size of `in` */
    struct ft_frame head; /* len > 0: of the message whose bytes are received next */
    uint8_t *out;         /* sealed bytes; those before out_at were given to TCP */
    size_t out_at, out_have, out_space;
    uint64_t verify_ns;    /* when it is asked to acknowledge; FT_NEVER: no reason */
    uint64_t verify_acked; /* messages that were acknowledged when that was set */
    uint32_t verifies;     /* asked since then */
};

/*
 * What this agent knows about another node.  At most one link is `up`, and at most one
 * that this agent opens is the `attempt`.
 *
 * Messages are numbered from 0 for each pair of agents, that is, of incarnations.  `out`
 * has the frames from number `acked` on, as they were before they are sealed; `sent`
 * bytes of them were sealed for the link.
 */
struct ft_peer {
    struct ft_link *up, *attempt;
    uint64_t last_id;  /* of the last link that was up */
    uint64_t retry_ns; /* time of the next attempt; FT_NEVER: none is planned */
    uint32_t retry_ms; /* pause after the next failed round of attempts */
    uint32_t incarnation;
    uint32_t known;   /* incarnation of its agent, of which the endpoint is known */
    uint32_t address; /* index of the address to try next */
    uint32_t tried;   /* addresses of this round that failed */
    bool given_up;
    bool forged;                 /* and reported */
    bool wanted;                 /* a connection, although there is no message */
    bool closed, close_reported; /* `closed` is to be called; it has been called */
    size_t overflow;             /* > 0: `failed` is to be called with so many bytes */
    uint64_t acked, sent_count;  /* messages that the node has got; given to `out` */
    uint64_t received, received_acked; /* messages from the node; acknowledged ones */
    size_t unacked_bytes;              /* received since the last acknowledgement */
    uint8_t *out;
    size_t sent, have, space; /* bytes of `out` sent, stored, allocated */
};

struct ft_mesh {
    int epoll;
    int listener[FT_ADDRESSES];
    int listeners;
    bool accepts; /* false before the job is known, and after EMFILE until resume_ns */
    uint64_t resume_ns;
    struct ft_mesh_job job;
    struct ft_endpoint own;
    struct ft_peer *peer;    /* nnodes entries; NULL before ft_mesh_join */
    struct ft_link *pending; /* not authenticated, the latest first */
    struct ft_link *closed;
    uint32_t npending;
    bool any_closed, any_overflow;
    uint64_t due_ns; /* no timer is earlier */
};

/* ft_mesh_link.c */
struct ft_link *ft_link_new(struct ft_mesh *mesh, int fd, enum ft_link_state state,
                            uint64_t deadline_ns);
void ft_link_close(struct ft_link *link);
void ft_link_ready(struct ft_link *link, uint32_t events);
/* Sends from the queue of the node, and an acknowledgement if one is due; may close the
 * link. */
void ft_link_flush(struct ft_link *link);
/* Sends a probe if TCP has had no acknowledgement since the timer was set. */
void ft_link_probe(struct ft_link *link, uint64_t now);
/* Asks for an acknowledgement if there was none since the timer was set. */
void ft_link_verify(struct ft_link *link, uint64_t now);
static inline bool ft_link_has_output(const struct ft_link *link)
{
    return link->out_at < link->out_have;
}
/* Does not read from the link, or reads again. */
void ft_link_freeze(struct ft_link *link, bool frozen);
/* Opens a connection to the next address of the node. */
void ft_link_attempt(struct ft_mesh *mesh, uint32_t node, uint64_t now);

/* ft_mesh.c */
/* True if this agent takes the connection of the node that sent this authentic proof. */
bool ft_peer_admit(struct ft_mesh *mesh, const struct ft_proof *proof);
/* The node is authentic and its agent has this incarnation, perhaps a new one.  False: a
 * former agent. */
bool ft_peer_meet(struct ft_mesh *mesh, uint32_t node, uint32_t incarnation);
/* Takes an endpoint that another agent tells.  False: it is malformed. */
bool ft_peer_take_moved(struct ft_mesh *mesh, const void *bytes, size_t n);
/* The link is the connection of its node from now on; the node has got that many messages
 * of this agent.  False: that is impossible. */
bool ft_peer_is_up(struct ft_link *link, uint64_t received);
/* Opens a connection that replaces the one that is up when the node accepts it. */
void ft_peer_reconnect(struct ft_mesh *mesh, uint32_t node, uint64_t now);
/* Frees the memory of messages that the node has got. */
void ft_peer_acknowledged(struct ft_peer *peer, uint64_t received);
/* The link, which was up or an attempt, is closed. */
void ft_peer_link_closed(struct ft_link *link);
void ft_mesh_set_timer(struct ft_mesh *mesh, uint64_t ns);

/* ft_mesh_listen.c */
bool ft_listen_open(struct ft_mesh *mesh, const char *which, char *why, size_t size);
void ft_listen_accept(struct ft_mesh *mesh, int listener, uint64_t now);
void ft_listen_enable(struct ft_mesh *mesh, bool on);
/* False: the address is malformed. */
bool ft_listen_sockaddr(const struct ft_address *from, struct address *to);

#endif
