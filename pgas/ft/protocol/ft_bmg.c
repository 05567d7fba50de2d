/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_bmg.c - reliable broadcast on the binomial graph (ft_bmg.h). */
#include "config.h"

#include "pgas/ft/protocol/ft_bmg.h"

#include <string.h>

enum { LENGTH_BYTES = sizeof(uint32_t) };

static bool ft_bmg_listed(const uint32_t *list, uint32_t n, uint32_t x)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

uint32_t ft_bmg_neighbours(uint32_t n, uint32_t at, uint32_t out[FT_BMG_DEGREE_MAX])
{
    uint32_t count = 0;

    for (uint32_t step = 1; step < n; step *= 2) {
        uint32_t up = (at + step) % n, down = (at + n - step) % n;

        if (!ft_bmg_listed(out, count, up))
            out[count++] = up;
        if (!ft_bmg_listed(out, count, down))
            out[count++] = down;
    }
    return count;
}

/* The children of position `at` in the binomial tree rooted at position `root`. */
static uint32_t ft_bmg_children(uint32_t n, uint32_t root, uint32_t at, uint32_t *out)
{
    uint32_t v = (at + n - root) % n, count = 0, step = 1;

    while (step < n && (v & step) == 0)
        step *= 2;
    while ((step /= 2) > 0)
        if (v + step < n)
            out[count++] = (at + step) % n;
    return count;
}

uint32_t ft_bmg_targets(const struct ft_bmg *b, uint32_t root,
                        const uint32_t extra[FT_BMG_EXTRA],
                        uint32_t out[FT_BMG_DEGREE_MAX])
{
    uint32_t all[2 * FT_BMG_DEGREE_MAX], at = b->pos[b->me], nall, count = 0;

    nall = ft_bmg_children(b->n, b->pos[root], at, all);
    nall += ft_bmg_neighbours(b->n, at, all + nall);
    for (uint32_t i = 0; i < nall; i++)
        all[i] = b->order[all[i]];
    for (uint32_t i = 0; i < FT_BMG_EXTRA; i++)
        if (extra[i] != FT_NODE_NONE)
            all[nall++] = extra[i];
    for (uint32_t i = 0; i < nall; i++)
        if (!ft_set_has(b->failed, all[i]) && !ft_bmg_listed(out, count, all[i]))
            out[count++] = all[i];
    return count;
}

static bool ft_bmg_window_mark(struct ft_bmg_window *w, uint64_t seq)
{
    if (seq > w->last) {
        uint64_t ahead = seq - w->last;

        w->seen = ahead < 64 ? w->seen << ahead : 0;
        if (ahead <= 64)
            w->seen |= UINT64_C(1) << (ahead - 1);
        w->last = seq;
        return true;
    }
    uint64_t behind = w->last - seq;

    if (behind == 0 || behind > 64 || (w->seen >> (behind - 1)) & 1)
        return false;
    w->seen |= UINT64_C(1) << (behind - 1);
    return true;
}

bool ft_bmg_mark(struct ft_bmg *b, uint32_t initiator, uint64_t seq)
{
    struct ft_bmg_seen *s = &b->seen[initiator];
    uint64_t agent = seq >> 32, current = s->now.last >> 32;

    if (agent > current) {
        s->before = s->now;
        s->now = (struct ft_bmg_window){.last = agent << 32};
        current = agent;
    }
    if (agent == current)
        return ft_bmg_window_mark(&s->now, seq);
    if (s->before.last == 0)
        s->before.last = agent << 32; /* nothing of that agent has arrived before */
    return s->before.last >> 32 == agent && ft_bmg_window_mark(&s->before, seq);
}

/* ---- log
 * --------------------------------------------------------------------------------- */

static size_t ft_bmg_log_entry(const struct ft_bmg *b, size_t at)
{
    uint32_t len;

    memcpy(&len, b->log + at, sizeof len);
    return LENGTH_BYTES + (size_t)len;
}

void ft_bmg_log_add(struct ft_bmg *b, const void *frame, size_t len)
{
    size_t need = LENGTH_BYTES + len, drop = 0;
    uint32_t length = (uint32_t)len;

    if (need > b->log_size)
        return;
    while (b->log_used - drop > b->log_size - need)
        drop += ft_bmg_log_entry(b, drop);
    if (drop > 0) {
        memmove(b->log, b->log + drop, b->log_used - drop);
        b->log_used -= drop;
    }
    memcpy(b->log + b->log_used, &length, sizeof length);
    memcpy(b->log + b->log_used + LENGTH_BYTES, frame, len);
    b->log_used += need;
}

const uint8_t *ft_bmg_log_next(const struct ft_bmg *b, size_t *cursor, size_t *len)
{
    size_t at = *cursor;

    if (at >= b->log_used)
        return NULL;
    *len = ft_bmg_log_entry(b, at) - LENGTH_BYTES;
    *cursor = at + LENGTH_BYTES + *len;
    return b->log + at + LENGTH_BYTES;
}
