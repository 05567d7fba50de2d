/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_merge.c - see front_int.h: the library's messages in the PEs' standard error.
 *
 * Uses ranks.c, front_sites.c, out.c.
 *
 * Lines "pgas: PE 3: TEXT", or "pgas: TEXT" from a PE before it knows its number, wait in
 * a queue for a short time, in which equal texts of other PEs join them (addresses may
 * differ); then one line "pgas: PE 0-7: TEXT" is printed.  All output of one PE keeps its
 * order: a PE joins only a line behind its previous one, and its other output follows its
 * messages in the queue. Messages of oshrun follow the lines that were queued before
 * them, because they are often consequences.  The loop never waits for the tool that
 * finds a call site: if the queue is full, the first line is printed without it.
 */
#include "config.h"

#include "pgas/core/base/call_site.h"
#include "tools/oshrun/front/front_int.h"
#include "tools/oshrun/front/options.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/ranks.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_MS     100
#define LAST_MS     2000              /* for all call sites, at the end of the job */
#define LINES_MAX   256               /* in the queue */
#define BYTES_MAX   ((size_t)1 << 20) /* likewise */
#define MESSAGE_MAX 4096              /* longer ones are not messages of the library */
#define RANKS_MIN   8
#define PREFIX_MAX  32
#define LIBRARY     "pgas: "
#define HEX_DIGITS  "0123456789abcdef"

struct front_line {
    struct front_line *next;
    uint64_t number; /* of the line in the queue, from 1 */
    uint64_t due_ns;
    bool plain; /* other output of the PE or, without a PE, of oshrun */
    uint32_t *rank;
    uint32_t count, capacity;
    bool numbered;         /* the PE knew its number */
    bool addresses_differ; /* text has those of the first PE, `sender` */
    uint32_t sender;
    struct front_site *site; /* NULL: none */
    size_t site_at;          /* its position in text */
    char *text;
    size_t len;
};

/* ---- printing --------------------------------------------------------------------- */

static void front_merge_print(struct front *f, struct front_line *l)
{
    char ranks[RANKS_TEXT], pes[RANKS_TEXT + PREFIX_MAX] = "", note[PREFIX_MAX] = "";
    const char *site = front_site_text(l->site);
    if (l->plain && l->rank != NULL)
        front_write(f, l->rank[0], DAEMON_STDERR, l->text, l->len);
    else if (l->plain)
        out_put(&f->out[DAEMON_STDERR], l->text, l->len);
    if (l->plain)
        return;
    ranks_sort(l->rank, l->count);
    ranks_text(l->rank, l->count, ranks);
    if (l->numbered || l->count > 1)
        snprintf(pes, sizeof pes, "PE %s: ", ranks);
    if (l->addresses_differ)
        snprintf(note, sizeof note, " (addresses of PE %u)", l->sender);
    char *line = mem_print(
        LIBRARY "%s%.*s%s%s%s\n", pes, (int)(site != NULL ? l->site_at : strlen(l->text)),
        l->text, site != NULL ? "; called by " : "", site != NULL ? site : "", note);
    front_write(f, l->rank[0], DAEMON_STDERR, line, strlen(line));
    free(line);
}

static void front_merge_print_first(struct front *f)
{
    struct front_merge *m = &f->merge;
    struct front_line *l = m->first;
    m->first = l->next;
    m->count--;
    m->bytes -= l->len;
    front_merge_print(f, l);
    free(l->rank);
    free(l->text);
    free(l);
}

/* A line is due after HOLD_MS, or as soon as all PEs have sent it. */
static bool front_merge_due(const struct front *f, const struct front_line *l)
{
    return l->plain || l->count == f->job.npes || f->o->tag_output ||
           loop_now_ns() >= l->due_ns;
}

void front_merge_continue(struct front *f)
{
    struct front_line *l;
    while ((l = f->merge.first) != NULL && front_merge_due(f, l) &&
           !front_site_pending(l->site))
        front_merge_print_first(f);
    loop_cancel(&f->loop, &f->merge.timer);
    if (l == NULL || front_merge_due(f, l))
        return; /* the end of the tool continues */
    uint64_t now = loop_now_ns();
    uint64_t ms = l->due_ns > now ? (l->due_ns - now) / NS_PER_MS + 1 : 1;
    loop_after(&f->loop, &f->merge.timer, ms);
}

/* ---- the queue -------------------------------------------------------------------- */

static struct front_line *front_merge_append(struct front *f, const char *text,
                                             size_t len)
{
    struct front_merge *m = &f->merge;
    while (m->count >= LINES_MAX || (m->count > 0 && m->bytes + len > BYTES_MAX))
        front_merge_print_first(f);
    struct front_line *l = mem_calloc(1, sizeof *l);
    l->text = mem_alloc(len + 1);
    memcpy(l->text, text, len);
    l->text[len] = '\0';
    l->len = len;
    m->bytes += len;
    l->number = ++m->lines;
    l->due_ns = loop_now_ns() + (uint64_t)HOLD_MS * NS_PER_MS;
    if (m->first == NULL)
        m->first = l;
    else
        m->last->next = l;
    m->last = l;
    m->count++;
    return l;
}

static void front_merge_add_rank(struct front *f, struct front_line *l, uint32_t rank)
{
    if (l->count == l->capacity) {
        l->capacity = l->capacity > 0 ? 2 * l->capacity : RANKS_MIN;
        l->rank = mem_resize(l->rank, l->capacity, sizeof *l->rank);
    }
    l->rank[l->count++] = rank;
    f->merge.last_of[rank] = l->number;
}

/* True if the texts are equal but for addresses before the call site: the same error has
 * other addresses on each PE.  a ends in a zero, b in a newline. */
static bool front_merge_equal(const char *a, const char *b, bool *differ)
{
    const char *site = strstr(a, CALL_SITE_FROM);
    while (*a != '\0' && *a == *b) {
        size_t hex_a = a[0] == '0' && a[1] == 'x' ? strspn(a + 2, HEX_DIGITS) : 0;
        size_t hex_b = b[0] == '0' && b[1] == 'x' ? strspn(b + 2, HEX_DIGITS) : 0;
        if (hex_a == 0 || hex_b == 0 || (site != NULL && a > site)) {
            a++;
            b++;
            continue;
        }
        *differ = *differ || hex_a != hex_b || memcmp(a + 2, b + 2, hex_a) != 0;
        a += 2 + hex_a;
        b += 2 + hex_b;
    }
    return *a == '\0' && *b == '\n';
}

/* A line with this text behind the PE's previous one; NULL: none. */
static struct front_line *front_merge_find(struct front *f, uint32_t rank, bool numbered,
                                           const char *text)
{
    if (f->o->tag_output)
        return NULL;
    for (struct front_line *l = f->merge.first; l != NULL; l = l->next) {
        bool differ = l->addresses_differ;
        if (l->number <= f->merge.last_of[rank] || l->plain || l->numbered != numbered ||
            !front_merge_equal(l->text, text, &differ))
            continue;
        l->addresses_differ = differ;
        return l;
    }
    return NULL;
}

static void front_merge_add(struct front *f, uint32_t rank, bool numbered,
                            const char *text, size_t len)
{
    struct front_line *l = front_merge_find(f, rank, numbered, text);
    if (l == NULL) {
        l = front_merge_append(f, text, len);
        l->sender = rank;
        l->numbered = numbered;
        l->site = front_site_find(f, l->text, &l->site_at);
    }
    front_merge_add_rank(f, l, rank);
}

/* Other output of the PE: behind its messages, if the queue has any. */
static void front_merge_add_plain(struct front *f, uint32_t rank, const char *text,
                                  size_t len)
{
    const struct front_merge *m = &f->merge;
    if (m->first == NULL || m->last_of[rank] < m->first->number) {
        front_write(f, rank, DAEMON_STDERR, text, len);
        return;
    }
    struct front_line *l = front_merge_append(f, text, len);
    l->plain = true;
    front_merge_add_rank(f, l, rank);
}

/* ---- interface -------------------------------------------------------------------- */

/* Length of "pgas: PE 3: " or "pgas: " at the start of a message of the library; 0: the
 * line is none. */
static size_t front_merge_prefix(const char *line, size_t len, uint32_t rank,
                                 bool *numbered)
{
    static const char any[] = LIBRARY "PE ";
    char own[PREFIX_MAX];
    size_t n = strlen(LIBRARY);
    if (len <= n || len > MESSAGE_MAX || memcmp(line, LIBRARY, n) != 0 ||
        memchr(line, '\0', len) != NULL)
        return 0;
    *numbered = len > strlen(any) && memcmp(line, any, strlen(any)) == 0;
    if (!*numbered)
        return n;
    n = (size_t)snprintf(own, sizeof own, LIBRARY "PE %u: ", rank);
    return len > n && memcmp(line, own, n) == 0 ? n : 0;
}

/* Length of the lines at `text` that are no messages of the library; `mid`: the first one
 * continues a line. */
static size_t front_merge_others(const char *text, size_t len, uint32_t rank, bool mid)
{
    size_t n = 0;
    bool numbered;
    while (n < len) {
        const char *end = memchr(text + n, '\n', len - n);
        if (end == NULL)
            return len;
        size_t line = (size_t)(end - (text + n)) + 1;
        if (!(mid && n == 0) &&
            front_merge_prefix(text + n, line - 1, rank, &numbered) > 0)
            return n;
        n += line;
    }
    return n;
}

void front_merge_put(struct front *f, uint32_t rank, const char *text, size_t len)
{
    bool numbered, *mid = &f->merge.mid_line[rank];
    if (len == 0) /* end of file */
        front_merge_add_plain(f, rank, text, 0);
    while (len > 0) {
        size_t n = front_merge_others(text, len, rank, *mid);
        if (n > 0) {
            front_merge_add_plain(f, rank, text, n);
        } else {
            n = (size_t)((const char *)memchr(text, '\n', len) - text) + 1;
            size_t prefix = front_merge_prefix(text, n - 1, rank, &numbered);
            front_merge_add(f, rank, numbered, text + prefix, n - 1 - prefix);
        }
        *mid = text[n - 1] != '\n';
        text += n;
        len -= n;
    }
    front_merge_continue(f);
}

void front_merge_say(struct front *f, const char *line, size_t len)
{
    if (f->merge.first != NULL)
        front_merge_append(f, line, len)->plain = true;
    else
        out_put(&f->out[DAEMON_STDERR], line, len);
}

static void front_merge_on_timer(void *arg)
{
    front_merge_continue(arg);
}

void front_merge_open(struct front *f)
{
    f->merge.timer = (struct loop_timer){.fn = front_merge_on_timer, .arg = f};
    f->merge.last_of = mem_calloc(f->job.npes, sizeof *f->merge.last_of);
    f->merge.mid_line = mem_calloc(f->job.npes, sizeof *f->merge.mid_line);
}

void front_merge_close(struct front *f)
{
    uint64_t end_ns = loop_now_ns() + (uint64_t)LAST_MS * NS_PER_MS;
    while (f->merge.first != NULL) {
        struct front_line *l = f->merge.first;
        front_site_wait(l->site, end_ns); /* the end of a tool may print lines */
        if (l == f->merge.first)
            front_merge_print_first(f);
    }
    loop_cancel(&f->loop, &f->merge.timer);
    free(f->merge.last_of);
    free(f->merge.mid_line);
}
