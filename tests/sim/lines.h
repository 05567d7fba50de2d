/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.h - the cost of cache lines in a simulated job.  The compiler reads it first
 * (-include), so that each access by pgas/threads/atomic.h counts.
 *
 * A PE has a valid copy of a line, or not.  An access without one, or a write of a line
 * of which others have copies, is a transfer: within a cache if all copies that it needs
 * are in the cache of the PE, else between caches; a read needs one copy, a write all. It
 * takes LINES_LOCAL_NS or LINES_REMOTE_NS, during which no other PE gets the line; other
 * accesses take no time.  A write leaves the only copy with the writer.  Not modelled:
 * overlap of the transfers of one PE, limits of the connections between caches, data
 * behind the line of the synchronisation word.
 */
#ifndef TESTS_SIM_LINES_H
#define TESTS_SIM_LINES_H

/* No system header: the files that are compiled set feature macros first. */

/* Much longer than the yields that add up (os.c). */
#define LINES_LOCAL_NS  UINT64_C(100000)
#define LINES_REMOTE_NS (4 * LINES_LOCAL_NS)

struct lines_count {
    unsigned long local, remote; /* transfers */
    unsigned long most;          /* of one line */
};

/* Forget all copies, and from now on record them.  pes_per_cache: consecutive PEs that
 * share a cache. */
void lines_record(int pes_per_cache);
/* From lines_start to lines_stop, transfers take time and are counted. */
void lines_start(void);
void lines_stop(void);
struct lines_count lines_counts(void);

extern _Bool lines_recorded;
void lines_access(const volatile void *word, _Bool write);

static inline void lines_point(const volatile void *word, _Bool write)
{
    if (__builtin_expect(lines_recorded, 0))
        lines_access(word, write);
}

#define __atomic_load_n(p, order)     (lines_point(p, 0), __atomic_load_n(p, order))
#define __atomic_store_n(p, v, order) (lines_point(p, 1), __atomic_store_n(p, v, order))
#define __atomic_fetch_add(p, v, order)                                                  \
    (lines_point(p, 1), __atomic_fetch_add(p, v, order))
#define __atomic_exchange_n(p, v, order)                                                 \
    (lines_point(p, 1), __atomic_exchange_n(p, v, order))
#define __atomic_compare_exchange_n(p, e, v, weak, order, failed)                        \
    (lines_point(p, 1), __atomic_compare_exchange_n(p, e, v, weak, order, failed))

#endif
