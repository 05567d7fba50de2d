/* SPDX-License-Identifier: BSD-3-Clause */
/* check_match.c - see check_match.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/kernels/check_match.h"

enum { IDS = 4096, PHASE = 1500, NOBODY = -1 };

/* ---- the model: identifiers of entries in order of age -------------------------- */

struct flat {
    int id[IDS];
    int n;
};

static struct match_key keys[IDS];

static int flat_find(const struct flat *f, bool posted, const struct match_key *key)
{
    for (int i = 0; i < f->n; i++) {
        const struct match_key *k = &keys[f->id[i]];
        const struct match_key *receive = posted ? k : key, *message = posted ? key : k;
        if (receive->context == message->context &&
            (receive->source == MATCH_ANY_SOURCE || receive->source == message->source) &&
            (receive->tag == MATCH_ANY_TAG || receive->tag == message->tag))
            return i;
    }
    return NOBODY;
}

static int flat_remove(struct flat *f, int i)
{
    int id = f->id[i];

    memmove(&f->id[i], &f->id[i + 1], (size_t)(f->n - i - 1) * sizeof f->id[0]);
    f->n--;
    return id;
}

/* ---- a run ---------------------------------------------------------------------- */

/* What the keys of a phase look like */
struct phase {
    uint32_t sources, tags, contexts, tag_stride;
    unsigned wildcards; /* of 16 receives */
    unsigned posts;     /* of 16 operations that post or arrive: 8 is balanced */
    int depth;
    bool random_tags;
};

struct run {
    uint64_t random;
    struct phase phase;
    struct flat posted, unexpected;
    int unused[IDS], nunused;
    unsigned engines;
    bool tail; /* which of the next two is used */
    struct matcher matcher[CHECK_MATCH_ENGINES];
    struct match_tail tails[CHECK_MATCH_ENGINES];
    struct match_entry *entries[CHECK_MATCH_ENGINES];
    const struct match_options *options;
    struct check_match_result *result;
};

static uint32_t run_random(struct run *r, uint32_t below)
{
    r->random = r->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((r->random >> 33) * below >> 31);
}

static uint32_t run_one_of(struct run *r, const uint32_t *values, uint32_t n)
{
    return values[run_random(r, n)];
}

#define ONE_OF(r, ...)                                                                   \
    run_one_of(r, (const uint32_t[]){__VA_ARGS__},                                       \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void run_phase(struct run *r)
{
    r->phase = (struct phase){
        .sources = ONE_OF(r, 1, 3, 60, 1000000),
        .tags = ONE_OF(r, 1, 4, 300, 5000),
        .contexts = ONE_OF(r, 1, 1, 3),
        .tag_stride = ONE_OF(r, 1, 256, 65536, 1 << 24),
        .wildcards = ONE_OF(r, 0, 1, 8),
        .posts = ONE_OF(r, 4, 8, 12),
        .depth = (int)ONE_OF(r, 3, 14, 100, 1100),
        .random_tags = run_random(r, 4) == 0,
    };
}

static void run_fail(struct run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void run_fail(struct run *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(r->result->text, CHECK_MATCH_TEXT, format, args);
    va_end(args);
}

static struct match_key run_key(struct run *r)
{
    const struct phase *p = &r->phase;
    struct match_key k = {
        .context = run_random(r, p->contexts),
        .source = (int32_t)run_random(r, p->sources),
        .tag = (int32_t)(3 + run_random(r, p->tags) * p->tag_stride),
    };

    if (p->random_tags)
        k.tag = (int32_t)(run_random(r, 1u << 31) * 2) + 1; /* odd: no wildcard */
    return k;
}

/* Often the key of an entry of the other queue, so that there are matches */
static struct match_key run_key_like(struct run *r, const struct flat *f, bool receive)
{
    struct match_key k = run_key(r);

    if (f->n > 0 && run_random(r, 3) > 0) {
        struct match_key like = keys[f->id[run_random(r, (uint32_t)f->n)]];
        k.context = like.context;
        k.source = like.source == MATCH_ANY_SOURCE ? k.source : like.source;
        k.tag = like.tag == MATCH_ANY_TAG ? k.tag : like.tag;
    }
    if (receive && run_random(r, 16) < r->phase.wildcards)
        k.source = MATCH_ANY_SOURCE;
    if (receive && run_random(r, 16) < r->phase.wildcards)
        k.tag = MATCH_ANY_TAG;
    return k;
}

/* An entry that is not queued has no valid contents. */
static void run_forget(struct run *r, int id)
{
    for (unsigned e = 0; e < r->engines; e++)
        memset(&r->entries[e][id], 0xa5, sizeof r->entries[e][id]);
    r->unused[r->nunused++] = id;
}

static int run_entry(struct run *r, const struct match_key *key)
{
    int id = r->unused[--r->nunused];

    keys[id] = *key;
    for (unsigned e = 0; e < r->engines; e++)
        r->entries[e][id] = (struct match_entry){.key = *key};
    return id;
}

static void run_compare(struct run *r, unsigned e, const char *operation,
                        const struct match_entry *got, int wanted)
{
    int id = got == NULL ? NOBODY : (int)(got - r->entries[e]);
    const struct match_options *o = &r->options[e];

    if (id != wanted && r->result->text[0] == '\0')
        run_fail(r, "%s %s %u bits, %u bins: operation %llu, %s: %d instead of %d",
                 match_engine_name(o->engine), isa_name(o->isa), o->lane_bits, o->bins,
                 (unsigned long long)r->result->operations, operation, id, wanted);
}

/* ---- the calls of engine e ------------------------------------------------------ */

static struct match_entry *call_post(struct run *r, unsigned e, struct match_entry *entry)
{
    return r->tail ? match_tail_post(&r->tails[e], entry)
                   : match_post(&r->matcher[e], entry);
}

static struct match_entry *call_arrive(struct run *r, unsigned e,
                                       struct match_entry *entry)
{
    return r->tail ? match_tail_arrive(&r->tails[e], entry)
                   : match_arrive(&r->matcher[e], entry);
}

static struct match_entry *call_mprobe(struct run *r, unsigned e,
                                       const struct match_key *key)
{
    return r->tail ? match_tail_mprobe(&r->tails[e], key)
                   : match_mprobe(&r->matcher[e], key);
}

static void call_visit(const struct match_entry *message, void *arg)
{
    *(const struct match_entry **)arg = message;
}

static const struct match_entry *call_probe(struct run *r, unsigned e,
                                            const struct match_key *key)
{
    const struct match_entry *found = NULL;

    if (!r->tail)
        return match_probe(&r->matcher[e], key);
    match_tail_probe(&r->tails[e], key, call_visit, &found);
    return found;
}

static bool call_cancel(struct run *r, unsigned e, struct match_entry *receive)
{
    return r->tail ? match_tail_cancel(&r->tails[e], receive)
                   : match_cancel(&r->matcher[e], receive);
}

/* ---- operations ----------------------------------------------------------------- */

static void run_post_or_arrive(struct run *r, bool post)
{
    struct flat *searched = post ? &r->unexpected : &r->posted;
    struct flat *other = post ? &r->posted : &r->unexpected;
    struct match_key key = run_key_like(r, searched, post);
    int id = run_entry(r, &key), at = flat_find(searched, !post, &key);
    int mate = at == NOBODY ? NOBODY : flat_remove(searched, at);

    for (unsigned e = 0; e < r->engines; e++) {
        struct match_entry *entry = &r->entries[e][id];
        run_compare(r, e, post ? "post" : "arrive",
                    post ? call_post(r, e, entry) : call_arrive(r, e, entry), mate);
    }
    if (mate == NOBODY) {
        other->id[other->n++] = id;
        return;
    }
    r->result->matches++;
    run_forget(r, id);
    run_forget(r, mate);
}

static void run_probe(struct run *r, bool matched)
{
    struct match_key key = run_key_like(r, &r->unexpected, true);
    int at = flat_find(&r->unexpected, false, &key);
    int mate = at == NOBODY ? NOBODY : r->unexpected.id[at];

    for (unsigned e = 0; e < r->engines; e++)
        run_compare(r, e, matched ? "mprobe" : "probe",
                    matched ? call_mprobe(r, e, &key) : call_probe(r, e, &key), mate);
    if (matched && mate != NOBODY) {
        flat_remove(&r->unexpected, at);
        run_forget(r, mate);
    }
}

/* Also of a receive that has been matched: it must fail. */
static void run_cancel(struct run *r)
{
    if (r->posted.n == 0)
        return;
    int id = flat_remove(&r->posted, (int)run_random(r, (uint32_t)r->posted.n));

    for (unsigned e = 0; e < r->engines; e++) {
        struct match_entry *receive = &r->entries[e][id];
        run_compare(r, e, "cancel", call_cancel(r, e, receive) ? receive : NULL, id);
        run_compare(r, e, "second cancel", call_cancel(r, e, receive) ? receive : NULL,
                    NOBODY);
    }
    run_forget(r, id);
}

static void run_operation(struct run *r)
{
    const int depth = r->phase.depth;
    uint32_t what = run_random(r, 64);

    /* Holes: entries are removed everywhere until both queues are short enough. */
    if (r->posted.n > depth)
        run_cancel(r);
    if (r->unexpected.n > depth)
        run_probe(r, true);
    if (what < 6)
        run_probe(r, what < 2);
    else if (what < 9)
        run_cancel(r);
    else if (r->nunused > 0)
        run_post_or_arrive(r, run_random(r, 16) < r->phase.posts);
}

static void run_add(struct run *r, const struct match_queue *q, uint32_t inbox, int count)
{
    struct check_match_result *result = r->result;
    const struct match_stats stats = match_queue_stats(q);

    if (q->count + inbox != (uint32_t)count && result->text[0] == '\0')
        run_fail(r, "%u entries instead of %d", q->count + inbox, count);
    result->false_positives += stats.false_positives;
    result->compactions += stats.compactions;
    result->merges += stats.merges;
    result->conversions += stats.conversions;
    result->failed_allocations += stats.failed_allocations;
    if (q->stats.longest > result->longest)
        result->longest = q->stats.longest;
}

static void run_end(struct run *r)
{
    for (unsigned e = 0; e < r->engines; e++) {
        struct match_tail *t = &r->tails[e];
        struct matcher *m = &r->matcher[e];
        run_add(r, r->tail ? &t->posted.queue : &m->posted, t->posted_inbox.count,
                r->posted.n);
        run_add(r, r->tail ? &t->unexpected.queue : &m->unexpected,
                t->unexpected_inbox.count, r->unexpected.n);
        match_free(m);
        match_tail_free(t);
        free(r->entries[e]);
    }
}

unsigned check_match_engines(struct match_options *options)
{
    unsigned n = 0;

    options[n++] = (struct match_options){.engine = MATCH_LIST};
    options[n++] = (struct match_options){.engine = MATCH_ARRAY};
    for (enum isa isa = 0; isa < ISAS; isa++) {
        if (!isa_here(isa) || match_kernels_of(isa) == NULL)
            continue;
        options[n++] = (struct match_options){.engine = MATCH_VECTOR, .isa = isa};
        options[n++] =
            (struct match_options){.engine = MATCH_AUTO, .isa = isa, .lane_bits = 16};
        for (unsigned bits = 8; bits <= 32; bits *= 2)
            options[n++] = (struct match_options){
                .engine = MATCH_FUZZY, .isa = isa, .lane_bits = bits};
        options[n++] = (struct match_options){
            .engine = MATCH_FUZZY, .isa = isa, .lane_bits = 16, .fixed_split = true};
    }
    for (enum match_engine e = 0; e < MATCH_ENGINES; e++)
        options[n++] = (struct match_options){
            .engine = e, .isa = isa_best(), .lane_bits = 16, .bins = 2u << e};
    options[n++] = (struct match_options){
        .engine = MATCH_FUZZY, .isa = isa_best(), .lane_bits = 8, .bins = MATCH_BINS_MAX};
    return n;
}

void check_match(const struct match_options *options, unsigned engines, bool tail,
                 uint64_t seed, uint64_t operations, struct check_match_result *result)
{
    static struct run r;

    *result = (struct check_match_result){0};
    memset(&r, 0, sizeof r);
    r.random = seed;
    r.options = options;
    r.tail = tail;
    r.result = result;
    for (unsigned e = 0; e < engines; e++) {
        r.entries[e] = calloc(IDS, sizeof *r.entries[e]);
        r.engines = e + 1;
        if (r.entries[e] == NULL || match_init(&r.matcher[e], &options[e]) != 0 ||
            match_tail_init(&r.tails[e], &options[e]) != 0)
            run_fail(&r, "engine %u cannot be made", e);
    }
    for (int id = 0; id < IDS; id++)
        run_forget(&r, id);
    for (; result->operations < operations && result->text[0] == '\0';
         result->operations++) {
        if (result->operations % PHASE == 0)
            run_phase(&r);
        run_operation(&r);
    }
    run_end(&r);
}
