/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi.h - inside the libfabric transport: a net, its contexts, peers and operations.
 *
 * A net is one fi_domain with one address vector; a context is one endpoint with its own
 * completion queue, which talks to the endpoints of the other PEs' contexts 0.  There
 * the symmetric segments are registered.
 *
 * Order and completion, in one of two modes (net->ordered, ofi_select_in_order):
 *   strict   the completion of a put or amo says that it is done; quiet = all completions
 *            have come; fence = quiet.
 *   ordered  what goes to a PE takes effect in the order of posting, but for amos.  Puts
 *            complete when their source may be changed; most of the short ones (inject)
 *            and of those for which nobody waits do not complete at all; the PEs they
 *            went to are dirty until a get of one byte, posted by quiet, has come back.
 *            The first put after a quiet, if somebody waits for it, completes as in
 *            strict mode, which is faster for put and quiet.  fence waits for amos only.
 * An amo with after_puts is refused until the context's puts to that PE are done
 * (strict), or until nothing of them is still to be posted (ordered).
 *
 * Amos are the provider's where the target's processor performs them (they are atomic
 * towards those of the CPU then); else messages, performed by who progresses the target's
 * context 0, with a reply to the asking context (ofi_am.c).  So are puts with signal,
 * which fence and quiet take for amos; a note has no reply, and is not waited for.
 *
 * Registered local memory, if the provider wants that, are the segments and pools of our
 * own; what lies elsewhere is copied through those (long operations, in pieces).
 *
 * Memory.  Per net: 56 bytes per PE, in chunks of 256 PEs that are made when one of them
 * is talked to first.  Per context: 2 bits and 4 bytes of address space per PE; 16 KiB
 * per 64 operations under way.  Context 0: 16 KiB for messages.
 *
 * Threads.  As in transport.h: one at a time in a context, on which FI_THREAD_COMPLETION
 * rests.  What contexts share is the peers and the list of
 * contexts, under net->lock; a peer that is known is read without it.
 * Uses: transport.h, avoid.h, threads/atomic.  Used by: the ofi files.
 */
#ifndef PGAS_TRANSPORT_OFI_H
#define PGAS_TRANSPORT_OFI_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "pgas/threads/atomic.h"
#include "pgas/transport/avoid.h"
#include "pgas/transport/transport.h"

/* ---- ofi_lib.c: libfabric, loaded when it is needed --------------------------------
 *
 * libfabric is not linked: a job of one node would pay for its start (300 ms on Debian
 * 12: two libraries that it is linked with calibrate a clock for 100 ms each, then it
 * reads all of /proc/kallsyms; no setting prevents any of that) and would get the signal
 * handlers of those libraries.  Once loaded it stays, because not all of them can be
 * unloaded. */

/* The exported functions that are used: X(name without fi_).  The others are inline in
 * libfabric's headers, over tables of functions in its objects. */
#define OFI_FUNCTIONS(X)                                                                 \
    X(getinfo) X(freeinfo) X(dupinfo) X(fabric) X(strerror) X(version)

/* Valid once ofi_load has returned 0. */
extern struct ofi_lib {
#define X(name) __typeof__(fi_##name) *name;
    OFI_FUNCTIONS(X)
#undef X
} ofi_lib;

/* The oldest interface that we can do with. */
#define OFI_VERSION FI_VERSION(1, 14)

/* What the library and its providers find, and may change, while a net is opened. */
struct ofi_surroundings {
    unsigned set; /* bits: variables of the environment that we have set */
    struct sigaction action[NSIG];
};

/* Set what makes providers small and quick, if the user has not set it; remember signal
 * dispositions.  Then load, and open what is to be opened; then put all back. */
void ofi_surroundings_enter(struct ofi_surroundings *now);
void ofi_surroundings_leave(const struct ofi_surroundings *before);

/* Load it.  0; or -ELIBACC and a sentence in why.  One thread at a time. */
int ofi_load(char *why, size_t room);

/* The errno value of what libfabric calls an error (a positive number). */
int ofi_errno(int error);

/* ---- limits ---- */

enum {
    OFI_SMALL_PIECE = 1000, /* bytes of a put or get where "size" is avoided */
    OFI_SLAB_OPS = 64,      /* records that are made at once */
    OFI_SLABS_MAX = 16,     /* of a context */
    OFI_OPS_MAX = OFI_SLABS_MAX * OFI_SLAB_OPS, /* more operations: -EAGAIN */
    OFI_BOUNCE_SIZE = 8192,                     /* bytes of a piece that is copied */
    OFI_BOUNCES = 32,                           /* of a context */
    OFI_TOLD_EVERY = 64,        /* so many puts without a completion follow each other, */
    OFI_SILENT_MAX = 64 * 1024, /* of at most so many bytes */
    OFI_UNFLUSHED_MAX = 16384,  /* puts in ordered mode until a flush is forced: bounds
                                 * what the provider queues for a slow peer */
    OFI_CHUNK_PEERS = 256,
    OFI_NAME_MAX = 64,     /* bytes of an endpoint's address */
    OFI_RECEIVES = 64,     /* messages that a context is ready for */
    OFI_ERRNO_MAX = 4095,  /* of the error in an answer */
    OFI_MESSAGE_MAX = 256, /* bytes of one: what ofi_rxm sends at once (ofi_lib.c) */
};

/* What it takes to do one amo, or a put with signal, elsewhere, and the answer: the
 * beginning of a message, up to the end of the name.  The bytes of a put follow it. */
enum ofi_message_type {
    OFI_MESSAGE_ASK,
    OFI_MESSAGE_SIGNAL,
    OFI_MESSAGE_NOTE, /* the same without an answer */
    OFI_MESSAGE_ANSWER
};
struct ofi_message {
    uint64_t token;   /* of the asker's record (ofi_op_token), also in the answer */
    uint64_t offset;  /* of the word in its segment */
    uint64_t operand; /* in the answer: the value before */
    uint64_t cond;    /* of a put: where it goes, in data_segment */
    int32_t pe;       /* who asks; in the answer: 0 or -errno */
    uint16_t context; /* number of the context that asks */
    uint16_t len;     /* bytes of a put */
    uint8_t type, op, size, segment, data_segment, name_len;
    uint8_t name[OFI_NAME_MAX]; /* of that context's endpoint; none: it is context 0 */
};

/* ---- operations ------------------------------------------------------------------ */

enum ofi_kind {
    OFI_FREE,
    OFI_PUT,
    OFI_GET,
    OFI_FLUSH,   /* a get whose data nobody wants */
    OFI_PROBE,   /* the same, to hear of a failure; nothing waits for it, or counts it */
    OFI_AMO,     /* the provider's */
    OFI_ASK,     /* an amo by messages */
    OFI_LONG,    /* a put or get in pieces, which are records of their own */
    OFI_RECEIVE, /* waits for a message */
    OFI_ANSWER,  /* sends the answer to one */
    OFI_NOTE,    /* sends a put with a signal that nobody answers */
    OFI_LOST, /* its peer has failed: nobody waits, but the provider may still have it */
    OFI_KINDS
};

struct ofi_long {
    struct transport_place place; /* of what is still to be posted */
    const unsigned char *from;    /* put, or */
    unsigned char *to;            /* get */
    size_t len;
    unsigned pieces; /* under way */
    bool queued;     /* in ctx->stalled */
};

struct ofi_op {
    struct fi_context2 fi; /* the provider's, while it has the operation; first */
    struct ofi_op *next;   /* in a list */
    struct transport_done *done;
    struct ofi_op *whole;  /* what this is a piece of; NULL: it stands for itself */
    unsigned char *bounce; /* where its bytes are meanwhile, or NULL */
    void *to;              /* where they go, or the result of an amo; may be NULL; of a
                            * receive: where the message comes */
    void *desc;            /* of this record as registered memory */
    size_t len;            /* of a get, a receive; of an amo: size of the word */
    int pe, error;
    enum ofi_kind kind;
    unsigned waits;             /* completions and answers that are still to come */
    uint32_t index, generation; /* of this record; generation: how often it was freed */
    bool awaits_answer;         /* a message with its token is on its way */
    union {
        struct {
            uint64_t operand, cond, result;
        } word;
        struct ofi_long part;
        struct ofi_message message;
    } u;
};

/* ---- a context ------------------------------------------------------------------- */

struct ofi_queue {
    struct ofi_op *first, **last;
};

struct ofi_bounces {
    unsigned char *memory; /* NULL: not needed so far */
    struct fid_mr *mr;     /* NULL: need not be registered */
    void *desc;
    unsigned nfree;
    uint16_t free[OFI_BOUNCES];
};

struct transport_ctx {
    struct transport_net *net;
    struct fid_ep *ep;
    size_t inject_max; /* a put of at most so many bytes has no completion, */
    bool silent;       /* nor one whose source is in use until quiet anyway */
    uint64_t *dirty;   /* ordered mode: bit by PE, */
    int *dirty_list;   /* and as a list */
    int ndirty;
    uint32_t unflushed; /* puts since nobody was dirty */
    bool has_put;       /* a put has been posted since the last quiet */
    uint64_t under_way; /* operations with a record: what is posted and not done */
    uint64_t amos;      /* of those */
    struct ofi_op *free;
    struct fid_cq *cq;
    struct ofi_queue stalled; /* long operations with something to post */
    struct ofi_slab *slab[OFI_SLABS_MAX];
    unsigned nslabs;
    struct ofi_bounces bounces;
    struct ofi_bounces inbox;   /* context 0: where messages come */
    struct ofi_queue deaf;      /* receives that could not be posted so far */
    struct ofi_answer *answers; /* that could not be sent so far */
    uint32_t blind;    /* the descriptor may not say when answers, or a slow connection,
                        * can go on */
    uint64_t heard_ns; /* when an amo was done, or a peer probed; 0: see ofi_progress.c */
    int probed;        /* the PE that was probed last */
    bool listens;      /* receives are posted */
    bool connecting;   /* a post was refused, and nothing to that peer is under way */
    bool slow;         /* and that has lasted for long */
    int refused; /* the peer that the last refused post was for, -1: accepted since */
    uint64_t refused_ns; /* its first refusal, */
    uint64_t again_ns;   /* and the last */
    uint64_t *reached;   /* bit by PE: it has accepted something of this context */
    int fd;
    uint16_t number;
    uint8_t name_len;
    unsigned char name[OFI_NAME_MAX];
    struct transport_ctx *next; /* in net->contexts */
};

/* ---- a peer ---------------------------------------------------------------------- */

enum { OFI_PEER_UNKNOWN, OFI_PEER_KNOWN, OFI_PEER_FAILED };

struct ofi_peer {
    uint32_t state; /* KNOWN (release) once all the rest is here */
    uint32_t flush; /* the segment that a flush reads */
    fi_addr_t addr;
    struct {
        uint64_t base, key;
    } segment[SEGMENTS];
    struct ofi_asker *askers; /* its contexts but 0; for who progresses our context 0 */
};

/* Where bytes of a peer are. */
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
    bool registers;           /* local memory must be registered */
    size_t piece_max;         /* bytes of one put or get */
    uint64_t next_key;        /* under lock */
    uint32_t native[4];       /* bit by enum transport_amo_op: see ofi_amo.c */
    struct ofi_peer **chunks; /* of OFI_CHUNK_PEERS peers; under lock until released */
    pthread_mutex_t lock;
    struct transport_ctx *ctx_0, *contexts;
    size_t address_len;
    unsigned char address[TRANSPORT_ADDRESS_MAX];
    bool avoid[AVOIDS];
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
 * A provider is chosen by what it can do, not by name: RMA and messages over reliable
 * connectionless endpoints (FI_EP_RDM) that reach other hosts.  What libfabric lists
 * first is preferred; interfaces that only this host can reach, addresses that need more
 * than themselves to be used (IPv6 link-local), and protocols over datagrams come later.
 */

/* SHMEM_OFI_ORDER: may puts rely on the order that a provider keeps but does not promise?
 * AUTO: where that has been tested; YES: wherever it is possible; NO: nowhere. */
enum ofi_order { OFI_ORDER_AUTO, OFI_ORDER_YES, OFI_ORDER_NO };

/* Read its text; NULL or "" is AUTO.  0; or -EINVAL and a sentence. */
int ofi_select_read_order(const char *text, enum ofi_order *order,
                          char why[TRANSPORT_TEXT_MAX]);

/* What was chosen, to be freed by ofi_lib.freeinfo.  0; or -errno and a sentence that
 * says what there is. */
int ofi_select(const struct transport_world *world, enum ofi_order order,
               struct fi_info **chosen, char why[TRANSPORT_TEXT_MAX]);

/* Does everything that an endpoint sends to another take effect in the order in which it
 * was posted, but for atomics, and may we rely on that? */
bool ofi_select_in_order(const struct fi_info *info, enum ofi_order order);

/* Are atomics of the provider performed by the target's processor, with what makes them
 * atomic towards other processors' accesses? */
bool ofi_select_coherent(const struct fi_info *info);

/* Does a completion queue's descriptor become readable whenever there is work? */
bool ofi_select_wakes(const struct fi_info *info);

/* The address that peers would call, for people; "" if it is not one of IP. */
void ofi_select_address(const struct fi_info *info, char *to, size_t room);

/* ---- ofi_address.c: registration, what peers must know --------------------------- */

/* Register [base, base + len) for the peers (bound to ep) or as our side of operations.
 * 0 or -errno. */
int ofi_register(struct transport_net *net, void *base, size_t len, bool for_peers,
                 struct fid_ep *ep, struct fid_mr **mr);
/* Register the segments and make net->address; context 0 is there.  0; or -errno and a
 * sentence. */
int ofi_address_make(struct transport_net *net, char why[TRANSPORT_TEXT_MAX]);
/* Fill in a peer from its address.  0, or -errno and a sentence. */
int ofi_address_use(struct transport_net *net, int pe, const void *address, size_t len,
                    struct ofi_peer *peer, char why[TRANSPORT_TEXT_MAX]);

/* ---- ofi_peer.c ------------------------------------------------------------------ */

/* The peer, which is talked to at first now perhaps; NULL: it cannot be reached, and
 * world->failed knows. */
struct ofi_peer *ofi_peer_first(struct transport_net *net, int pe);
void ofi_peers_free(struct transport_net *net);
/* Operations to pe fail with error (errno value) from now on; `what` failed first, e.g.
 * "a put", for the provider's reason (may be NULL). */
void ofi_peer_failed(struct transport_ctx *ctx, int pe, const char *what, int error,
                     const char *reason);
bool ofi_peer_is_lost(struct transport_net *net, int pe);
/* Where the answer to a message goes; FI_ADDR_UNSPEC: cannot be known. */
fi_addr_t ofi_peer_asker(struct transport_net *net, const struct ofi_message *message);

/* 0, or -errno: it cannot be reached. */
static inline int ofi_target(const struct transport_ctx *ctx,
                             const struct transport_place *place,
                             struct ofi_target *target)
{
    struct transport_net *net = ctx->net;
    unsigned pe = (unsigned)place->pe;
    struct ofi_peer *chunk =
        __atomic_load_n(&net->chunks[pe / OFI_CHUNK_PEERS], __ATOMIC_ACQUIRE);
    struct ofi_peer *peer = chunk == NULL ? NULL : &chunk[pe % OFI_CHUNK_PEERS];

    if (unlikely(peer == NULL || load_acquire_u32(&peer->state) != OFI_PEER_KNOWN)) {
        peer = ofi_peer_first(net, place->pe);
        if (peer == NULL)
            return -EHOSTUNREACH;
    }
    target->peer = peer;
    target->addr = peer->addr;
    target->at = peer->segment[place->segment].base + place->offset;
    target->key = peer->segment[place->segment].key;
    return 0;
}

/* ---- ofi_ctx.c ------------------------------------------------------------------- */

/* 0; or -errno and a sentence. */
int ofi_ctx_make(struct transport_net *net, struct transport_ctx **ctx,
                 char why[TRANSPORT_TEXT_MAX]);
void ofi_ctx_free(struct transport_ctx *ctx);
/* A record for an operation, counted as under way unless it is a piece of `whole`.
 * NULL: there are too many already. */
struct ofi_op *ofi_op_more(struct transport_ctx *ctx);
static inline struct ofi_op *ofi_op_new(struct transport_ctx *ctx, enum ofi_kind kind,
                                        int pe, struct transport_done *done)
{
    struct ofi_op *op = ctx->free;

    if (unlikely(op == NULL)) {
        op = ofi_op_more(ctx);
        if (op == NULL)
            return NULL;
    }
    ctx->free = op->next;
    op->kind = kind;
    op->pe = pe;
    op->done = done;
    op->whole = NULL;
    op->bounce = NULL;
    op->error = 0;
    op->waits = 1;
    ctx->under_way++;
    return op;
}
/* Give it back, and its bounce. */
void ofi_op_free(struct transport_ctx *ctx, struct ofi_op *op);
/* What stands for a record in a message.  It says nothing about our memory, and once the
 * record has been freed it names no operation any more. */
static inline uint64_t ofi_op_token(const struct ofi_op *op)
{
    return (uint64_t)op->generation << 32 | op->index;
}
/* The record whose index a token has; NULL: the context has no such record.  The
 * generation is the caller's to compare. */
struct ofi_op *ofi_op_of_token(const struct transport_ctx *ctx, uint64_t token);
/* Call fn for each record of a context that is not free, until it returns false. */
void ofi_ops_each(struct transport_ctx *ctx,
                  bool (*fn)(struct transport_ctx *ctx, struct ofi_op *op, void *arg),
                  void *arg);
/* OFI_BOUNCE_SIZE bytes, and their descriptor; NULL: there are none just now. */
unsigned char *ofi_bounce_new(struct transport_ctx *ctx);
/* Nobody reads or writes the bytes there any more. */
void ofi_bounce_free(struct transport_ctx *ctx, struct ofi_op *op);
/* Memory for OFI_RECEIVES messages that come to context 0.  0 or -ENOMEM. */
int ofi_inbox_make(struct transport_ctx *ctx);
void ofi_queue_add(struct ofi_queue *queue, struct ofi_op *op);
struct ofi_op *ofi_queue_take(struct ofi_queue *queue);

/* ---- ofi_rma.c ------------------------------------------------------------------- */

/* What stands in place of the record of a put that has none, should it fail; NULL where
 * it was injected.  Records have even addresses. */
static inline void *ofi_silent_context(int pe)
{
    return (void *)((uintptr_t)(unsigned)pe << 1 | 1);
}

static inline int ofi_silent_pe(const void *context)
{
    return (int)((uintptr_t)context >> 1);
}

static inline bool ofi_is_silent(const void *context)
{
    return context == NULL || ((uintptr_t)context & 1) != 0;
}

int ofi_put(struct transport_ctx *ctx, const struct transport_place *to, const void *from,
            size_t len, struct transport_done *done);
int ofi_get(struct transport_ctx *ctx, void *to, const struct transport_place *from,
            size_t len, struct transport_done *done);
/* Post what is left of long operations, as far as it goes. */
void ofi_rma_advance(struct transport_ctx *ctx);
/* A piece of a long operation is done. */
void ofi_rma_piece(struct transport_ctx *ctx, struct ofi_op *whole, int error);
/* Post a get of one byte from pe: an OFI_FLUSH or OFI_PROBE.  0 or -errno. */
int ofi_rma_flush(struct transport_ctx *ctx, int pe, enum ofi_kind kind);
/* pe has been written to, and nothing has come back that says that it is there. */
void ofi_rma_soil(struct transport_ctx *ctx, int pe);
/* Will what is posted now come to pe after all puts that were posted before? */
bool ofi_rma_behind_puts(struct transport_ctx *ctx, int pe);

/* ---- ofi_amo.c, ofi_am.c --------------------------------------------------------- */

/* Ask the provider what it can do. */
void ofi_amo_probe(struct transport_net *net);
int ofi_amo(struct transport_ctx *ctx, const struct transport_place *at,
            const struct transport_amo *amo, struct transport_done *done);

size_t ofi_signal_max(struct transport_net *net);
int ofi_put_signal(struct transport_ctx *ctx, const struct transport_place *to,
                   const void *from, size_t len, const struct transport_signal *signal,
                   struct transport_done *done);

/* Get ready for messages.  0 or -errno. */
int ofi_am_listen(struct transport_ctx *ctx);
int ofi_am_ask(struct transport_ctx *ctx, const struct transport_place *at,
               const struct transport_amo *amo, struct transport_done *done);
/* A message of len bytes was received by the receive op, which is posted again. */
void ofi_am_recv(struct transport_ctx *ctx, struct ofi_op *op, size_t len);
/* A receive has failed with a libfabric error number (positive). */
void ofi_am_recv_failed(struct transport_ctx *ctx, struct ofi_op *op, int error);
/* Send answers that could not be sent before. */
void ofi_am_advance(struct transport_ctx *ctx);
void ofi_am_free(struct transport_ctx *ctx);

/* ---- ofi_progress.c -------------------------------------------------------------- */

/* A call of libfabric that was to post op (NULL: none) to pe has returned rc.  If it was
 * refused, op is given back; unless rc is -EAGAIN the peer has failed.  0 or -errno. */
int ofi_refused(struct transport_ctx *ctx, struct ofi_op *op, int pe, ssize_t rc,
                const char *what);
static inline int ofi_posted(struct transport_ctx *ctx, struct ofi_op *op, int pe,
                             ssize_t rc, const char *what)
{
    if (unlikely(rc != 0))
        return ofi_refused(ctx, op, pe, rc, what);
    ofi_bit_set(ctx->reached, pe);
    if (unlikely(ctx->refused == pe)) {
        ctx->refused = -1;
        ctx->slow = false;
    }
    return 0;
}
/* An operation is done (error: 0 or -errno). */
void ofi_finish(struct transport_ctx *ctx, struct ofi_op *op, int error);
/* One of the things that an operation waits for has come: its completion, or an answer
 * (error: 0 or -errno). */
void ofi_heard(struct transport_ctx *ctx, struct ofi_op *op, int error);
/* Nobody shall wait for what is under way to a failed peer. */
void ofi_abandon(struct transport_ctx *ctx, int pe, int error);

int ofi_fence(struct transport_ctx *ctx);
int ofi_quiet(struct transport_ctx *ctx);
uint64_t ofi_pending(struct transport_ctx *ctx, int *pe);
int ofi_progress(struct transport_ctx *ctx);
int ofi_fd(struct transport_ctx *ctx);
int ofi_arm(struct transport_ctx *ctx);

#endif
