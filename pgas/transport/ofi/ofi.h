/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi.h - the libfabric transport: a net, its contexts, peers and operations.
 *
 * Objects.  A net is one fi_domain with one address vector.  A context is one endpoint
 * with its own completion queue; it sends to the endpoints of the other PEs' contexts 0,
 * where the symmetric segments are registered.  An operation (struct ofi_op) is a record
 * in the context that posted it, until its completion and its reply have arrived.
 *
 * Order and completion have two modes (net->ordered, chosen by ofi_select_in_order):
 * - Delivery complete: the completion of a put or amo implies that it is visible at its
 *   target.  quiet waits for all completions, and so does fence.
 * - Ordered: operations to a PE, except amos, take effect in the order of posting.  A put
 *   completes when its source may be changed; most short puts (inject) and most puts
 *   without done are unsignaled: they have no completion.  Their target PEs are dirty
 *   until quiet has read one byte from each.  The first put after a quiet completes at
 *   delivery if the caller waits for it, which makes put and quiet faster.  fence waits
 *   only for amos.
 * An amo with after_puts is refused (-EAGAIN) until the context's puts to that PE are
 * done (delivery complete), or until all of them are posted (ordered).
 *
 * Amos use the provider's atomics where the target's CPU performs them, because only
 * these are atomic with respect to CPU atomics.  Otherwise an amo is a message: the
 * thread that makes progress on the target's context 0 performs it and sends a reply
 * (ofi_am.c).  A put with signal is such a message, too, and counts as an amo for fence
 * and quiet.  An unacknowledged one (signal->unacked) has no reply, and fence and quiet
 * do not wait for it.  If the job survives failures, quiet_all must: in ordered mode
 * ctx->unconfirmed has the PEs to which such messages were sent, and quiet_all sends each
 * of them a request without effect, whose reply implies that the messages before it were
 * performed.  In the other mode messages may overtake each other, so that there all puts
 * with signal have a reply.
 *
 * If the provider requires registered local memory, the segments and the transport's
 * pools are registered; other memory is copied through bounce buffers, in fragments.
 *
 * Invariants.
 * - in_flight = number of records that are neither free nor a fragment, receive, reply,
 *   probe or abandoned; amos_in_flight = number of amos and requests among them.
 * - world->survives: an unacknowledged message to a PE that is not in `unconfirmed` and
 * has no request of quiet_all in flight was performed or dropped.
 * - ndirty = number of bits in dirty = length of dirty_list.
 * - At most one reply to a message is accepted: op->awaits_reply is set, and the token
 *   contains the record's generation (ofi_op_token).  Stale replies are ignored, other
 *   invalid messages rejected.
 * - A record that libfabric may still complete is never free.
 * - bounces.filled = number of bounce buffers with fills_bounce, and of retired ones; at
 *   most OFI_BOUNCES_FILLED.  bounces.stale = those among them that belong to no
 *   operation in flight: abandoned and retired ones.
 * - Once ctx->losses equals net->losses, no operation to a peer in state LOST is
 *   outstanding, except gets that ctx->drains counts.
 *
 * Memory.  Per net: 56 bytes per PE, in chunks of 256 PEs that are allocated when one of
 * them is first used.  Per context: 3 bits and 4 bytes of address space per PE; 16 KiB
 * per 64 operations in flight; 2 MiB of receive buffers and 1
 * MiB of bounce buffers, touched when they are used.
 *
 * Threads.  As in transport.h: one thread at a time in a context, which
 * FI_THREAD_COMPLETION requires.  Contexts share the peers and the list of contexts,
 * which net->lock protects; a peer in state KNOWN (acquire) is read without it.
 * Uses: transport.h, avoid.h, threads/atomic.  Used by: the ofi files.
 */
#ifndef PGAS_TRANSPORT_OFI_H
#define PGAS_TRANSPORT_OFI_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "pgas/core/base/environ.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/threads/atomic.h"
#include "pgas/transport/avoid.h"
#include "pgas/transport/transport.h"

/* ---- ofi_lib.c: loads libfabric at run time ----------------------------------------
 *
 * The library is not linked with libfabric: a job on one node would pay for its start-up
 * (300 ms on Debian 12: two of its dependencies calibrate a clock for 100 ms each, and it
 * reads all of /proc/kallsyms; no setting prevents this) and get the signal handlers of
 * its dependencies.  libfabric is never unloaded, because some of them cannot be. */

/* The exported functions that are used: X(name without fi_).  The others are inline in
 * libfabric's headers and call functions through the tables of its objects. */
#define OFI_FUNCTIONS(X)                                                                 \
    X(getinfo) X(freeinfo) X(dupinfo) X(fabric) X(strerror) X(version)

enum { OFI_SETTINGS = 4 };

/* One per process.  The functions are valid once ofi_load has returned 0. */
struct ofi_lib {
#define X(name) __typeof__(fi_##name) *name;
    OFI_FUNCTIONS(X)
#undef X
    struct environ_setting setting[OFI_SETTINGS];
};
extern struct ofi_lib ofi_lib;

/* The oldest libfabric interface that is supported. */
#define OFI_VERSION FI_VERSION(1, 14)

/* Signal dispositions before libfabric and its providers start. */
struct ofi_process_state {
    struct sigaction action[NSIG];
};

/* Set environment variables that reduce the providers' memory and latency, unless the
 * user has set them, and save signal dispositions; restore both once the net is open. */
void ofi_process_state_enter(struct ofi_process_state *now);
void ofi_process_state_restore(const struct ofi_process_state *before);

/* Load libfabric. 0; or -ELIBACC and a message in why. One thread at a time. */
int ofi_load(char *why, size_t space);

/* The errno value of a libfabric error number (both positive). */
int ofi_errno(int error);

/* ---- limits ---- */

enum {
    OFI_SMALL_FRAGMENT = 1000, /* fragment size where "size" is disabled */
    OFI_SLAB_OPS = 64,         /* records that are allocated at once */
    OFI_SLABS_MAX = 16,        /* per context */
    OFI_OPS_MAX = OFI_SLABS_MAX * OFI_SLAB_OPS, /* more operations, without abandoned
                                                   ones: -EAGAIN */
    OFI_BOUNCE_SIZE = 64 << 10,                 /* bytes of a bounce buffer */
    OFI_COPIED_MAX = 8192, /* longest put that is copied so that its caller can go on */
    OFI_BOUNCES = 32,      /* per context, of which this many may be filled: */
    OFI_BOUNCES_FILLED = OFI_BOUNCES / 2,
    OFI_SIGNAL_EVERY = 64,          /* longest run of unsignaled puts, */
    OFI_UNSIGNALED_MAX = 64 * 1024, /* and the longest unsignaled put, in bytes */
    OFI_UNFLUSHED_MAX = 16384, /* puts in ordered mode until a flush is forced: bounds
                                * the provider's queue for a slow peer */
    OFI_CHUNK_PEERS = 256,
    OFI_NAME_MAX = 64,                 /* bytes of an endpoint's address */
    OFI_RECVS = 64,                    /* receives that a context posts */
    OFI_ERRNO_MAX = 4095,              /* largest errno value in a reply */
    OFI_MESSAGE_MAX = OFI_BOUNCE_SIZE, /* bytes of a message, */
    OFI_EAGER_MAX = 256, /* and of an eager one: ofi_rxm's limit (ofi_lib.c) */
};

/* A request (an amo, or a put with signal) or its reply. The header ends after name_len
 * bytes of name; the bytes of a put follow. */
enum ofi_message_type {
    OFI_MESSAGE_AMO,
    OFI_MESSAGE_SIGNAL,
    OFI_MESSAGE_PUT_BLOCKS,
    OFI_MESSAGE_GET_BLOCKS,
    OFI_MESSAGE_WINDOW,  /* requests a window (ofi_blocks.h); in the reply: offset and
                            operand are the address and key of its first slot, cond is the
                            slot's number + 1, or 0 if the request is refused */
    OFI_MESSAGE_UNACKED, /* a put with signal without a reply */
    OFI_MESSAGE_REPLY
};
struct ofi_message {
    uint64_t token;   /* of the requester's record (ofi_op_token), also in the reply */
    uint64_t offset;  /* of the word in its segment */
    uint64_t operand; /* in the reply: the old value; of blocks: number of vectors */
    uint64_t cond;    /* of a put: target offset in data_segment; of blocks: bytes */
    int32_t pe;       /* the requester; in the reply: 0 or -errno */
    uint16_t context; /* number of the requester's context */
    uint16_t len;     /* bytes after the header: of a put, of vectors and blocks */
    uint8_t type, op;
    uint8_t size; /* of the word; of a get of blocks: of the struct ofi_destination that
                     follows the vectors, or 0 */
    uint8_t segment, data_segment, name_len;
    uint8_t name[OFI_NAME_MAX]; /* address of that context's endpoint; none: context 0 */
};

static inline size_t ofi_message_header_len(const struct ofi_message *message)
{
    PGAS_ASSERT(message->name_len <= OFI_NAME_MAX);
    return offsetof(struct ofi_message, name) + message->name_len;
}

/* ---- operations ------------------------------------------------------------------ */

enum ofi_kind {
    OFI_FREE,
    OFI_PUT,
    OFI_GET,
    OFI_FLUSH,      /* a get of one byte, after puts in ordered mode */
    OFI_PROBE,      /* a get of one byte to detect a failed peer; not in in_flight */
    OFI_AMO,        /* an atomic of the provider */
    OFI_REQUEST,    /* an amo by messages */
    OFI_FRAGMENTED, /* a put or get in fragments, each of which has its own record */
    OFI_RECV,       /* a posted receive */
    OFI_REPLY,      /* sends a reply to PE pe */
    OFI_UNACKED,    /* sends a put with signal that has no reply; ends when it was sent */
    OFI_ABANDONED,  /* its peer has failed; libfabric may still complete it */
    OFI_KINDS
};

struct ofi_fragmented {
    struct transport_symaddr symaddr; /* of the next fragment */
    const unsigned char *from;        /* source of a put, or */
    unsigned char *to;                /* destination of a get; the other is NULL */
    size_t len;                       /* bytes to post */
    unsigned fragments;               /* in flight */
    bool queued;                      /* in ctx->backlog */
};

struct ofi_op {
    struct fi_context2 fi; /* used by libfabric while posted; must be the first member */
    struct ofi_op *next;   /* in a list */
    struct transport_completion *done;
    struct ofi_op *parent; /* of a fragment: the OFI_FRAGMENTED operation; or NULL */
    unsigned char *bounce; /* bounce buffer, or NULL */
    void *to;   /* of a get or receive: the buffer; of an amo: the result, or NULL */
    void *desc; /* memory descriptor of this record */
    size_t len; /* of a get, a receive; of an amo: size of the word */
    int pe, error;
    enum ofi_kind kind;
    unsigned events_pending;    /* outstanding completions and replies */
    uint32_t index, generation; /* of this record; generation: how often it was freed */
    bool awaits_reply;          /* a message with its token is in flight */
    bool fills_bounce;          /* libfabric or a peer writes to the bounce buffer */
    bool fills_record;          /* libfabric writes a fragment of a get to u.bytes */
    int8_t slot; /* of a put of blocks: in the window of its target; or -1 */
    union {
        struct {
            uint64_t operand, cond, result;
        } word;
        struct ofi_fragmented part;
        struct ofi_message message;
        unsigned char bytes[sizeof(struct ofi_message)];
    } u;
};

/* ---- a context ------------------------------------------------------------------- */

struct ofi_queue {
    struct ofi_op *first, **last;
};

struct ofi_bounce_pool {
    unsigned char *memory; /* NULL: not allocated yet */
    bool failed;           /* it cannot be allocated or registered */
    struct fid_mr *mr;     /* NULL: registration is not required */
    void *desc;
    unsigned nfree;
    unsigned filled, stale; /* see Invariants */
    uint16_t free[OFI_BOUNCES];
};

struct transport_ctx {
    struct transport_net *net;
    struct fid_ep *ep;
    size_t inject_max; /* longest injected put, in bytes */
    bool unsignaled;   /* ordered mode: puts without done may be unsignaled */
    uint64_t *dirty;   /* ordered mode: bit by PE, */
    int *dirty_list;   /* and as a list */
    int ndirty;
    uint32_t unflushed;      /* puts since the last quiet */
    bool has_put;            /* a put has been posted since the last quiet */
    uint64_t in_flight;      /* operations that are posted and not done, */
    uint64_t amos_in_flight; /* and the amos and requests among them */
    struct ofi_op *free;
    struct fid_cq *cq;
    struct ofi_queue backlog; /* fragmented operations with fragments to post */
    struct ofi_slab **slab;
    unsigned nslabs;
    unsigned abandoned; /* records in OFI_ABANDONED */
    unsigned drains;    /* gets from lost peers, and bounce buffers of such gets, that
                           libfabric may still write */
    uint64_t drain_ns;  /* when they complete at the latest */
    uint32_t losses;    /* of the net, when ofi_lost_purge was last called */
    struct ofi_bounce_pool bounces;
    struct ofi_bounce_pool recv_buffers;     /* receive buffers */
    struct ofi_queue unposted_recvs;         /* receives that must be posted again */
    struct ofi_reply *replies, **last_reply; /* replies that must be sent again */
    uint32_t fd_unreliable; /* fd may not become readable when a reply can be sent or a
                               connection is established */
    uint64_t last_completion_ns; /* last completion of an amo, or last probe; 0: the
                                    next ofi_progress sets it */
    int probed_pe;               /* the PE that was probed last */
    bool recvs_posted;           /* receives are posted */
    bool connecting;   /* a post was refused with no operation in flight to that PE */
    bool connect_slow; /* connecting has lasted longer than TIMING_OFI_SLOW */
    int refused_pe; /* PE of the last refused post; -1: a post to it was accepted since */
    uint64_t first_refused_ns;  /* time of the first refusal, */
    uint64_t last_refused_ns;   /* and of the last */
    uint64_t *reached;          /* bit by PE: an operation was posted to it */
    uint64_t *unconfirmed;      /* bit by PE: see Order and completion */
    struct ofi_window *windows; /* by PE (ofi_blocks.h); NULL: none was requested */
    int fd;
    uint16_t number;
    uint8_t name_len;
    unsigned char name[OFI_NAME_MAX];
    struct transport_ctx *next; /* in net->contexts */
};

/* ---- a peer ---------------------------------------------------------------------- */

/* FAILED: libfabric has reported an error.  LOST: ofi_lost was called; final. */
enum { OFI_PEER_UNKNOWN, OFI_PEER_KNOWN, OFI_PEER_FAILED, OFI_PEER_LOST };

struct ofi_peer {
    uint32_t state;    /* KNOWN (store-release) after the other members */
    uint16_t flush;    /* segment that a flush reads from */
    uint16_t inserted; /* 1: addr is valid; under net->lock */
    fi_addr_t addr;
    struct {
        uint64_t base, key;
    } segment[SEGMENTS];
    struct ofi_requester *requesters; /* its contexts other than 0; used by progress of
                                         this PE's context 0 */
};

/* A remote address in libfabric's form. */
struct ofi_target {
    const struct ofi_peer *peer;
    fi_addr_t addr;
    uint64_t at, key;
};

/* ---- a net ----------------------------------------------------------------------- */

struct transport_net {
    const struct transport_world *world;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_mr *mr[SEGMENTS];
    bool ordered;
    bool registers;              /* local memory must be registered */
    bool immediate;              /* writes with immediate data are used (ofi_blocks.h) */
    struct ofi_windows *windows; /* that this PE has granted; NULL: none */
    size_t fragment_max;         /* bytes of one put or get */
    uint64_t next_key;           /* under lock */
    uint32_t native[4];          /* bit by enum transport_amo_op: see ofi_amo.c */
    struct ofi_peer **chunks;    /* of OFI_CHUNK_PEERS peers; under lock until released */
    pthread_mutex_t lock;
    uint32_t losses; /* calls of ofi_lost; incremented (release) after the peer's state */
    struct transport_ctx *ctx_0, *contexts;
    size_t address_len;
    unsigned char address[TRANSPORT_ADDRESS_MAX];
    bool avoid[CAPABILITIES];
    /* No fi_inject: if the connection ends, the tcp provider of libfabric 1.17 completes
     * an injected operation with a NULL context, which ofi_rxm dereferences.  A job that
     * survives dead PEs must survive that.  ofi_rxm passes a context of its own for
     * fi_sendmsg with FI_INJECT. */
    bool survives;
    char text[TRANSPORT_TEXT_MAX];
};

/* ---- sets of PEs ----------------------------------------------------------------- */

enum { OFI_BITS = 64 };

static inline bool ofi_bit(const uint64_t *set, int pe)
{
    return (set[(unsigned)pe / OFI_BITS] & 1ULL << (unsigned)pe % OFI_BITS) != 0;
}

static inline void ofi_bit_set(uint64_t *set, int pe)
{
    set[(unsigned)pe / OFI_BITS] |= 1ULL << (unsigned)pe % OFI_BITS;
}

static inline void ofi_bit_clear(uint64_t *set, int pe)
{
    set[(unsigned)pe / OFI_BITS] &= ~(1ULL << (unsigned)pe % OFI_BITS);
}

/* ---- ofi_select.c: which provider, on which interface ------------------------------
 *
 * A provider is chosen by capability, not by name: RMA and messages over reliable
 * connectionless endpoints (FI_EP_RDM) that reach other hosts.  Libfabric's order of
 * preference is kept, except that IPv6, link-local and loopback addresses and protocols
 * over datagrams rank lower. */

/* Choose a provider and interface; the caller frees it by ofi_lib.freeinfo. 0; or
 * -errno and a message that lists the available ones. */
int ofi_select(const struct transport_world *world, enum transport_order order,
               struct fi_info **chosen, char why[TRANSPORT_TEXT_MAX]);

/* True if operations between two endpoints, except atomics, take effect in the order of
 * posting and `order` permits relying on it. */
bool ofi_select_in_order(const struct fi_info *info, enum transport_order order);

/* True if the target's CPU performs the provider's atomics, so that they are atomic with
 * respect to CPU atomics. */
bool ofi_select_coherent(const struct fi_info *info);

/* True if a completion queue's descriptor becomes readable whenever there is work. */
bool ofi_select_fd_is_reliable(const struct fi_info *info);

/* The IP address of the interface as text; "" if it has none. */
void ofi_select_address(const struct fi_info *info, char *to, size_t space);

/* ---- ofi_address.c: registration, endpoint descriptors --------------------------- */

/* Register [base, base + len), for access by peers (bound to ep) or as local buffers.
 * 0 or -errno. */
int ofi_register(struct transport_net *net, void *base, size_t len, bool for_peers,
                 struct fid_ep *ep, struct fid_mr **mr);
/* Register the segments and fill net->address; context 0 exists. 0; or -errno and a
 * message. */
int ofi_address_make(struct transport_net *net, char why[TRANSPORT_TEXT_MAX]);
/* Fill a peer from its endpoint descriptor. 0; or -errno and a message. */
int ofi_address_use(struct transport_net *net, int pe, const void *address, size_t len,
                    struct ofi_peer *peer, char why[TRANSPORT_TEXT_MAX]);

/* ---- ofi_peer.c ------------------------------------------------------------------ */

/* Get a peer; insert it into the address vector at its first use. 0; -EAGAIN: its address
 * is awaited; -EHOSTDOWN: it is lost; or -EHOSTUNREACH: it cannot be reached, and
 * world->failed was called. */
int ofi_peer_connect(struct transport_net *net, int pe, struct ofi_peer **peer);
void ofi_peers_free(struct transport_net *net);
/* Fail the operations of ctx in flight to pe with error (an errno value), and all later
 * operations to it. `what` is the operation that failed first, e.g. "a put"; reason is
 * the provider's text or NULL. */
void ofi_peer_failed(struct transport_ctx *ctx, int pe, const char *what, int error,
                     const char *reason);
bool ofi_peer_has_failed(struct transport_net *net, int pe);
/* True after ofi_lost of the PE. */
bool ofi_peer_is_lost(struct transport_net *net, int pe);
/* Mark the PE as lost. */
void ofi_peer_lose(struct transport_net *net, int pe);
/* Store the address of the PE's endpoint, at most `space` bytes; returns its length; 0:
 * it is not known. */
size_t ofi_peer_name(struct transport_net *net, int pe, void *name, size_t space);
/* The address for the reply to a message.  0; -EAGAIN: that of the PE is awaited; or
 * -errno: there is none. */
int ofi_peer_reply_addr(struct transport_net *net, const struct ofi_message *message,
                        fi_addr_t *addr);

/* Look up a symmetric address. 0; or as ofi_peer_connect. */
static inline int ofi_target(const struct transport_ctx *ctx,
                             const struct transport_symaddr *symaddr,
                             struct ofi_target *target)
{
    struct transport_net *net = ctx->net;
    unsigned pe = (unsigned)symaddr->pe;
    PGAS_ASSERT(symaddr->pe >= 0 && symaddr->pe < net->world->npes);
    struct ofi_peer *chunk =
        __atomic_load_n(&net->chunks[pe / OFI_CHUNK_PEERS], __ATOMIC_ACQUIRE);
    struct ofi_peer *peer = chunk == NULL ? NULL : &chunk[pe % OFI_CHUNK_PEERS];

    if (unlikely(peer == NULL || load_acquire_u32(&peer->state) != OFI_PEER_KNOWN)) {
        int rc = ofi_peer_connect(net, symaddr->pe, &peer);
        if (rc != 0)
            return rc;
    }
    PGAS_ASSERT(symaddr->segment < SEGMENTS);
    target->peer = peer;
    target->addr = peer->addr;
    target->at = peer->segment[symaddr->segment].base + symaddr->offset;
    target->key = peer->segment[symaddr->segment].key;
    return 0;
}

/* ---- ofi_ctx.c ------------------------------------------------------------------- */

/* 0; or -errno and a message. */
int ofi_ctx_make(struct transport_net *net, struct transport_ctx **ctx,
                 char why[TRANSPORT_TEXT_MAX]);
void ofi_ctx_free(struct transport_ctx *ctx);
/* Allocate a record, counted in in_flight. NULL: OFI_OPS_MAX are in use, or no memory. */
struct ofi_op *ofi_op_alloc_slow(struct transport_ctx *ctx);
static inline struct ofi_op *ofi_op_alloc(struct transport_ctx *ctx, enum ofi_kind kind,
                                          int pe, struct transport_completion *done)
{
    struct ofi_op *op = ctx->free;

    if (unlikely(op == NULL)) {
        op = ofi_op_alloc_slow(ctx);
        if (op == NULL)
            return NULL;
    }
    PGAS_ASSERT(op->kind == OFI_FREE && op->bounce == NULL && !op->awaits_reply);
    ctx->free = op->next;
    op->kind = kind;
    op->pe = pe;
    op->done = done;
    op->parent = NULL;
    op->bounce = NULL;
    op->error = 0;
    op->events_pending = 1;
    op->fills_bounce = op->fills_record = false;
    ctx->in_flight++;
    return op;
}
/* Free the record and its bounce buffer. */
void ofi_op_free(struct transport_ctx *ctx, struct ofi_op *op);
/* The token of a record in messages: its index and generation, so that it exposes no
 * address and becomes invalid when the record is freed. */
static inline uint64_t ofi_op_token(const struct ofi_op *op)
{
    return (uint64_t)op->generation << 32 | op->index;
}
/* The record with a token's index; NULL: no such index. The caller compares the
 * generation. */
struct ofi_op *ofi_op_of_token(const struct transport_ctx *ctx, uint64_t token);
/* Call fn for each record of a context that is in use, until it returns false. */
void ofi_ops_each(struct transport_ctx *ctx,
                  bool (*fn)(struct transport_ctx *ctx, struct ofi_op *op, void *arg),
                  void *arg);
/* A bounce buffer of OFI_BOUNCE_SIZE bytes; NULL: all are in use, or no memory. */
unsigned char *ofi_bounce_new(struct transport_ctx *ctx);
/* The error of an operation that cannot do without the bounce buffer that ofi_bounce_new
 * has refused: -EAGAIN; or -ENOMEM, and world->failed was called. */
int ofi_bounce_missing(const struct transport_ctx *ctx);
/* Set op->fills_bounce.  False: OFI_BOUNCES_FILLED buffers are filled. */
bool ofi_bounce_fill(struct transport_ctx *ctx, struct ofi_op *op);
/* Free the bounce buffer of op, if it has one. */
void ofi_bounce_free(struct transport_ctx *ctx, struct ofi_op *op);
/* Allocate the receive buffers. 0 or -ENOMEM. */
int ofi_recv_buffers_make(struct transport_ctx *ctx);
void ofi_queue_push(struct ofi_queue *queue, struct ofi_op *op);
struct ofi_op *ofi_queue_pop(struct ofi_queue *queue);

/* ---- ofi_rma.c ------------------------------------------------------------------- */

/* The libfabric context of an unsignaled put, which has no record: 2 * PE + 1, to report
 * errors; NULL if it was injected. Records have even addresses. */
static inline void *ofi_unsignaled_context(int pe)
{
    return (void *)((uintptr_t)(unsigned)pe << 1 | 1);
}

static inline int ofi_unsignaled_pe(const void *context)
{
    return (int)((uintptr_t)context >> 1);
}

static inline bool ofi_is_unsignaled(const void *context)
{
    return context == NULL || ((uintptr_t)context & 1) != 0;
}

int ofi_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
            const void *from, size_t len, struct transport_completion *done);
int ofi_get(struct transport_ctx *ctx, void *to, const struct transport_symaddr *from,
            size_t len, struct transport_completion *done);
/* Complete the fragmented operations to lost peers that have fragments to post. */
void ofi_rma_drop_backlog(struct transport_ctx *ctx);
/* Post fragments of fragmented operations until one is refused. */
void ofi_rma_post_backlog(struct transport_ctx *ctx);
/* A fragment of `parent` is done. */
void ofi_rma_fragment_done(struct transport_ctx *ctx, struct ofi_op *parent, int error);
/* Post a get of one byte from pe: an OFI_FLUSH or OFI_PROBE.  0 or -errno. */
int ofi_rma_flush(struct transport_ctx *ctx, int pe, enum ofi_kind kind);
/* Mark pe dirty: a put to it may not be delivered. */
void ofi_rma_mark_dirty(struct transport_ctx *ctx, int pe);
/* True if an operation posted now takes effect at pe after all earlier puts. */
bool ofi_rma_is_after_puts(struct transport_ctx *ctx, int pe);

/* ---- ofi_amo.c, ofi_am.c --------------------------------------------------------- */

/* Query the atomics of the provider. */
void ofi_amo_query(struct transport_net *net);
int ofi_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
            const struct transport_amo *amo, struct transport_completion *done);

size_t ofi_signal_max(struct transport_net *net);
int ofi_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                   const void *from, size_t len, const struct transport_signal *signal,
                   struct transport_completion *done);

/* Post the receives of a context. 0 or -errno. */
int ofi_am_post_recvs(struct transport_ctx *ctx);
/* Send a request without effect to each PE in ctx->unconfirmed.  0 or -EAGAIN. */
int ofi_am_confirm(struct transport_ctx *ctx);
/* Send a request that consists of a header. */
int ofi_am_send_request(struct transport_ctx *ctx, enum ofi_message_type type,
                        const struct transport_symaddr *at,
                        const struct transport_amo *amo,
                        struct transport_completion *done);
void ofi_am_fill_request(const struct transport_ctx *ctx, struct ofi_op *op,
                         enum ofi_message_type type, const struct transport_symaddr *at,
                         const struct transport_amo *amo);
/* Send the `len` bytes of a request at `message`, in its bounce buffer or record. */
int ofi_am_send(struct transport_ctx *ctx, struct ofi_op *op,
                const struct ofi_target *target, const void *message, size_t len,
                const char *what);
/* Report a message that this library never sends; no part of it was performed. */
void ofi_am_report_malformed(const struct transport_net *net, size_t len,
                             const char *why);
/* Handle a message of len bytes that was received into op, and repost the receive. */
void ofi_am_recv(struct transport_ctx *ctx, struct ofi_op *op, size_t len);
/* Handle a failed receive; error is libfabric's (positive). */
void ofi_am_recv_failed(struct transport_ctx *ctx, struct ofi_op *op, int error);
/* Post receives that the provider has refused. */
void ofi_am_repost_recvs(struct transport_ctx *ctx);
/* True if a message can be sent without a record: the provider copies it. */
bool ofi_am_may_inject(const struct transport_ctx *ctx, size_t len);
/* `context` has the PE for reports of errors; NULL: they are not reported. */
ssize_t ofi_am_inject(struct transport_ctx *ctx, const void *message, size_t len,
                      fi_addr_t to, void *context);

/* ---- ofi_reply.c ----------------------------------------------------------------- */

/* Send or queue the reply to a request: error (0 or -errno), the old value of an amo, and
 * the len bytes of a get. */
void ofi_reply(struct transport_ctx *ctx, const struct ofi_message *request, int error,
               uint64_t before, const void *data, size_t len);
/* Send or queue `message`, with the message->len bytes of data, as the reply. */
void ofi_reply_send(struct transport_ctx *ctx, const struct ofi_message *request,
                    const struct ofi_message *message, const void *data);
/* Send queued replies. */
void ofi_reply_retry(struct transport_ctx *ctx);
void ofi_reply_free_all(struct transport_ctx *ctx);

/* ---- ofi_progress.c -------------------------------------------------------------- */

/* Convert the return code rc of posting op (NULL: no record) to pe. A refused op is
 * freed. 0; -EAGAIN; or -errno, and the peer has failed (not if what is NULL). */
int ofi_post_refused(struct transport_ctx *ctx, struct ofi_op *op, int pe, ssize_t rc,
                     const char *what);
static inline int ofi_post_result(struct transport_ctx *ctx, struct ofi_op *op, int pe,
                                  ssize_t rc, const char *what)
{
    if (unlikely(rc != 0))
        return ofi_post_refused(ctx, op, pe, rc, what);
    PGAS_ASSERT(op == NULL || op->pe == pe || op->kind == OFI_FREE);
    ofi_bit_set(ctx->reached, pe);
    if (unlikely(ctx->refused_pe == pe)) {
        ctx->refused_pe = -1;
        ctx->connect_slow = false;
    }
    return 0;
}
/* Complete an operation (error: 0 or -errno) and free its record. */
void ofi_op_complete(struct transport_ctx *ctx, struct ofi_op *op, int error);
/* Handle a completion or a reply of op (error: 0 or -errno). */
void ofi_op_event(struct transport_ctx *ctx, struct ofi_op *op, int error);
/* Complete op with an error and, unless libfabric refers to it, free its record.  Does
 * nothing for records of other kinds than operations. */
void ofi_op_abandon(struct transport_ctx *ctx, struct ofi_op *op, int error);
/* Free the record of an abandoned operation if nothing refers to it any more. */
void ofi_op_release(struct transport_ctx *ctx, struct ofi_op *op);
/* Complete, with an error, all operations in flight to a failed peer. */
void ofi_peer_abandon_ops(struct transport_ctx *ctx, int pe, int error);

/* ---- ofi_lost.c: peers that are known to be dead ----------------------------------- */

void ofi_lost(struct transport_net *net, int pe, bool node);
/* Complete the operations to lost peers; returns their number. */
int ofi_lost_purge(struct transport_ctx *ctx);
/* True if ofi_lost_purge has work. */
static inline bool ofi_lost_is_due(const struct transport_ctx *ctx)
{
    return load_relaxed_u32(&ctx->net->losses) != ctx->losses || ctx->drains > 0;
}

int ofi_fence(struct transport_ctx *ctx);
int ofi_quiet(struct transport_ctx *ctx);
int ofi_quiet_all(struct transport_ctx *ctx);
uint64_t ofi_pending(struct transport_ctx *ctx, int *pe);
int ofi_progress(struct transport_ctx *ctx);
int ofi_fd(struct transport_ctx *ctx);
int ofi_arm(struct transport_ctx *ctx);

#endif
