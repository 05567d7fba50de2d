/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transport.h - the interface of a transport, which moves data between PEs that cannot
 * access each other's memory by loads and stores.
 *
 * A transport is a const table of functions; all are set, unless open() always fails.  It
 * identifies a PE by number and symmetric memory by (segment, offset).  Its functions
 * post operations and never block.  A caller that must wait calls progress() between
 * polls, or sleeps on fd() after arm(); only net.c does so (the tests have their own
 * loop).
 *
 * Terms.  A net is an open transport of one PE; other PEs can access its segments while a
 * thread of this PE makes progress on context 0.  A context orders and completes its own
 * operations.  An operation is done when its effect is visible to every load of the
 * target PE (put, amo), or its result is in local memory (get, fetching amo).
 *
 * Threads.  One thread at a time may use a context.  Threads may use different contexts
 * of a net at the same time, so state that contexts share has a lock of its own.  open
 * and close exclude all other calls.
 *
 * Errors.  A function that can fail returns a negative errno value; if the peer is the
 * cause, it has called world->failed with a message before.  An operation that fails
 * after it was posted is reported once by world->failed from inside progress (or any
 * other function), and counts as done with done->error set, so that no wait hangs.  A
 * peer that does not respond (a cut link) is detected by the caller; pending() returns
 * its number.  A caller that learns by other means that a PE is dead reports it by
 * lost().
 *
 * Invariants.  -EAGAIN from a post means that nothing was posted and the completion was
 * not touched.  A completion belongs to the transport from an accepted post until pending
 * is 0. pending() == 0 if and only if quiet() would return 0 without posting anything.
 *
 * Uses: errno values only.  Used by: net, the transports, tests/transport.
 */
#ifndef PGAS_TRANSPORT_TRANSPORT_H
#define PGAS_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The symmetric memory of a PE. */
enum transport_segment { SEGMENT_HEAP, SEGMENT_DATA, SEGMENTS };

/* A symmetric address: `offset` bytes into a segment of PE pe. */
struct transport_symaddr {
    int pe;
    enum transport_segment segment;
    uint64_t offset;
};

/* Atomic operations on a naturally aligned word of 4 or 8 bytes. X(name, fetches,
 * text) - fetches: the operation always returns the old value. */
#define TRANSPORT_AMO_TABLE(X)                                                           \
    X(SET, 0, "set")                                                                     \
    X(FETCH, 1, "fetch")                                                                 \
    X(SWAP, 1, "swap")                                                                   \
    X(COMPARE_SWAP, 1, "compare_swap")                                                   \
    X(ADD, 0, "add")                                                                     \
    X(AND, 0, "and")                                                                     \
    X(OR, 0, "or")                                                                       \
    X(XOR, 0, "xor")
#define X(name, fetches, text) TRANSPORT_AMO_##name,
enum transport_amo_op { TRANSPORT_AMO_TABLE(X) TRANSPORT_AMO_OPS };
#undef X

struct transport_amo {
    enum transport_amo_op op;
    uint32_t size;          /* 4 or 8; operands are the low bytes */
    uint64_t operand, cond; /* cond: for COMPARE_SWAP */
    void *result;    /* destination of the old value, size bytes; NULL: do not return it
                        (always for SET) */
    bool after_puts; /* becomes visible after all earlier puts of this context to this PE;
                        otherwise only fence orders it */
};

/* The signal of a put: SET or ADD of a word at the target. */
struct transport_signal {
    struct transport_symaddr at; /* naturally aligned */
    enum transport_amo_op op;
    uint32_t size; /* 4 or 8 */
    uint64_t operand;
    bool unacked;    /* unacknowledged: fence does not wait for it or its put, and quiet
                        only until both were sent; the target waits for the signal.
                        quiet_all waits for both */
    bool after_puts; /* as of an amo */
};

/* `count` blocks of `block` bytes of the symmetric memory of a PE, `stride` bytes apart.
 * Also the form in which a message describes them (perform_blocks.h). */
struct transport_vector {
    uint64_t offset; /* of the first block in its segment */
    int64_t stride;
    uint64_t count;
    uint32_t block;
    uint32_t segment;
};

/* Non-contiguous memory of a PE: nvectors > 0 vectors of `bytes` > 0 bytes in all.  The
 * packed stream is the concatenation of their blocks.  copy moves it between `packed`
 * and the caller's memory: it stores the stream of a put when the put is posted, maybe
 * several times, and reads that of a get once, before the get completes, unless it
 * fails.  Any thread that makes progress may call it; it may not use the transport. */
struct transport_blocks {
    int pe;
    unsigned nvectors;
    size_t bytes;
    const struct transport_vector *vector;
    void (*copy)(const struct transport_blocks *blocks, void *packed);
    void *arg; /* for copy */
};

enum {
    /* what blocks_max returns at least, unless it returns 0 */
    TRANSPORT_BLOCKS_MIN = sizeof(struct transport_vector) + 16,
};

/* The completion of one operation: pending becomes 0 (store-release) when it is done;
 * if it failed, error, a negative errno value, is stored before. The caller allocates it,
 * sets pending to 1 and error to 0 before the post, and keeps it until pending is 0. A
 * refused post does not change it. */
struct transport_completion {
    uint32_t pending;
    int error;
};

/* Whether puts may rely on an order that a provider of libfabric keeps but does not
 * guarantee.  AUTO: in tested versions; YES: wherever it is possible. */
enum transport_order { TRANSPORT_ORDER_AUTO, TRANSPORT_ORDER_YES, TRANSPORT_ORDER_NO };

/* The job, as passed to open; all of it must remain valid until close. */
struct transport_world {
    int me, npes;
    struct {
        void *base;
        size_t len; /* 0 = this PE has no such segment */
        int fd;     /* memfd of the segment, at file offset 0; -1 = none */
    } segment[SEGMENTS];

    /* Store the endpoint descriptor of PE pe, as returned by its address(), in at most
     * space bytes; returns its length; -EAGAIN: the address is awaited, and the caller is
     * woken when it is known: the post returns -EAGAIN, too, and has no effect; or -1:
     * there is none.  Does not block.  Any thread may call it, also with locks of the
     * transport, until it returns anything but -EAGAIN and a few times more. */
    ssize_t (*address_of)(const struct transport_world *world, int pe, void *to,
                          size_t space);
    /* Report a permanent failure of PE pe (-1 = not of a single PE). May end the process;
     * if it returns, operations to that PE fail. */
    void (*failed)(const struct transport_world *world, int pe, const char *message);
    void *arg; /* for these two functions */

    /* User settings; NULL or "" = default. */
    const char *provider, *fabric, *domain; /* ofi: restrict the choice */
    const char *interface;      /* tcp: interfaces or networks, separated by commas */
    size_t coalesce;            /* tcp: queued bytes at which the queue is sent */
    enum transport_order order; /* ofi */
    const char *avoid;          /* disabled capabilities, separated by commas (avoid.h) */
    const char *faults;         /* hook: the faults to inject (hook.h) */
    uint64_t timeout_ns;        /* of operations without progress; 0 = they never fail */
    bool survives;              /* the job goes on when PEs die (SHMEM_FT=continue) */
};

struct transport_net;
struct transport_ctx;

enum {
    TRANSPORT_ADDRESS_MAX = 4096, /* longest endpoint descriptor, in bytes */
    TRANSPORT_TEXT_MAX = 256,     /* longest message, with the terminating zero */
};

struct transport {
    const char *name;  /* as in SHMEM_TRANSPORT */
    const char *text;  /* one line for oshmem_info */
    bool quick_signal; /* a signal without data has a lower latency than a put */
    /* Posts between two calls of progress in a loop that posts; 0: the default. */
    uint32_t posts_per_progress;

    /* ---- open and close ------------------------------------------------------------ */

    /* Load the library, choose a device, open context 0, register the segments. 0; or
     * -errno and a message in why, with everything released. May take long (libfabric:
     * 0.3 s); restores every signal disposition that a library changes. */
    int (*open)(const struct transport_world *world, struct transport_net **net,
                char why[TRANSPORT_TEXT_MAX]);
    /* Close the net and all its contexts, after all PEs have completed all operations. */
    void (*close)(struct transport_net *net);
    /* Store this PE's endpoint descriptor, at most TRANSPORT_ADDRESS_MAX bytes;
     * returns its length. Every call stores the same bytes. */
    size_t (*address)(struct transport_net *net, void *to);
    /* The chosen device as text: "tcp;ofi_rxm on eth0 (10.0.0.1), ...". */
    const char *(*describe)(struct transport_net *net);
    /* Describe the traffic of this PE so far as text.  No thread uses the net.  NULL if
     * nothing is counted. */
    void (*statistics)(struct transport_net *net, char text[TRANSPORT_TEXT_MAX]);

    /* ---- contexts ------------------------------------------------------------------ */

    /* Context 0, opened by open; serves incoming operations of other PEs. */
    struct transport_ctx *(*ctx_0)(struct transport_net *net);
    /* Open another context, for operations of this PE only. 0; or -errno if resources
     * are exhausted; the caller then shares another context. */
    int (*ctx_open)(struct transport_net *net, struct transport_ctx **ctx);
    /* Close a context after its last quiet. */
    void (*ctx_close)(struct transport_ctx *ctx);

    /* ---- operations: 0 = posted; -EAGAIN: call progress and try again -------------- */

    /* Copy len > 0 bytes to a PE. With done: it completes when `from` may be changed,
     * possibly before this returns; it does not imply that the data are visible. Without
     * done, `from` belongs to the transport until quiet. */
    int (*put)(struct transport_ctx *ctx, const struct transport_symaddr *to,
               const void *from, size_t len, struct transport_completion *done);
    /* Copy len > 0 bytes from a PE. done, or NULL, completes when they have arrived. */
    int (*get)(struct transport_ctx *ctx, void *to, const struct transport_symaddr *from,
               size_t len, struct transport_completion *done);
    /* Atomic with respect to every other amo and to atomic instructions of the target
     * PE's processors. done (may be NULL) completes when the result has arrived; without
     * a result, when the amo was performed. */
    int (*amo)(struct transport_ctx *ctx, const struct transport_symaddr *at,
               const struct transport_amo *amo, struct transport_completion *done);

    /* Longest data of put_signal, in bytes. */
    size_t (*signal_max)(struct transport_net *net);
    /* Copy len >= 0 bytes, at most signal_max, and then update the signal's word as an
     * amo does, in one message if possible. A load (acquire) that returns the update
     * implies that these bytes are visible, but not operations posted before, which fence
     * orders: it may become visible before earlier puts and after later ones. from and
     * done: as for put. If the post is refused, nothing was done; otherwise both parts
     * are done or fail, and count for quiet as a put and an amo. */
    int (*put_signal)(struct transport_ctx *ctx, const struct transport_symaddr *to,
                      const void *from, size_t len, const struct transport_signal *signal,
                      struct transport_completion *done);

    /* The most bytes, including those of the vectors, that put_blocks and get_blocks
     * accept for a PE at present, given that `bytes` are to be moved.  0: call progress
     * and try again. */
    size_t (*blocks_max)(struct transport_ctx *ctx, int pe, size_t bytes);
    /* Copy to blocks of a PE, or from them.  The processor of the target performs the
     * copy when it makes progress; blocks of a put must not overlap.  For fence and quiet
     * both count as amos.  done, of a get, completes after copy; until then `blocks` and
     * its vectors belong to the transport. */
    int (*put_blocks)(struct transport_ctx *ctx, const struct transport_blocks *blocks);
    int (*get_blocks)(struct transport_ctx *ctx, const struct transport_blocks *blocks,
                      struct transport_completion *done);

    /* ---- order and completion: -EAGAIN: call progress and try again ---------------- */

    /* 0: all puts and amos posted before on ctx, to each PE, become visible before those
     * posted from now on. */
    int (*fence)(struct transport_ctx *ctx);
    /* 0: all operations of ctx are done. May post operations (flushes). */
    int (*quiet)(struct transport_ctx *ctx);
    /* With world->survives only.  0: as quiet, and unacknowledged puts with signal are
     * done or dropped, too: nothing that was posted before on ctx has an effect from now
     * on.  May post operations. */
    int (*quiet_all)(struct transport_ctx *ctx);
    /* Number of operations that are posted and not known to be done; if any, *pe (may be
     * NULL) is a PE with an outstanding completion, or -1. Makes no system call. */
    uint64_t (*pending)(struct transport_ctx *ctx, int *pe);

    /* ---- failure ------------------------------------------------------------------- */

    /* PE pe is dead, for good, even if its process still exists.  node: so are all PEs of
     * its node and of its host, and connections from its host can be cut.  Any thread may
     * call this at any time between open and close, also with the lock of a context, and
     * several times; it uses no context and calls no function of world, but only marks
     * the PE. The next progress of each context, opened before or after, completes its
     * operations on the PE with done->error = -EHOSTDOWN (or an earlier error) and
     * without a call of world->failed; a get completes when nothing can write to its
     * destination any more, or after TIMING_LOST_DRAIN.  Thereafter posts to the PE on
     * that context return -EHOSTDOWN; a post before that may still be accepted, and
     * completes likewise. Connections in progress are abandoned.  The contents of the
     * destination of a get that has failed are undefined. */
    void (*lost)(struct transport_net *net, int pe, bool node);

    /* ---- progress ------------------------------------------------------------------ */

    /* Advance operations without blocking. Returns the number of events that this
     * transport has processed; 0 does not imply that no PE has written to this PE's
     * memory. */
    int (*progress)(struct transport_ctx *ctx);
    /* As progress, but called in a loop of posts: operations may stay queued although
     * nothing is outstanding, until send, arm, progress, or later posts and calls of this
     * function.  NULL: call progress. */
    int (*progress_posting)(struct transport_ctx *ctx);
    /* Send operations that were accepted and are queued, such as those that wait for a
     * reply to earlier ones.  NULL: the transport queues none; with another one, progress
     * may be needed before an accepted operation is sent. */
    void (*send)(struct transport_ctx *ctx);
    /* A descriptor that polls readable when progress(ctx) has work. -1: none at present;
     * the caller must call progress periodically, and fd again after each progress. Any
     * thread may call it. */
    int (*fd)(struct transport_ctx *ctx);
    /* Call before sleeping on fd. 0: fd becomes readable for every event from now on;
     * -EAGAIN: work is pending, call progress. */
    int (*arm)(struct transport_ctx *ctx);
};

extern const struct transport transport_shm, transport_ofi, transport_ucx, transport_tcp,
    transport_hook;

/* The transports between nodes, in order of preference where there is a fabric
 * (prefer.h). */
enum { TRANSPORTS = 3 };
extern const struct transport *const transport_list[TRANSPORTS];

#endif
