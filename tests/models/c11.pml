/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * c11.pml - the memory model of C11, for models whose memory orders matter.  Include it after
 * the definition of
 *     THREADS, LOCATIONS   their numbers; `me` is the calling thread
 *     STORES               of a location, its initial value 0 included; at most 12
 *     OBJECTS              objects without atomic accesses, on which data races are errors
 *     FENCES               if the model has fences
 *     FUTEX                if threads sleep on a futex word
 *     MUTEXES              number of mutexes
 *     BARRIER              if they meet in barriers
 *
 * A location keeps all its stores in modification order.  The view of a thread is, for each
 * location, the oldest store that it may still read: a load returns that or a newer one (so
 * each load may be stale), a release stores the view with the value, an acquire merges the
 * stored view into its own.  A sequentially consistent fence merges the view with a global
 * one, in both directions.  This is RC11 with views (Kang et al. 2017, without promises);
 * other processors may see stores in different orders, as C11 permits and x86 and ARMv8 do
 * not.  Excluded are executions in which a load returns what a later store of its own thread
 * causes; a store with release, or a data race that is an error, takes their place here.
 * Sequentially consistent accesses count as acquire and release, which is weaker.
 *
 * The stores of a location must be ordered by happens-before, or be read-modify-writes only;
 * otherwise the search reports them (store_racing: takes the order of execution for the
 * modification order).  litmus.pml tests this file.
 *
 * A view is WORDS integers with FIELDS numbers of 4 bits, each below a guard bit: first the
 * locations, then a clock of each thread, which counts its releases.
 */
#define FIELDS 6
#define GUARDS (34636833 << 4) /* the sum of 1 << 5 * i + 4 */
#define LIMIT  15
#ifndef OBJECTS
#define OBJECTS 0
#endif
#if OBJECTS
#define NUMBERS (LOCATIONS + THREADS)
#else
#define NUMBERS LOCATIONS
#endif
#if NUMBERS <= FIELDS
#define WORDS   1
#define EACH(X) X(0)
#elif NUMBERS <= 2 * FIELDS
#define WORDS   2
#define EACH(X) X(0); X(1)
#elif NUMBERS <= 3 * FIELDS
#define WORDS   3
#define EACH(X) X(0); X(1); X(2)
#else
#error "too many locations"
#endif

#define SHIFT(n)      (5 * ((n) % FIELDS))
#define ATLEAST(a, b) ((((a) | GUARDS) - (b)) & GUARDS) /* guards of the fields a >= b */
#define FULL(guards)  ((guards) - ((guards) >> 4))
#define MERGE(a, b)   (((a) & FULL(ATLEAST(a, b))) | ((b) & ~FULL(ATLEAST(a, b))))

int view[THREADS * WORDS];
int stored[LOCATIONS * STORES * WORDS]; /* the views with the stores */
byte value[LOCATIONS * STORES];
byte last[LOCATIONS]; /* the newest store */
#ifdef FENCES
int order[WORDS];              /* of the sequentially consistent fences */
int fenced[THREADS * WORDS];   /* the view at the last fence, for stores without release */
int unfenced[THREADS * WORDS]; /* what the next fence acquires, of loads without acquire */
#endif
byte c11_pick; /* of the stores that a load may read, from the oldest */
hidden int c11_at;

#define VIEW(t, n)   view[(t) * WORDS + (n) / FIELDS]
#define NUMBER(t, n) ((VIEW(t, n) >> SHIFT(n)) & LIMIT)
#define VIEW_WORD(w) view[me * WORDS + w]
#define SEEN(l)      NUMBER(me, l)
#define LAST(l)      value[(l) * STORES + last[l]]
#define AHEAD(l, n)  (SEEN(l) + (n) <= last[l])
#define THERE(l, n)  value[(l) * STORES + SEEN(l) + (n)]

#define C11_ACQUIRE(w) VIEW_WORD(w) = MERGE(VIEW_WORD(w), stored[c11_at + w])
#define C11_RELEASE(w) stored[c11_at + w] = VIEW_WORD(w)
#define C11_ADD(w)     stored[c11_at + w] = MERGE(stored[c11_at + w], VIEW_WORD(w))
#define C11_CARRY(w)   stored[c11_at + w] = stored[c11_at - WORDS + w]
#ifdef FENCES
#define C11_RELAXED(w) stored[c11_at + w] = fenced[me * WORDS + w]
#define C11_DELAY(w)                                                                           \
    unfenced[me * WORDS + w] = MERGE(unfenced[me * WORDS + w], stored[c11_at + w])
#else
#define C11_RELAXED(w) stored[c11_at + w] = 0
#define C11_DELAY(w)   skip
#endif

/* Moves the view to the n-th next store. */
inline c11_see(l, n, out) {
    VIEW(me, l) = VIEW(me, l) + ((n) << SHIFT(l));
    c11_at = (l) * STORES + SEEN(l);
    out = value[c11_at];
    c11_at = c11_at * WORDS
}

/* Chooses a store that may be read, of those with a value of at least `least`. */
inline c11_choose(l, least) {
    if
    :: THERE(l, 0) >= least
    :: d_step { AHEAD(l, 1) && THERE(l, 1) >= least -> c11_pick = 1 }
#if STORES > 2
    :: d_step { AHEAD(l, 2) && THERE(l, 2) >= least -> c11_pick = 2 }
#endif
#if STORES > 3
    :: d_step { AHEAD(l, 3) && THERE(l, 3) >= least -> c11_pick = 3 }
#endif
#if STORES > 4
    :: d_step { AHEAD(l, 4) && THERE(l, 4) >= least -> c11_pick = 4 }
#endif
#if STORES > 5
    :: d_step { AHEAD(l, 5) && THERE(l, 5) >= least -> c11_pick = 5 }
#endif
#if STORES > 6
    :: d_step { AHEAD(l, 6) && THERE(l, 6) >= least -> c11_pick = 6 }
#endif
#if STORES > 7
    :: d_step { AHEAD(l, 7) && THERE(l, 7) >= least -> c11_pick = 7 }
#endif
#if STORES > 8
    :: d_step { AHEAD(l, 8) && THERE(l, 8) >= least -> c11_pick = 8 }
#endif
#if STORES > 9
    :: d_step { AHEAD(l, 9) && THERE(l, 9) >= least -> c11_pick = 9 }
#endif
#if STORES > 10
    :: d_step { AHEAD(l, 10) && THERE(l, 10) >= least -> c11_pick = 10 }
#endif
#if STORES > 11
    :: d_step { AHEAD(l, 11) && THERE(l, 11) >= least -> c11_pick = 11 }
#endif
    fi
}

/* Loops that load until the value is at least `least`. */
inline await_relaxed(l, least, out) {
    atomic {
        c11_choose(l, least);
        d_step { c11_see(l, c11_pick, out); EACH(C11_DELAY); c11_pick = 0 }
    }
}

inline await_acquire(l, least, out) {
    atomic {
        c11_choose(l, least);
        d_step { c11_see(l, c11_pick, out); EACH(C11_ACQUIRE); c11_pick = 0 }
    }
}

inline load_relaxed(l, out) {
    await_relaxed(l, 0, out)
}

inline load_acquire(l, out) {
    await_acquire(l, 0, out)
}

/* A new store; the caller fills in its view. */
inline c11_append(l, v) {
    assert(last[l] + 1 < STORES);
    value[(l) * STORES + last[l] + 1] = v; /* v may contain LAST(l) */
    last[l] = last[l] + 1;
    c11_at = ((l) * STORES + last[l]) * WORDS
}

/* Notes that the current clock of the thread is known to others. */
#if OBJECTS
byte released; /* a bit of each thread */
#define C11_PUBLISHED(thread) released = released | 1 << (thread)
#else
#define C11_PUBLISHED(thread) skip
#endif

inline store_release(l, v) {
    d_step {
        assert(SEEN(l) == last[l]);
        VIEW(me, l) = VIEW(me, l) + (1 << SHIFT(l));
        c11_append(l, v);
        EACH(C11_RELEASE);
        C11_PUBLISHED(me)
    }
}

/* Its view contains at least the store itself. */
inline c11_store_relaxed(l, v) {
    VIEW(me, l) = VIEW(me, l) + ((last[l] + 1 - SEEN(l)) << SHIFT(l));
    c11_append(l, v);
    EACH(C11_RELAXED);
    c11_at = c11_at + (l) / FIELDS;
    stored[c11_at] = (stored[c11_at] & ~(LIMIT << SHIFT(l))) | (SEEN(l) << SHIFT(l))
}

inline store_relaxed(l, v) {
    d_step {
        assert(SEEN(l) == last[l]);
        c11_store_relaxed(l, v)
    }
}

/* A store that is not ordered with those of other threads: behind all that were executed. */
inline store_racing(l, v) {
    d_step { c11_store_relaxed(l, v) }
}

/* Read-modify-writes extend the release sequence of the store that they replace.  Use them
 * in a d_step, after the test of LAST(l): they share `c11_at`, which no state contains, and in
 * an atomic sequence their steps would be states. */
inline c11_newest(l, v) {
    VIEW(me, l) = VIEW(me, l) + ((last[l] - SEEN(l)) << SHIFT(l));
    c11_at = ((l) * STORES + last[l]) * WORDS
}

inline update_acq_rel(l, v) {
    c11_newest(l, v);
    EACH(C11_ACQUIRE);
    VIEW(me, l) = VIEW(me, l) + (1 << SHIFT(l));
    c11_append(l, v);
    EACH(C11_RELEASE);
    C11_PUBLISHED(me)
}

inline update_release(l, v) {
    c11_newest(l, v);
    VIEW(me, l) = VIEW(me, l) + (1 << SHIFT(l));
    c11_append(l, v);
    EACH(C11_CARRY);
    EACH(C11_ADD);
    C11_PUBLISHED(me)
}

inline update_relaxed(l, v) {
    c11_newest(l, v);
    VIEW(me, l) = VIEW(me, l) + (1 << SHIFT(l));
    c11_append(l, v);
    EACH(C11_CARRY);
    c11_at = c11_at + (l) / FIELDS;
    stored[c11_at] = (stored[c11_at] & ~(LIMIT << SHIFT(l))) | (SEEN(l) << SHIFT(l))
}

#ifdef FENCES
#define C11_FENCE_ACQUIRE(w)                                                                   \
    VIEW_WORD(w) = MERGE(VIEW_WORD(w), unfenced[me * WORDS + w])
#define C11_FENCE_OF(w)                                                                        \
    view[c11_at + w] =                                                                         \
        MERGE(MERGE(view[c11_at + w], unfenced[c11_at + w]), order[w]);                        \
    order[w] = view[c11_at + w];                                                               \
    fenced[c11_at + w] = view[c11_at + w]

inline fence_acquire() {
    d_step { EACH(C11_FENCE_ACQUIRE) }
}

inline c11_fence(thread) {
    c11_at = (thread) * WORDS;
    EACH(C11_FENCE_OF);
    C11_PUBLISHED(thread)
}

inline fence_full() {
    d_step { c11_fence(me) }
}

/* membarrier(): each thread executes a full fence at some time during the call; here only
 * one of them, whose order matters. */
inline membarrier(thread) {
    fence_full();
    d_step { c11_fence(thread) };
    fence_full()
}
#endif

#ifdef MUTEXES
#define C11_LOCK(w)   VIEW_WORD(w) = MERGE(VIEW_WORD(w), guarded[c11_at + w])
#define C11_UNLOCK(w) guarded[c11_at + w] = VIEW_WORD(w)
bool locked[MUTEXES];
int guarded[MUTEXES * WORDS]; /* the view at the last unlock */

inline lock(m) {
    d_step { !locked[m] -> locked[m] = true; c11_at = (m) * WORDS; EACH(C11_LOCK) }
}

inline unlock(m) {
    d_step { c11_at = (m) * WORDS; EACH(C11_UNLOCK); locked[m] = false; C11_PUBLISHED(me) }
}
#endif

#ifdef BARRIER
#define C11_ARRIVE(w) met[(e) % 2 * WORDS + w] = MERGE(met[(e) % 2 * WORDS + w], VIEW_WORD(w))
#define C11_LEAVE(w)  VIEW_WORD(w) = MERGE(VIEW_WORD(w), met[(e) % 2 * WORDS + w])
int met[2 * WORDS]; /* the views of those that have arrived, by parity of the barrier */
byte arrived;

/* Barrier e (0, 1, ..) of all threads; its own words are left out. */
inline barrier(e) {
    d_step { EACH(C11_ARRIVE); arrived++; C11_PUBLISHED(me) };
    d_step { arrived >= ((e) + 1) * THREADS -> EACH(C11_LEAVE) }
}
#endif

#ifdef FUTEX
byte asleep; /* a bit of each thread */
#define ASLEEP (asleep >> me & 1)

/* The kernel compares and sleeps under the lock that wake-ups take, after a full barrier.  What
 * it has read, the thread has seen. */
inline futex_wait(l, expected) {
    if
    :: d_step {
           LAST(l) != expected ->
           VIEW(me, l) = VIEW(me, l) + ((last[l] - SEEN(l)) << SHIFT(l));
           c11_fence(me)
       }
    :: d_step { c11_fence(me); asleep = asleep | (THERE(l, 0) == expected) << me };
        !ASLEEP
    fi
}

inline futex_wake() {
    d_step {
        c11_fence(me);
        asleep = 0
    }
}
#endif

#if OBJECTS
byte wrote[OBJECTS], writer[OBJECTS]; /* the clock at the last write, and its thread */
byte has_read[OBJECTS * THREADS];     /* the clock at the last read of each thread */

#define C11_READ_BY(t, o) assert(NUMBER(me, LOCATIONS + t) >= has_read[(o) * THREADS + t])

/* Before its first step. */
inline c11_begin() {
    VIEW(me, LOCATIONS + me) = VIEW(me, LOCATIONS + me) + (1 << SHIFT(LOCATIONS + me))
}

/* The first access after a release is in a new interval, of which others know nothing. */
inline c11_tick() {
    assert(NUMBER(me, LOCATIONS + me) < LIMIT);
    VIEW(me, LOCATIONS + me) =
        VIEW(me, LOCATIONS + me) + ((released >> me & 1) << SHIFT(LOCATIONS + me));
    released = released & ~(1 << me)
}

inline plain_read(o) {
    d_step {
        c11_tick();
        assert(NUMBER(me, LOCATIONS + writer[o]) >= wrote[o]); /* else a data race */
        has_read[(o) * THREADS + me] = NUMBER(me, LOCATIONS + me)
    }
}

inline plain_write(o) {
    d_step {
        c11_tick();
        assert(NUMBER(me, LOCATIONS + writer[o]) >= wrote[o]);
        C11_READ_BY(0, o);
        C11_READ_BY(1, o);
#if THREADS > 2
        C11_READ_BY(2, o);
#endif
#if THREADS > 3
        C11_READ_BY(3, o);
#endif
        writer[o] = me;
        wrote[o] = NUMBER(me, LOCATIONS + me)
    }
}
#endif
