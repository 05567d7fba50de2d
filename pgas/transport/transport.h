/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transport.h - the contract of a transport: what moves bytes between PEs that the core
 * cannot serve by a load or a store.
 *
 * A transport is one const table, and has all of its slots.  It knows PEs by number and
 * their symmetric memory by (segment, offset).  It posts operations and never waits: who
 * must wait calls progress() between looks, or sleeps on fd() after arm(), and that is
 * net.c alone (the tests have their own such loop).
 *
 * Words.  A net is an open transport of one PE: its segments can be reached by others
 * while somebody of this PE makes progress on context 0.  A context orders and completes
 * its own operations.  An operation is done when its effect can be seen by every load of
 * the target PE (put, amo), or its result is in local memory (get, fetching amo).
 *
 * Threads.  One thread at a time calls with one context.  Different contexts of a net may
 * be used by different threads at the same time; so what contexts share inside a
 * transport has its own lock.  open and close: one thread, no other call at that time.
 *
 * Errors.  A slot that can fail returns a negative errno value, and a sentence without a
 * prefix goes to world->failed first where the peer is the reason.  An operation that
 * fails after it was posted is reported once by world->failed from inside progress (or
 * any other call), and counts as done with done->error set: nothing waits for it for ever
 * because of that.  A peer that says nothing at all (a cut link) is the caller's to
 * notice: pending() names it.
 *
 * A leaf but for errno's values.  Used by: net, the transports, tests/transport.
 */
#ifndef PGAS_TRANSPORT_TRANSPORT_H
#define PGAS_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The symmetric memory of a PE. */
enum transport_segment { SEGMENT_HEAP, SEGMENT_DATA, SEGMENTS };

/* Bytes from `offset` on in a segment of PE pe. */
struct transport_place {
    int pe;
    enum transport_segment segment;
    uint64_t offset;
};

/* Atomic operations on a naturally aligned word of 4 or 8 bytes.  X(name, fetches,
 * text) - fetches: it makes no sense without the old value. */
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
    void *result;           /* where the old value goes, size bytes; NULL = not wanted,
                             * as always for SET */
    bool after_puts; /* seen at its target after all puts that were posted before on this
                      * context to this PE; else only fence orders it */
};

/* How a put says that it is there: SET or ADD of a word of its PE. */
struct transport_signal {
    struct transport_place at; /* naturally aligned */
    enum transport_amo_op op;
    uint32_t size; /* 4 or 8 */
    uint64_t operand;
    bool note; /* somebody waits for it at its target: fence need not wait for it, nor for
                * its put, and quiet only until both have left */
    bool after_puts; /* as of an amo */
};

/* Who waits for one operation: left becomes 0 (release) when it is done, with error, a
 * negative errno value, set before if it failed.  Belongs to the caller, who sets left to
 * 1 and error to 0 before he posts, and keeps it until left is 0.  If the post itself is
 * refused it is not touched. */
struct transport_done {
    uint32_t left;
    int error;
};

/* What a transport knows of the job, given at open; all of it lives as long as the net.
 */
struct transport_world {
    int me, npes;
    struct {
        void *base;
        size_t len; /* 0 = this PE has no such segment */
        int fd;     /* its memfd, from its first byte on; -1 = none */
    } segment[SEGMENTS];

    /* What address() of PE pe's net gave, at most room bytes: its length, or -1.  Called
     * at the first operation to a PE, by any thread, once per PE or a few times. */
    ssize_t (*address_of)(const struct transport_world *world, int pe, void *to,
                          size_t room);
    /* Something failed for good with PE pe (-1 = no single one).  May end the process;
     * if it returns, operations to that PE fail. */
    void (*failed)(const struct transport_world *world, int pe, const char *sentence);
    void *arg; /* of the two */

    /* What the user asked for; NULL or "" = nothing. */
    const char *provider, *fabric, *domain; /* ofi: restrict the choice to these */
    const char
        *order; /* ofi: may it rely on the provider's order?  "auto", "yes", "no" */
    const char *avoid;   /* comma list of capabilities not to use: avoid.h */
    const char *chaos;   /* hook: what it does (hook.c) */
    uint64_t timeout_ns; /* of silence that ends an operation; 0 = never */
};

struct transport_net;
struct transport_ctx;

enum {
    TRANSPORT_ADDRESS_MAX = 4096, /* longest address, in bytes */
    TRANSPORT_TEXT_MAX = 256,     /* longest sentence, with its zero */
};

struct transport {
    const char *name; /* as in SHMEM_TRANSPORT */
    const char *text; /* a line for oshmem_info */
    bool quick_add;   /* an add without result is at its target sooner than a put */

    /* ---- life ---------------------------------------------------------------------- */

    /* Load the library, find a device, make context 0, let peers reach our segments.
     * 0; or -errno and the reason as a sentence in why: then nothing is left behind.
     * Takes as long as the library does (libfabric: 0.3 s); restores every signal
     * disposition that a library changes. */
    int (*open)(const struct transport_world *world, struct transport_net **net,
                char why[TRANSPORT_TEXT_MAX]);
    /* After all PEs have stopped using each other.  Closes what is open, contexts too. */
    void (*close)(struct transport_net *net);
    /* What others need to reach this PE: writes at most TRANSPORT_ADDRESS_MAX bytes,
     * returns how many.  The same bytes at every call. */
    size_t (*address)(struct transport_net *net, void *to);
    /* What was chosen, for people: "tcp;ofi_rxm on eth0 (10.0.0.1), ...". */
    const char *(*describe)(struct transport_net *net);

    /* ---- contexts ------------------------------------------------------------------ */

    /* Context 0: made by open, serves what others do to this PE. */
    struct transport_ctx *(*ctx_0)(struct transport_net *net);
    /* Another one, for operations of this PE only.  0; or -errno: out of resources, the
     * caller shares another context instead. */
    int (*ctx_open)(struct transport_net *net, struct transport_ctx **ctx);
    /* After its last quiet. */
    void (*ctx_close)(struct transport_ctx *ctx);

    /* ---- operations: post, and return 0; or -EAGAIN: call progress and try again ------
     */

    /* Copy len > 0 bytes.  With done: it becomes 0 as soon as `from` may be changed,
     * which may be before this returns, and says nothing of the target; without, `from`
     * belongs to the transport until quiet. */
    int (*put)(struct transport_ctx *ctx, const struct transport_place *to,
               const void *from, size_t len, struct transport_done *done);
    /* Copy len > 0 bytes.  done, if given, becomes 0 when they are here. */
    int (*get)(struct transport_ctx *ctx, void *to, const struct transport_place *from,
               size_t len, struct transport_done *done);
    /* Atomic towards every other amo and towards atomic instructions of the target PE's
     * processors.  done, if given, becomes 0 when the result is here; without a result,
     * when it has been performed. */
    int (*amo)(struct transport_ctx *ctx, const struct transport_place *at,
               const struct transport_amo *amo, struct transport_done *done);

    /* The longest put_signal, in bytes. */
    size_t (*signal_max)(struct transport_net *net);
    /* Copy len >= 0 bytes, at most signal_max, and then update the signal's word, as an
     * amo does, in one message if that can be: who sees the update (acquire) sees these
     * bytes, but not what else was posted before, which fence orders.  It may be seen
     * before earlier puts, and after later ones.  from and done: as for put.  Refused, it
     * has done nothing; else both parts are done or have failed, for quiet as for a put
     * and an amo. */
    int (*put_signal)(struct transport_ctx *ctx, const struct transport_place *to,
                      const void *from, size_t len, const struct transport_signal *signal,
                      struct transport_done *done);

    /* ---- order and completion: 0 = yes; -EAGAIN: call progress and ask again
     * ----------- */

    /* Will all puts and amos posted on ctx before, to a PE, be seen there before those
     * posted from now on? */
    int (*fence)(struct transport_ctx *ctx);
    /* Is all that was posted on ctx done?  May post what finds that out. */
    int (*quiet)(struct transport_ctx *ctx);
    /* How many operations are posted and not known to be done; if any, *pe (may be NULL)
     * is one that has not answered, or -1.  Cheap: no system call. */
    uint64_t (*pending)(struct transport_ctx *ctx, int *pe);

    /* ---- progress ------------------------------------------------------------------ */

    /* Move on what can be moved without waiting.  Returns how much happened that this
     * transport knows of: 0 does not mean that nobody wrote to our memory. */
    int (*progress)(struct transport_ctx *ctx);
    /* A descriptor that polls readable when progress(ctx) has work, or -1: there is none
     * just now, and progress must be called now and then.  Ask again after each progress;
     * any thread may. */
    int (*fd)(struct transport_ctx *ctx);
    /* Before a sleep on fd: 0 = it will become readable for all that comes from now on;
     * -EAGAIN: there is work already, call progress. */
    int (*arm)(struct transport_ctx *ctx);
};

extern const struct transport transport_shm, transport_ofi, transport_ucx, transport_hook;

#endif
