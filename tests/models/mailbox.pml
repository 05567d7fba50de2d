/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mailbox.pml - the eager slots (pgas/coll/sync/mailbox.c, credit.h), for eager.pml and
 * combiner.pml.  Each of the N PEs has SLOTS slots.  A PE has the variables me, call, acked
 * (of the credit), known, found and k; the first locations are those of the slots and of the
 * words `done`.  The seeded faults are described in eager.pml.
 */
#define SLOT(i)       ((i) * SLOTS + call % SLOTS) /* call number; also the object of its data */
#define DONE(i)       (N * SLOTS + (i))
#define MAILBOX_WORDS (N * SLOTS + N)

#ifdef FAULT_EARLY
#define DEPTH (SLOTS + 1)
#else
#define DEPTH SLOTS
#endif

#define LATER(a, b) ((a) > (b) -> (a) : (b))

/* The k-th other PE. */
#define OTHER(k) ((me + (k)) % N)

/* mailbox_own, mailbox_await_free */
inline own() {
    if
    :: call > acked + DEPTH ->
        known = call - 1;
        k = 1;
        do
        :: k < N ->
            await_acquire(DONE(OTHER(k)), call - SLOTS, found);
            atomic {
                known = (found < known -> found : known);
                k++
            }
        :: else -> break
        od;
        atomic {
            acked = LATER(acked, known);
            known = 0;
            found = 0;
            k = 0
        }
    :: else
    fi
}

inline publish() {
#ifdef FAULT_STORE
    store_relaxed(SLOT(me), call)
#else
    store_release(SLOT(me), call)
#endif
}

/* mailbox_of */
inline await_slot(i) {
#ifdef FAULT_LOAD
    await_relaxed(SLOT(i), call, found);
#else
    await_acquire(SLOT(i), call, found);
#endif
    found = 0
}

/* mailbox_close */
inline close() {
#ifdef FAULT_DONE
    store_relaxed(DONE(me), call)
#else
    store_release(DONE(me), call)
#endif
}

inline close_all() {
#ifdef FAULT_CREDIT
    acked = LATER(acked, call)
#else
    acked = LATER(acked, call - 1)
#endif
}
