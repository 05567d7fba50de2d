/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_bmg.h - reliable broadcast on the binomial graph: whom to send to, what was seen
 * before, and the log of recent broadcasts.
 *
 * Positions (of the ring order) are the vertices: position i has the neighbours i + 2^k
 * and i - 2^k modulo n, without itself and duplicates.  Each node forwards a broadcast
 * once, to all its neighbours.  It sends first to its children in the binomial tree
 * rooted at the initiator (which the message names), so that with one send per time unit
 * all nodes are reached in ceil(log2 n) units; the other edges reach the nodes below a
 * failed tree node.  The graph is degree-connected: any degree - 1 failures leave all
 * live nodes reachable.  With more, the ring neighbours are added as targets (`extra`),
 * and new ring neighbours exchange their logs: live nodes always form a ring.
 *
 * A broadcast is identified by its initiator and a 64-bit sequence number.  Of each
 * initiator the highest number and the 64 numbers below it are remembered; lower ones
 * count as seen: a broadcast that is overtaken by more than 64 later ones of its
 * initiator is lost at that node. No I/O; memory belongs to the caller. Uses: ft_types.
 * Used by: ft_proto, tests/ft.
 */
#ifndef PGAS_FT_BMG_H
#define PGAS_FT_BMG_H

#include "pgas/ft/ft_types.h"

enum { FT_BMG_DEGREE_MAX = 40, FT_BMG_EXTRA = 2 }; /* 2 * 17 neighbours at FT_NODES_MAX */

struct ft_bmg_window {
    uint64_t last; /* highest sequence number seen; numbers start with 1 */
    uint64_t seen; /* bit i: last - 1 - i was seen */
};

/* Broadcasts of the initiator's agent and of its predecessor. */
struct ft_bmg_seen {
    struct ft_bmg_window now, before;
};

struct ft_bmg {
    uint32_t me, n;
    const uint32_t *order, *pos; /* as in ft_ring */
    const uint64_t *failed;      /* nodes to skip */
    struct ft_bmg_seen *seen;    /* [n], zeroed */
    uint8_t *log;                /* [log_size]: frames, each after its length (4 bytes) */
    size_t log_size, log_used;
};

/* The distinct neighbours of position `at`, in the order +1, -1, +2, -2, +4, ...; returns
 * their number, the degree. */
uint32_t ft_bmg_neighbours(uint32_t n, uint32_t at, uint32_t out[FT_BMG_DEGREE_MAX]);

/* The nodes to which this node sends a broadcast of node `root`, in order: tree children
 * with the largest subtree first, the other neighbours, then `extra` (FT_NODE_NONE:
 * none). Without failed nodes and duplicates.  Returns their number. */
uint32_t ft_bmg_targets(const struct ft_bmg *b, uint32_t root,
                        const uint32_t extra[FT_BMG_EXTRA],
                        uint32_t out[FT_BMG_DEGREE_MAX]);

/* Whether (initiator, seq) was not seen before; marks it as seen. */
bool ft_bmg_mark(struct ft_bmg *b, uint32_t initiator, uint64_t seq);

/* Appends a frame to the log, which drops its oldest frames.  A frame that is longer than
 * the log is not stored. */
void ft_bmg_log_add(struct ft_bmg *b, const void *frame, size_t len);

/* Iterates over the log, oldest first: *cursor is 0 at the start; NULL at the end. */
const uint8_t *ft_bmg_log_next(const struct ft_bmg *b, size_t *cursor, size_t *len);

#endif
