/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp.h - the tcp transport: one-sided operations over TCP sockets.
 *
 * Connections.  Each context opens a connection of its own to each PE that it accesses
 * (struct tcp_peer), at the first operation.  The target accepts it in context 0 (struct
 * tcp_client), performs the requests in the order of the stream, and replies on the same
 * connection.  So a connection is used by one context at each end, and contexts share no
 * lock.
 *
 * A connection begins with a handshake (tcp_auth.c).  The initiator sends no request
 * before the target has proved itself, so that a wrong listener costs nothing: the next
 * address is tried; and none before the target's welcome, so that a target that closes
 * the connection during the handshake, for lack of descriptors or in favour of another
 * one, has performed nothing.
 *
 * Order.  Puts and atomics of a context on a PE take effect in the order of their posts,
 * so fence has nothing to do.
 *
 * Completion.  The target acknowledges puts and atomics once per receive, for all that it
 * has performed.  It delays the acknowledgement of notifications: puts with data and
 * signal, and a put of at most TCP_COPY_MAX bytes, or an atomic whose end nobody waits
 * for, that is the first operation after a fence.  It acknowledges them with later
 * operations, several together, or when it has nothing else to do, so that neither side
 * handles a message for each.  Quiet requests the acknowledgement by TCP_FLUSH, which
 * takes a round trip; therefore the first notifications of a PE after a quiet are
 * acknowledged at once.
 *
 * Coalescing.  An operation that nobody waits for is sent at once if all earlier ones on
 * the same PE are acknowledged or may be acknowledged late.  Otherwise it is queued, as
 * by Nagle's algorithm, and the queue is sent when a reply arrives, when SHMEM_COALESCE
 * bytes are queued, when an operation is posted whose result is waited for, with a put
 * with signal and with the first operation after a fence, which other PEs probably wait
 * for, in quiet, when the program waits for other PEs (transport.send), and by a progress
 * call that follows another one without a post in between, as of a waiting thread.  An
 * acknowledgement is outstanding as long as bytes are queued and the socket accepts
 * bytes, so that the descriptor wakes the progress thread of a PE that computes.
 *
 * In a loop of posts (progress_posting) a reply does not send the queue, because a full
 * frame costs less.  Bytes may then be held although nothing is outstanding.  They are
 * sent when HOLD_POSTS operations have been posted since the first of them was held, and
 * by progress, send and arm.
 *
 * Runs.  A put or get of a word, or an atomic operation, that nobody waits for and that
 * is queued behind others, joins a run of operations of its kind if the end of the queue
 * is one: it then takes 16 bytes (a get 8), and little time at the target.
 *
 * Flow control.  A post is refused if TCP_QUEUE_MAX bytes are queued or TCP_RESULTS_MAX
 * results are outstanding.  A target reads no requests from a connection while it cannot
 * send replies; an initiator always reads replies, so that no two PEs wait for each
 * other.
 *
 * Threads: see transport.h.  Contexts share only `lost`, `reported` (atomic) and constant
 * data.
 * Uses: transport.h, perform, core/base/address.  Used by: core/progress/net, the tests.
 */
#ifndef PGAS_TRANSPORT_TCP_H
#define PGAS_TRANSPORT_TCP_H

#include <pthread.h>

#include "pgas/core/base/address.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/threads/atomic.h"
#include "pgas/transport/tcp/tcp_stream.h"

enum {
    TCP_QUEUE_MAX = 64 << 10, /* queued bytes, references not included */
    TCP_REFS_MAX = 64,
    TCP_COPY_MAX = 4096, /* longer sources of puts are not copied */
    TCP_RESULTS_MAX = 4096,
    TCP_LONG_RESULTS_MAX = 1024, /* with one, longer than a word, of at most TCP_COPY_MAX
                                    bytes: the target copies them */
    TCP_BLOCKS_MAX = 132 << 10,  /* of a fragment: 128 KiB of blocks, and vectors */
    TCP_SCRATCH = 128 << 10,
    TCP_ADDRESSES = 16, /* of a host */
    TCP_LOOPBACKS = 2,  /* of IPv4 and IPv6 */
    TCP_LISTENERS = TCP_ADDRESSES + TCP_LOOPBACKS,
    TCP_IP_MAX = 16, /* bytes of an address */
    TCP_SPACE = 32,
};

/* The endpoint descriptor of a PE. */
struct tcp_endpoint {
    unsigned char secret[SEAL_SECRET];
    unsigned char space[TCP_SPACE]; /* identifies the network namespace */
    uint32_t port, naddresses;
    struct tcp_ip {
        uint32_t six; /* 1: IPv6 */
        unsigned char bytes[TCP_IP_MAX];
    } address[TCP_ADDRESSES];
};

/* What the next reply with data, or an acknowledgement, completes. */
struct tcp_result {
    void *to; /* destination; NULL: the acknowledgement of request `acked` */
    uint64_t len;
    const struct transport_blocks *blocks; /* of get_blocks: the reply is copied by it */
    uint32_t acked;
    struct transport_completion *done;
};

/* False: an acknowledgement completes it. */
static inline bool tcp_result_has_data(const struct tcp_result *r)
{
    return r->to != NULL || r->blocks != NULL;
}

enum tcp_peer_state {
    TCP_PEER_IDLE, /* no connection */
    TCP_PEER_CONNECTING,
    TCP_PEER_HELLO,      /* has sent struct tcp_hello */
    TCP_PEER_CHALLENGED, /* the target has proved itself */
    TCP_PEER_PROVED,     /* has sent struct tcp_proof, awaits the welcome */
    TCP_PEER_OPEN,
    TCP_PEER_FAILED, /* for good */
};

/* The attempts of a context to connect to a PE, until a connection is open.  Erased
 * before it is freed. */
struct tcp_attempt {
    struct tcp_endpoint endpoint; /* of the PE */
    struct tcp_transcript transcript;
    uint32_t next_address; /* to try */
    unsigned refusals;     /* connections that the other end has closed */
    bool restart;          /* after the last address, the first one is tried again */
    uint64_t deadline_ns;  /* of attempts that time out */
    /* Since the first check: time of the last one, time waited for the handshake. */
    uint64_t checked_ns, waited_ns;
};

/* A PE as the target of a context. */
struct tcp_peer {
    struct tcp_stream stream; /* first */
    struct transport_ctx *ctx;
    struct tcp_peer *prev, *next; /* in ctx->busy, if busy */
    int pe;
    enum tcp_peer_state state;
    int error; /* -errno of TCP_PEER_FAILED */
    bool busy; /* has unsent bytes or outstanding results */
    /* Requests with TCP_ACKED: posted and acknowledged.  Unacknowledged ones are
     * `unsent` until their bytes are sent, and `unconfirmed` until a later request is
     * acknowledged.  `prompt`: `posted` after the last one without TCP_DELAYED, but not
     * below acked. */
    uint32_t posted, acked, unsent, prompt;
    uint32_t notified, notified_quiets; /* notifications since quiet notified_quiets */
    bool unconfirmed;
    struct tcp_result *result; /* a ring of results_size, a power of two, or 0 */
    uint32_t first_result, nresults, results_size;
    unsigned blocks; /* outstanding get_blocks */
    struct tcp_run {
        uint64_t at, end; /* positions in stream.out: of its head, behind its records */
        uint64_t kind;    /* the first bytes of its head, and ctx->fences */
    } run;                /* the last one */
    struct tcp_attempt *attempt; /* NULL: none */
};

/* An accepted connection.  Only context 0 has such. */
struct tcp_client {
    struct tcp_stream stream; /* first */
    struct transport_ctx *ctx;
    struct tcp_client *prev, *next;    /* in ctx->clients */
    int pe;                            /* -1: not authenticated yet */
    struct tcp_transcript *transcript; /* between hello and proof, else NULL */
    uint64_t since_ns;                 /* when it was accepted */
    uint32_t performed, reported; /* requests with TCP_ACKED: all; told to the peer */
    bool ack_now; /* one of those that were not reported is without TCP_DELAYED */
    struct tcp_client *next_delayed, **at_delayed; /* in ctx->delayed; at: NULL if not */
    /* The request whose payload is being received. */
    struct tcp_request request;
    struct tcp_signal signal;
    unsigned events; /* since the last call of progress */
};

/* What the contexts of a PE have sent. */
struct tcp_totals {
    uint64_t posts, sends, bytes;
};

struct transport_ctx {
    struct transport_net *net;
    struct transport_ctx *next; /* in net->contexts, under its lock */
    int epoll;
    struct tcp_peer **peer; /* by PE; NULL: not used yet */
    struct tcp_peer *busy;
    unsigned nattempts; /* peers with an attempt */
    uint64_t pending;   /* outstanding results and acknowledgements, unsent operations */
    uint64_t posts, posts_seen, posts_sent; /* all; at the last progress; sent by it */
    bool posting;                           /* in a call of tcp_progress_posting */
    bool holds;       /* a reply has not sent the queue of its peer */
    uint64_t held_at; /* if holds: ctx->posts then */
    size_t frame;     /* queued bytes that are sent without waiting for a reply */
    bool fenced;      /* nothing was posted since the last fence */
    uint32_t fences;  /* calls of fence */
    uint32_t quiets;  /* attempts of quiet */
    uint32_t losses;  /* of net->losses, those that were handled */
    int events;       /* since the last call of progress */
    struct tcp_client *clients, *closed; /* closed: freed after the current progress */
    unsigned nunknown;                   /* clients that are not authenticated */
    struct tcp_client *delayed;          /* clients with delayed acknowledgements */
    unsigned idle_polls; /* consecutive calls of progress without events */
    bool large;          /* a client's output buffer may be larger than needed */
    uint64_t trimmed_ns; /* time of the last tcp_clients_trim */
    char *scratch;
};

struct transport_net {
    const struct transport_world *world;
    struct transport_ctx *ctx_0;
    pthread_mutex_t lock;
    struct transport_ctx *contexts;
    struct tcp_stream listener[TCP_LISTENERS]; /* fd -1: not used */
    struct tcp_endpoint endpoint;              /* its secret is zero; */
    unsigned char *secret; /* here it is, in memory of seal_memory_alloc */
    uint32_t *lost;        /* by PE; atomic */
    uint32_t losses;
    uint8_t *reported; /* by PE: world->failed was called; atomic */
    bool disable_contexts;
    struct tcp_totals totals; /* of closed contexts; under the lock */
    char text[TRANSPORT_TEXT_MAX];
};

/* ---- tcp_endpoint.c ---- */

/* Listen, and fill net->endpoint and net->text.  0; or -errno and a message. */
int tcp_endpoint_open(struct transport_net *net, char why[TRANSPORT_TEXT_MAX]);
size_t tcp_endpoint_size(const struct tcp_endpoint *e);
bool tcp_endpoint_valid(const struct tcp_endpoint *e, size_t len);
/* The i-th address to try; false: there are no more. */
bool tcp_endpoint_target(const struct transport_net *net, const struct tcp_endpoint *e,
                         uint32_t i, struct address *to);
/* The i-th address of the loopback; false: there are no more. */
bool tcp_endpoint_loopback(uint32_t i, uint32_t port, struct address *to);

/* ---- tcp_listen.c ---- */

/* Listen at these addresses and at the loopback, and set net->endpoint.port.  0; or
 * -errno and a message. */
int tcp_listen(struct transport_net *net, const struct address *list, size_t n,
               char why[TRANSPORT_TEXT_MAX]);
void tcp_listen_close(struct transport_net *net);

/* ---- tcp_ctx.c ---- */

/* Add what the context has sent. */
void tcp_ctx_count(const struct transport_ctx *ctx, struct tcp_totals *totals);
int tcp_ctx_open(struct transport_net *net, struct transport_ctx **ctx);
void tcp_ctx_close(struct transport_ctx *ctx);
int tcp_fence(struct transport_ctx *ctx);
int tcp_quiet(struct transport_ctx *ctx);
int tcp_quiet_all(struct transport_ctx *ctx);
uint64_t tcp_pending(struct transport_ctx *ctx, int *pe);
int tcp_progress(struct transport_ctx *ctx);
int tcp_progress_posting(struct transport_ctx *ctx);
void tcp_ctx_send_all(struct transport_ctx *ctx);
int tcp_ctx_fd(struct transport_ctx *ctx);
int tcp_ctx_arm(struct transport_ctx *ctx);
/* Register the socket of a stream, or change what epoll reports.  0 or -errno. */
int tcp_ctx_watch(struct transport_ctx *ctx, struct tcp_stream *s, bool output);
/* A non-blocking socket, close-on-exec; or -errno. */
int tcp_ctx_socket(int family);
/* Raise the limit of open files of this process, when it has been reached. */
void tcp_ctx_raise_limit(void);
/* Close the socket, if it is open. */
void tcp_ctx_close_socket(struct transport_ctx *ctx, struct tcp_stream *s);

/* ---- tcp_peer.c: connections of an initiator ---- */

/* The record of a PE, connected or connecting.  0; or -errno.  tcp_peer_get: its slow
 * path. */
int tcp_peer_get(struct transport_ctx *ctx, int pe, struct tcp_peer **peer);
ALWAYS_INLINE int tcp_peer_find(struct transport_ctx *ctx, int pe, struct tcp_peer **peer)
{
    PGAS_ASSERT(pe >= 0 && pe < ctx->net->world->npes);
    *peer = ctx->peer[pe];
    if (likely(*peer != NULL && (*peer)->state == TCP_PEER_OPEN))
        return 0;
    return tcp_peer_get(ctx, pe, peer);
}
/* The target has proved itself; and it has verified our proof. */
void tcp_peer_challenged(struct tcp_peer *peer);
void tcp_peer_welcomed(struct tcp_peer *peer);
/* The i-th outstanding result. */
static inline struct tcp_result *tcp_peer_result(const struct tcp_peer *peer, uint32_t i)
{
    return &peer->result[(peer->first_result + i) & (peer->results_size - 1)];
}
/* Unsent bytes, results or acknowledgements without delay are outstanding. */
static inline bool tcp_peer_is_awaited(const struct tcp_peer *peer)
{
    return peer->stream.out.unsent > 0 || peer->nresults > 0 ||
           peer->prompt != peer->acked;
}
/* epoll reports events. */
void tcp_peer_ready(struct tcp_peer *peer, uint32_t events);
/* Send queued bytes; a failure fails the peer. */
void tcp_peer_send(struct tcp_peer *peer);
/* Enter in ctx->busy, or remove. */
void tcp_peer_update(struct tcp_peer *peer);
/* Everything outstanding completes with the error.  `text`: for world->failed; NULL: do
 * not report. */
void tcp_peer_fail(struct tcp_peer *peer, int error, const char *text);
void tcp_peer_free(struct tcp_peer *peer);
/* Fail the peers that do not answer the handshake in time. */
void tcp_peers_check_attempts(struct transport_ctx *ctx);

/* ---- tcp_auth.c: the handshake ---- */

enum tcp_role { TCP_TARGET, TCP_INITIATOR };

/* The MAC that the end with this role sends. */
void tcp_auth_mac(const unsigned char secret[SEAL_SECRET], enum tcp_role sender,
                  const struct tcp_transcript *t, unsigned char mac[SEAL_MAC]);
/* The initiator begins.  0; or -errno. */
int tcp_auth_hello(struct tcp_peer *peer, struct tcp_hello *hello);
/* True for the first bytes of hello, challenge and proof, false for those of requests. */
bool tcp_auth_has_magic(const void *head);
void tcp_auth_proof(const struct tcp_peer *peer, struct tcp_proof *proof);
/* Of struct tcp_reader, before the peer is TCP_PEER_OPEN. */
ptrdiff_t tcp_auth_reply_size(const struct tcp_peer *peer, const void *head);
int tcp_auth_reply(struct tcp_peer *peer, const void *message);
/* Of struct tcp_reader, while client->pe < 0. */
ptrdiff_t tcp_auth_request_size(const struct tcp_client *client, const void *head);
int tcp_auth_request(struct tcp_client *client, const void *message);

/* ---- tcp_post.c ---- */

int tcp_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
            const void *from, size_t len, struct transport_completion *done);
int tcp_get(struct transport_ctx *ctx, void *to, const struct transport_symaddr *from,
            size_t len, struct transport_completion *done);
int tcp_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
            const struct transport_amo *amo, struct transport_completion *done);
size_t tcp_signal_max(struct transport_net *net);
int tcp_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                   const void *from, size_t len, const struct transport_signal *signal,
                   struct transport_completion *done);
size_t tcp_blocks_max(struct transport_ctx *ctx, int pe, size_t bytes);
int tcp_put_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks);
int tcp_get_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks,
                   struct transport_completion *done);
/* Request an acknowledgement of everything before, if something is unconfirmed.  False:
 * no memory at present. */
bool tcp_post_confirm(struct tcp_peer *peer);
/* Likewise for delayed acknowledgements. */
bool tcp_post_confirm_delayed(struct tcp_peer *peer);

/* ---- tcp_reply.c ---- */

extern const struct tcp_reader tcp_reply_reader;

/* ---- tcp_client.c: connections of a target; tcp_serve.c: requests ---- */

void tcp_listener_ready(struct transport_net *net, const struct tcp_stream *listener);
void tcp_client_ready(struct tcp_client *client, uint32_t events);
/* Free the large reply buffers that are not used any more, from time to time. */
void tcp_clients_trim(struct transport_ctx *ctx);
/* Send the delayed acknowledgements of all clients. */
void tcp_clients_acknowledge(struct transport_ctx *ctx);
void tcp_client_close(struct tcp_client *client);
/* Append to the replies.  0 or -ENOMEM. */
int tcp_client_reply(struct tcp_client *client, enum tcp_reply_kind kind, uint64_t len);
extern const struct tcp_reader tcp_request_reader;
/* Count `n` performed requests with these flags.  Returns 0. */
int tcp_serve_done(struct tcp_client *client, unsigned flags, uint32_t n);
static inline size_t tcp_serve_word_size(unsigned flags)
{
    return flags & TCP_LONG ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* ---- tcp_serve_run.c: runs.  0; or -EPROTO, -EFAULT, -ENOMEM ---- */

int tcp_serve_put_run(struct tcp_client *client, const struct tcp_request *r,
                      const char *body);
int tcp_serve_get_run(struct tcp_client *client, const struct tcp_request *r,
                      const char *body);
int tcp_serve_amo_run(struct tcp_client *client, const struct tcp_request *r,
                      const char *body);

/* ---- tcp_lost.c ---- */

void tcp_lost(struct transport_net *net, int pe, bool node);
bool tcp_is_lost(const struct transport_net *net, int pe);
/* Handle the PEs that were lost since the last call. */
void tcp_lost_purge(struct transport_ctx *ctx);

#endif
