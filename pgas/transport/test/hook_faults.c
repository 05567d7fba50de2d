/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_faults.c - parses SHMEM_FAULTS (see hook_int.h). Uses: transport.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/test/hook.h"
#include "pgas/transport/test/hook_int.h"
#include "pgas/core/base/number.h"

enum { WORD_MAX = HOOK_PATH_MAX, PERCENT_MAX = 99, SEED_DEFAULT = 1 };

struct reader {
    struct hook_faults *faults;
    int me, npes;
    char *why;
};

/* Parse one setting; value is the text after "=", or NULL if there is no "=". False: it
 * is malformed; why may be set. */
typedef bool read_word(struct reader *reader, const char *value);

/* Parse a number; returns its end, or NULL: no number. */
static const char *hook_faults_number(const char *text, uint64_t *n)
{
    size_t digits = text == NULL ? 0 : number_scan(text, strlen(text), n);

    return digits == 0 ? NULL : text + digits;
}

static bool hook_faults_seed(struct reader *r, const char *value)
{
    const char *end = hook_faults_number(value, &r->faults->seed);

    return end != NULL && *end == '\0';
}

static bool hook_faults_delay(struct reader *r, const char *value)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } unit[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}};
    const char *end = hook_faults_number(value, &r->faults->delay_ns);

    for (size_t i = 0; end != NULL && i < sizeof unit / sizeof unit[0]; i++)
        if (strcmp(end, unit[i].text) == 0)
            return !__builtin_mul_overflow(r->faults->delay_ns, unit[i].ns,
                                           &r->faults->delay_ns);
    return false;
}

static bool hook_faults_reorder(struct reader *r, const char *value)
{
    r->faults->reorder = true;
    return value == NULL;
}

static bool hook_faults_eagain(struct reader *r, const char *value)
{
    uint64_t n;
    const char *end = hook_faults_number(value, &n);

    if (end == NULL || *end != '\0' || n > PERCENT_MAX)
        return false;
    r->faults->eagain = (unsigned)n;
    return true;
}

static bool hook_faults_add_rule(struct reader *r, enum hook_fault fault, uint64_t pe,
                                 uint64_t at)
{
    struct hook_faults *c = r->faults;

    if (pe >= (uint64_t)r->npes) {
        snprintf(r->why, TRANSPORT_TEXT_MAX,
                 "SHMEM_FAULTS: PE %llu does not exist; the job has PEs 0..%d",
                 (unsigned long long)pe, r->npes - 1);
        return false;
    }
    if (c->rules == HOOK_RULES_MAX) {
        snprintf(r->why, TRANSPORT_TEXT_MAX,
                 "SHMEM_FAULTS has more than %d drop, fail and kill settings",
                 HOOK_RULES_MAX);
        return false;
    }
    c->rule[c->rules++] = (struct hook_rule){.fault = fault, .pe = (int)pe, .at = at};
    return true;
}

/* Parse "PE@N", or, if `any`, "N" for this PE. */
static bool hook_faults_rule(struct reader *r, const char *value, enum hook_fault fault,
                             bool any)
{
    uint64_t pe = (uint64_t)r->me, at;
    const char *end = hook_faults_number(value, &at);

    if (end != NULL && *end == '@') {
        pe = at;
        end = hook_faults_number(end + 1, &at);
    } else if (!any) {
        return false;
    }
    if (end == NULL || *end != '\0' || at == 0)
        return false;
    return hook_faults_add_rule(r, fault, pe, at);
}

static bool hook_faults_drop(struct reader *r, const char *value)
{
    return hook_faults_rule(r, value, FAULT_DROP, false);
}

static bool hook_faults_fail(struct reader *r, const char *value)
{
    return hook_faults_rule(r, value, FAULT_FAIL, false);
}

static bool hook_faults_kill(struct reader *r, const char *value)
{
    return hook_faults_rule(r, value, FAULT_KILL, true);
}

static bool hook_faults_trace(struct reader *r, const char *value)
{
    if (value == NULL || *value == '\0')
        return false;
    const char *mark = strstr(value, "%p");
    int len;
    if (mark == NULL)
        len = snprintf(r->faults->trace, HOOK_PATH_MAX, "%s", value);
    else
        len = snprintf(r->faults->trace, HOOK_PATH_MAX, "%.*s%d%s", (int)(mark - value),
                       value, r->me, mark + 2);
    r->faults->trace_alone = mark != NULL;
    return len < HOOK_PATH_MAX;
}

struct fault_word {
    const char *name, *form;
    read_word *read;
};

static const struct fault_word words[] = {
    {"seed", "seed=N", hook_faults_seed},
    {"delay", "delay=N, with ns, us or ms", hook_faults_delay},
    {"reorder", "reorder", hook_faults_reorder},
    {"eagain", "eagain=PERCENT, 0..99", hook_faults_eagain},
    {"drop", "drop=PE@N, N from 1", hook_faults_drop},
    {"fail", "fail=PE@N, N from 1", hook_faults_fail},
    {"kill", "kill=N or kill=PE@N, N from 1", hook_faults_kill},
    {"trace", "trace=FILE", hook_faults_trace},
};

/* bytes of an invalid setting that a message contains */
enum { SHOWN_MAX = 40 };

static bool hook_faults_word(struct reader *r, char *word)
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
                     "SHMEM_FAULTS: '%.*s' is malformed; use %s", SHOWN_MAX, word,
                     words[i].form);
        return false;
    }
    snprintf(
        r->why, TRANSPORT_TEXT_MAX,
        "SHMEM_FAULTS: '%.*s' is unknown; use seed=, delay=, reorder, eagain=, drop=, "
        "fail=, kill= or trace=",
        SHOWN_MAX, word);
    return false;
}

int hook_faults_parse(const char *text, int me, int npes, struct hook_faults *faults,
                      char why[TRANSPORT_TEXT_MAX])
{
    struct reader r = {.faults = faults, .me = me, .npes = npes, .why = why};
    char word[WORD_MAX];

    memset(faults, 0, sizeof *faults);
    faults->seed = SEED_DEFAULT;
    *why = '\0';
    while (text != NULL && *text != '\0') {
        size_t len = strcspn(text, ",");
        if (len >= sizeof word) {
            snprintf(why, TRANSPORT_TEXT_MAX,
                     "SHMEM_FAULTS has a setting of over %d bytes", WORD_MAX - 1);
            return -EINVAL;
        }
        memcpy(word, text, len);
        word[len] = '\0';
        if (!hook_faults_word(&r, word))
            return -EINVAL;
        text += len;
        text += *text == ',';
    }
    return 0;
}

int hook_check(const char *text, int me, int npes, char why[TRANSPORT_TEXT_MAX])
{
    struct hook_faults faults;

    return hook_faults_parse(text, me, npes, &faults, why);
}
