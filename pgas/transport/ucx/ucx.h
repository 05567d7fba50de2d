/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx.h - the UCX transport: a net, its contexts, their peers and operations.
 *
 * Objects.  A net is one ucp_context.  A context is one ucp_worker with an endpoint to
 * each PE that it has used, always to that PE's context 0, which serves incoming
 * operations.
 *
 * Order and completion.  UCX reports remote completion only of gets, fetching amos and
 * flushes: a put or a posted amo is known to be done when a flush of its endpoint has
 * completed.  So a context keeps a list of busy peers, and fence and quiet flush those
 * that need it.  A fence is a flush, too, because ucp_worker_fence of UCX 1.13 is not
 * known to order operations on different lanes (devices) of an endpoint.
 *
 * A put with signal is an active message (a request): the thread that makes progress on
 * the target's context 0 copies its bytes, updates the word with a CPU atomic (as UCX
 * does amos, see ATOMIC_MODE), and sends a reply; an unacknowledged one has no reply.
 * Messages need not arrive in order.
 *
 * By requests (net->by_requests, if the job survives failures).  UCX over TCP performs
 * puts, gets and amos by messages of its own, and UCX 1.13 calls abort() when it cannot
 * reply to one of them because its sender has died.  So all operations are requests here,
 * and nothing is flushed.  A reply to a get has up to UCX_DATA_MAX bytes; there are as
 * many as are needed.  A put of more bytes is a long put: several requests, of which
 * LONG_PARTS are in flight.  An unacknowledged put with signal has at most
 * UCX_ORDERED_MAX bytes, longer ones have a reply.  Messages up to this length have one
 * fragment, and an endpoint keeps their order, as UCX's tag matching needs it.  So
 * quiet_all sends a request without effect to each peer that is `unconfirmed`; its reply
 * implies that the unacknowledged puts before it were performed.
 *
 * Invariants.
 * - A peer is in ctx->busy while unflushed + in_flush + sum of posted[] > 0.
 * - ctx->pending = sum over busy peers of unflushed + in_flush + posted[GET] +
 *   posted[AMO].
 * - At most one reply to a message is accepted: op->awaits_reply is set, and the token
 *   contains the record's generation.  Stale replies are ignored, other invalid messages
 *   rejected.
 * - A record that UCX may still complete is never free.
 * - A reply stores data or a result only in an operation that is not abandoned.
 * - By requests: unflushed and in_flush are 0; an unacknowledged put with signal to a
 * peer that is not unconfirmed and has no request of quiet_all in flight was performed or
 *   dropped.
 * - Once ctx->losses equals net->losses, every peer of a lost PE has error -EHOSTDOWN and
 *   no operation in flight, except gets until its endpoint is closed.
 *
 * Memory, with UCX 1.13 over tcp.  Per context: a pointer for each PE of the job, 340 KiB
 * once it is used, 2 file descriptors and 2 for each device.  Per context and connected
 * PE: 6 KiB and a socket.  An endpoint descriptor has 44 bytes and the worker's address,
 * about 21 + 29 for each device (lo and eth0: 123 in all); none of it is kept.
 *
 * Threads.  As in transport.h.  A context, its peers and operations have no lock;
 * net->lock protects the list of contexts.
 * Uses: transport.h.  Used by: the ucx files.
 */
#ifndef PGAS_TRANSPORT_UCX_H
#define PGAS_TRANSPORT_UCX_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <ucp/api/ucp.h>

#include "pgas/core/base/environ.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/transport/transport.h"

/* ---- ucx_lib.c: loads UCX at run time ----------------------------------------------
 *
 * The library is not linked with UCX: a job on one node would pay for its start-up and
 * get its signal handlers and memory hooks.  UCX is never unloaded, because it leaves
 * threads and exit handlers behind. */

/* The functions of libucp that are used: X(name without ucp_). */
/* clang-format off */
#define UCX_OF_CONTEXT(X)                                                                \
    X(get_version) X(config_read) X(config_modify) X(config_release)                     \
    X(init_version) X(cleanup) X(context_print_info)                                     \
    X(mem_map) X(mem_unmap) X(rkey_pack) X(rkey_buffer_release)
#define UCX_OF_WORKER(X)                                                                 \
    X(worker_create) X(worker_destroy) X(worker_query) X(worker_release_address)         \
    X(worker_progress) X(worker_get_efd) X(worker_arm) X(worker_set_am_recv_handler)
#define UCX_OF_ENDPOINT(X)                                                               \
    X(ep_create) X(ep_close_nbx) X(ep_flush_nbx) X(ep_rkey_unpack) X(rkey_destroy)       \
    X(put_nbx) X(get_nbx) X(atomic_op_nbx) X(am_send_nbx) X(request_free)
#define UCX_FUNCTIONS(X) UCX_OF_CONTEXT(X) UCX_OF_WORKER(X) UCX_OF_ENDPOINT(X)
/* clang-format on */

enum { UCX_SETTINGS = 4 };

/* One per process.  The functions are valid once ucx_load has returned 0. */
struct ucx_lib {
#define X(name) __typeof__(ucp_##name) *name;
    UCX_FUNCTIONS(X)
#undef X
    __typeof__(ucs_status_string) *status_string;
    struct environ_setting setting[UCX_SETTINGS];
};
extern struct ucx_lib ucx_lib;

/* Load UCX. 0; or -ELIBACC and a message in why. The caller restores signal
 * dispositions (ucx_signals_save, ucx_signals_restore). One thread at a time. */
int ucx_load(char *why, size_t space);

/* A negative errno value for a status that is not UCS_OK. */
int ucx_errno(ucs_status_t status);

/* ---- ucx_signals.c: signal dispositions while UCX starts --------------------------- */

struct ucx_signals {
    sigset_t mask;
    struct sigaction action[NSIG];
};

/* Save every disposition and block all signals in this thread, so that threads started by
 * UCX handle no signals of the program. */
void ucx_signals_save(struct ucx_signals *saved);
void ucx_signals_restore(const struct ucx_signals *saved);

/* ---- a net, its contexts, peers and operations ---- */

struct transport_net {
    const struct transport_world *world;
    ucp_context_h context;
    ucp_mem_h memory[SEGMENTS]; /* NULL: no such segment */
    struct transport_ctx *ctx_0;
    struct transport_ctx *contexts; /* all open contexts; under lock */
    pthread_mutex_t lock;
    unsigned char address[TRANSPORT_ADDRESS_MAX];
    size_t address_len, worker_address_len;
    bool disable_contexts;
    bool by_requests;
    uint32_t *lost;  /* by PE: ucx_lost was called (atomic) */
    uint32_t losses; /* calls of ucx_lost; incremented (release) after lost[] is set */
    char text[TRANSPORT_TEXT_MAX]; /* for oshmem_info */
};

/* Kinds of completion.  UCX_PUT: a flush completes the operation (puts, amos without a
 * reply, unacknowledged puts with signal).  UCX_GET, UCX_AMO: it has its own completion
 * (gets; amos with a reply and puts with signal; all requests with a reply). */
enum ucx_op_kind { UCX_PUT, UCX_GET, UCX_AMO, UCX_OP_KINDS };

/* Active messages: a request, whose bytes, if any, follow its header, and the reply. */
enum {
    UCX_REQUEST_ID = 0,
    UCX_REPLY_ID = 1,
    UCX_DATA_MAX = 64 << 10,
    UCX_BLOCKS_MAX = 4 << 20, /* bytes of blocks that a context has in flight */
    UCX_SPARES = 16,          /* buffers of UCX_DATA_MAX bytes that a context keeps */
    UCX_SHORT = 4096,         /* shorter messages are allocated exactly */
    UCX_ORDERED_MAX = 512,    /* fits a fragment of every transport of UCX */
    UCX_ERRNO_MAX = 4095
};
enum ucx_request_type {
    UCX_REQUEST_SIGNAL,
    UCX_REQUEST_PUT,
    UCX_REQUEST_GET,
    UCX_REQUEST_AMO,
    UCX_REQUEST_PUT_BLOCKS,
    UCX_REQUEST_GET_BLOCKS
};
struct ucx_request_header {
    uint64_t token; /* of the record (ucx_op_token), returned in the reply */
    uint64_t operand, cond, word_offset; /* of an amo or signal; operand: of blocks, the
                                            number of vectors */
    uint64_t offset;                     /* of the bytes that are put or got */
    uint64_t len;                        /* of a get, of blocks */
    int32_t pe;                          /* the sender */
    uint8_t type, op, size, word_segment, segment;
};
struct ucx_reply_header {
    uint64_t token;
    int64_t error;  /* 0 or -errno */
    uint64_t value; /* amo: the old value; get: offset of the bytes that follow */
};

/* A PE to which a context has connected. */
struct ucx_peer {
    struct transport_ctx *ctx;
    int pe;
    int error;     /* not 0: it can no longer be reached; a negative errno value */
    bool reported; /* world->failed was called */
    bool flushing;
    bool lost;        /* ucx_peer_lose was called */
    bool closing;     /* UCX has not completed the close of ep */
    bool unconfirmed; /* by requests: unacknowledged puts with signal were sent */
    ucp_ep_h ep;
    struct {
        uint64_t base; /* in the PE's address space */
        ucp_rkey_h key;
    } segment[SEGMENTS];
    uint64_t posted[UCX_OP_KINDS]; /* operations that UCX will complete; UCX_PUT: those
                                      whose source is in use */
    uint64_t unflushed;            /* puts since the last flush began */
    uint64_t in_flush;             /* puts that the current flush covers */
    struct ucx_peer *next, *prev;  /* in ctx->busy while one of these counters is > 0 */
};

/* An operation that UCX will complete. */
struct ucx_op {
    struct ucx_op *next;   /* in ctx->free_ops */
    struct ucx_peer *peer; /* NULL: free */
    bool abandoned;        /* completed with an error; UCX may still complete it */
    struct transport_completion *done; /* may be NULL */
    enum ucx_op_kind kind;
    /* Of an amo; UCX may access them until it completes. */
    uint32_t size;
    uint64_t operand, reply;
    void *result; /* destination of the reply; may be NULL */
    /* Of a request: it ends when it was sent and all replies have arrived. */
    struct ucx_request_header head;
    unsigned events_pending;
    unsigned char *to; /* of a get: the destination */
    void *message;     /* of blocks: vectors and, of a put, packed bytes; else NULL */
    size_t message_len;
    const struct transport_blocks *blocks; /* of a get of blocks */
    uint64_t left;                         /* of a get: bytes that have not arrived */
    struct ucx_op *parent;                 /* of a part: the long put; or NULL */
    uint32_t index, generation; /* of this record; generation: how often it was freed */
    bool awaits_reply;          /* a message with its token is in flight */
    /* Of a long put. */
    struct transport_symaddr at; /* of the next part */
    const unsigned char *from;
    size_t len;     /* bytes to post */
    unsigned parts; /* in flight */
    int error;
};

struct transport_ctx {
    struct transport_net *net;
    struct transport_ctx *next; /* in net->contexts */
    ucp_worker_h worker;
    struct ucx_peer **peers; /* by PE; NULL: never used */
    struct ucx_peer *busy;   /* circular list */
    uint64_t pending;        /* operations not known to be done */
    bool failed_peers;       /* an endpoint has failed and is not closed yet */
    uint32_t losses;         /* of the net, when ucx_ctx_purge was last called */
    struct ucx_op *free_ops;
    struct ucx_block **blocks; /* the ops are allocated in blocks; nblocks of them */
    unsigned nblocks;
    unsigned in_use;         /* ops that have not completed */
    size_t messages_len;     /* sum of message_len of the ops */
    void *spare[UCX_SPARES]; /* memory of long messages, for the next ones */
    unsigned nspares;
    struct ucx_reply *replies; /* replies that UCX may still read */
    struct ucx_op *longs;      /* long puts that have not ended */
};

/* ---- ucx_config.c ------------------------------------------------------------------ */

/* Open net->context with the settings of the user and of world. 0; or -errno and a
 * message. */
int ucx_context_open(struct transport_net *net, char why[TRANSPORT_TEXT_MAX]);
/* Write the names of the devices to net->text. */
void ucx_context_describe(struct transport_net *net);

/* ---- ucx_address.c ----------------------------------------------------------------- */

/* Map the segments and fill net->address.  0; or -errno and a message. */
int ucx_address_make(struct transport_net *net, char why[TRANSPORT_TEXT_MAX]);
void ucx_address_free(struct transport_net *net);

/* A parsed endpoint descriptor; the pointers refer to its bytes. */
struct ucx_address {
    struct {
        uint64_t base;
        const void *key; /* NULL: no such segment */
    } segment[SEGMENTS];
    const ucp_address_t *worker;
};
/* False: the descriptor is malformed. */
bool ucx_address_parse(const unsigned char *from, size_t len, struct ucx_address *to);

/* ---- ucx_ctx.c --------------------------------------------------------------------- */

int ucx_ctx_open(struct transport_net *net, struct transport_ctx **ctx);
void ucx_ctx_close(struct transport_ctx *ctx);
int ucx_fence(struct transport_ctx *ctx);
int ucx_quiet(struct transport_ctx *ctx);
int ucx_quiet_all(struct transport_ctx *ctx);
uint64_t ucx_pending(struct transport_ctx *ctx, int *pe);
int ucx_progress(struct transport_ctx *ctx);
int ucx_fd(struct transport_ctx *ctx);
int ucx_arm(struct transport_ctx *ctx);

/* ---- ucx_peer.c -------------------------------------------------------------------- */

/* Get the peer for a new operation; connect at its first use. 0; or -errno, and
 * world->failed was called. */
int ucx_peer_get(struct transport_ctx *ctx, int pe, struct ucx_peer **peer);
/* The peer can no longer be reached; report that if an operation is in flight to it. */
void ucx_peer_fail(struct ucx_peer *peer, ucs_status_t status);
/* Handle a post that UCX has refused; returns its -errno. */
int ucx_peer_refused(struct ucx_peer *peer, ucs_status_t status);
/* Count an operation that UCX will complete (by = 1), or one that is complete (-1). */
void ucx_peer_count(struct ucx_peer *peer, enum ucx_op_kind kind, int by);
/* Count a put that needs a flush. */
void ucx_peer_unflushed(struct ucx_peer *peer);
/* True if the peer's puts and amos are done. Begins a flush if one is needed. */
bool ucx_peer_flushed(struct ucx_peer *peer);
/* True if its puts and amos without reply are done. Begins a flush if one is needed. */
bool ucx_peer_puts_flushed(struct ucx_peer *peer);
/* Close the endpoint by force. */
void ucx_peer_close(struct ucx_peer *peer);
void ucx_lost(struct transport_net *net, int pe, bool node);
/* The PE is lost: end its operations, and its gets once UCX has closed the endpoint. */
void ucx_peer_lose(struct ucx_peer *peer);

/* ---- ucx_op.c ---------------------------------------------------------------------- */

/* Allocate a record for an operation to a PE. 0; -EAGAIN: too many in use; or -errno. */
int ucx_op_alloc(struct transport_ctx *ctx, int pe, enum ucx_op_kind kind,
                 struct transport_completion *done, struct ucx_op **op);
void ucx_op_free(struct ucx_op *op);
/* Free the op's message and replace it by one of `len` bytes, which the op owns. */
void ucx_op_set_message(struct ucx_op *op, void *message, size_t len);
/* Memory for a message of blocks; NULL: none.  That of a long message is kept for the
 * next ones: the C library would return it to the system, and its pages would be zeroed
 * again. */
void *ucx_message_alloc(struct transport_ctx *ctx, size_t len);
void ucx_message_free(struct transport_ctx *ctx, void *message, size_t len);
/* The token of a record in messages: its index and generation, so that it exposes no
 * address and becomes invalid when the record is freed. */
static inline uint64_t ucx_op_token(const struct ucx_op *op)
{
    return (uint64_t)op->generation << 32 | op->index;
}
/* The record with a token's index; NULL: no such index. The caller compares the
 * generation. */
struct ucx_op *ucx_op_of_token(const struct transport_ctx *ctx, uint64_t token);
/* Complete an operation: it was performed, its source may be changed, or it failed. */
void ucx_op_complete(struct ucx_op *op, int error);
int ucx_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
            const void *from, size_t len, struct transport_completion *done);
int ucx_get(struct transport_ctx *ctx, void *to, const struct transport_symaddr *from,
            size_t len, struct transport_completion *done);
int ucx_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
            const struct transport_amo *amo, struct transport_completion *done);
/* Complete all operations to a failed peer with its error; not `gets`: except gets that
 * UCX itself performs. */
void ucx_ops_abandon(struct ucx_peer *peer, bool gets);
/* Free the records of all operations. */
void ucx_ops_free(struct transport_ctx *ctx);

/* ---- ucx_request.c ----------------------------------------------------------------- */

size_t ucx_signal_max(struct transport_net *net);
int ucx_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                   const void *from, size_t len, const struct transport_signal *signal,
                   struct transport_completion *done);
size_t ucx_blocks_max(struct transport_ctx *ctx, int pe, size_t bytes);
int ucx_put_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks);
int ucx_get_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks,
                   struct transport_completion *done);
/* By requests: the operations of the table. */
int ucx_request_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
                    const void *from, size_t len, struct transport_completion *done);
int ucx_request_get(struct transport_ctx *ctx, void *to,
                    const struct transport_symaddr *from, size_t len,
                    struct transport_completion *done);
int ucx_request_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
                    const struct transport_amo *amo, struct transport_completion *done);
/* Send a request without effect to each unconfirmed peer.  0 or -EAGAIN. */
int ucx_request_confirm(struct transport_ctx *ctx);
/* Complete an operation of a failed peer that is not abandoned; frees it if UCX does not
 * refer to it. */
void ucx_request_abandon(struct ucx_op *op);
/* Post parts of long puts, and end those that are complete. */
void ucx_request_post_longs(struct transport_ctx *ctx);
/* True if a reply with this token may have data. */
bool ucx_request_takes_data(const struct transport_ctx *ctx, uint64_t token);
/* Handle a reply with len bytes of data. False: it is malformed. */
bool ucx_request_handle_reply(struct transport_ctx *ctx,
                              const struct ucx_reply_header *reply, const void *data,
                              size_t len);

/* ---- ucx_am.c ---------------------------------------------------------------------- */

/* Install the handlers for active messages. */
ucs_status_t ucx_am_set_handlers(struct transport_ctx *ctx);
void ucx_am_free(struct transport_ctx *ctx);

#endif
