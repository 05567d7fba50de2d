/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_chaos.c - see hook_int.h.  Uses: transport.h. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/test/hook.h"
#include "pgas/transport/test/hook_int.h"

enum { WORD_MAX = CHAOS_PATH_MAX, PERCENT_MAX = 99, SEED_DEFAULT = 1 };

struct reader {
    struct chaos *chaos;
    int me, npes;
    char *why;
};

/* One word; value is what follows "=", or NULL.  False: it is wrong; why may be filled.
 */
typedef bool read_word(struct reader *reader, const char *value);

/* A number at the start of text; where it ends, or NULL if there is none. */
static const char *number(const char *text, uint64_t *n)
{
    char *end;

    if (text == NULL || !isdigit((unsigned char)*text))
        return NULL;
    errno = 0;
    *n = strtoull(text, &end, 10);
    return errno != 0 ? NULL : end;
}

static bool read_seed(struct reader *r, const char *value)
{
    const char *end = number(value, &r->chaos->seed);

    return end != NULL && *end == '\0';
}

static bool read_delay(struct reader *r, const char *value)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } unit[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}};
    const char *end = number(value, &r->chaos->delay_ns);

    for (size_t i = 0; end != NULL && i < sizeof unit / sizeof unit[0]; i++)
        if (strcmp(end, unit[i].text) == 0)
            return !__builtin_mul_overflow(r->chaos->delay_ns, unit[i].ns,
                                           &r->chaos->delay_ns);
    return false;
}

static bool read_reorder(struct reader *r, const char *value)
{
    r->chaos->reorder = true;
    return value == NULL;
}

static bool read_eagain(struct reader *r, const char *value)
{
    uint64_t n;
    const char *end = number(value, &n);

    if (end == NULL || *end != '\0' || n > PERCENT_MAX)
        return false;
    r->chaos->eagain = (unsigned)n;
    return true;
}

static bool add_rule(struct reader *r, enum chaos_fate fate, uint64_t pe, uint64_t at)
{
    struct chaos *c = r->chaos;

    if (pe >= (uint64_t)r->npes) {
        snprintf(r->why, TRANSPORT_TEXT_MAX,
                 "SHMEM_CHAOS names PE %llu, but the job has PEs 0..%d",
                 (unsigned long long)pe, r->npes - 1);
        return false;
    }
    if (c->rules == CHAOS_RULES_MAX) {
        snprintf(r->why, TRANSPORT_TEXT_MAX,
                 "SHMEM_CHAOS has more than %d words drop, fail and kill",
                 CHAOS_RULES_MAX);
        return false;
    }
    c->rule[c->rules++] = (struct chaos_rule){.fate = fate, .pe = (int)pe, .at = at};
    return true;
}

/* "PE@N"; or "N" alone where any is true: then this PE. */
static bool read_rule(struct reader *r, const char *value, enum chaos_fate fate, bool any)
{
    uint64_t pe = (uint64_t)r->me, at;
    const char *end = number(value, &at);

    if (end != NULL && *end == '@') {
        pe = at;
        end = number(end + 1, &at);
    } else if (!any) {
        return false;
    }
    if (end == NULL || *end != '\0' || at == 0)
        return false;
    return add_rule(r, fate, pe, at);
}

static bool read_drop(struct reader *r, const char *value)
{
    return read_rule(r, value, CHAOS_DROP, false);
}

static bool read_fail(struct reader *r, const char *value)
{
    return read_rule(r, value, CHAOS_FAIL, false);
}

static bool read_kill(struct reader *r, const char *value)
{
    return read_rule(r, value, CHAOS_KILL, true);
}

static bool read_trace(struct reader *r, const char *value)
{
    if (value == NULL || *value == '\0')
        return false;
    const char *mark = strstr(value, "%p");
    int len;
    if (mark == NULL)
        len = snprintf(r->chaos->trace, CHAOS_PATH_MAX, "%s", value);
    else
        len = snprintf(r->chaos->trace, CHAOS_PATH_MAX, "%.*s%d%s", (int)(mark - value),
                       value, r->me, mark + 2);
    r->chaos->trace_alone = mark != NULL;
    return len < CHAOS_PATH_MAX;
}

static const struct {
    const char *name, *form;
    read_word *read;
} words[] = {
    {"seed", "seed=N", read_seed},
    {"delay", "delay=N, with ns, us or ms", read_delay},
    {"reorder", "reorder", read_reorder},
    {"eagain", "eagain=PERCENT, 0..99", read_eagain},
    {"drop", "drop=PE@N, N from 1", read_drop},
    {"fail", "fail=PE@N, N from 1", read_fail},
    {"kill", "kill=N or kill=PE@N, N from 1", read_kill},
    {"trace", "trace=FILE", read_trace},
};

/* Longest part of a wrong word that a sentence shows. */
enum { SHOWN_MAX = 40 };

static bool read_one(struct reader *r, char *word)
{
    char *value = strchr(word, '=');
    size_t len = value != NULL ? (size_t)(value - word) : strlen(word);

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].name) != len || strncmp(word, words[i].name, len) != 0)
            continue;
        if (words[i].read(r, value != NULL ? value + 1 : NULL))
            return true;
        if (*r->why == '\0')
            snprintf(r->why, TRANSPORT_TEXT_MAX,
                     "SHMEM_CHAOS has '%.*s', but the form is %s", SHOWN_MAX, word,
                     words[i].form);
        return false;
    }
    snprintf(r->why, TRANSPORT_TEXT_MAX,
             "SHMEM_CHAOS has '%.*s', but its words are seed=, delay=, reorder, eagain=, "
             "drop=, fail=, kill= and trace=",
             SHOWN_MAX, word);
    return false;
}

int chaos_parse(const char *text, int me, int npes, struct chaos *chaos,
                char why[TRANSPORT_TEXT_MAX])
{
    struct reader r = {.chaos = chaos, .me = me, .npes = npes, .why = why};
    char word[WORD_MAX];

    memset(chaos, 0, sizeof *chaos);
    chaos->seed = SEED_DEFAULT;
    *why = '\0';
    while (text != NULL && *text != '\0') {
        size_t len = strcspn(text, ",");
        if (len >= sizeof word) {
            snprintf(why, TRANSPORT_TEXT_MAX, "SHMEM_CHAOS has a word of over %d bytes",
                     WORD_MAX - 1);
            return -EINVAL;
        }
        memcpy(word, text, len);
        word[len] = '\0';
        if (!read_one(&r, word))
            return -EINVAL;
        text += len;
        text += *text == ',';
    }
    return 0;
}

int hook_check(const char *text, int me, int npes, char why[TRANSPORT_TEXT_MAX])
{
    struct chaos chaos;

    return chaos_parse(text, me, npes, &chaos, why);
}
