/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - see check.h: iterates over a call's parameters and formats the messages.  The
 * tests of each kind are in check_kinds.c.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "pgas/core/progress/alive.h"
#include "pgas/core/core_state.h"
#include "pgas/core/check/check.h"
#include "pgas/core/check/check_kinds.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/hash.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"

#define STATE core_self.check

enum { LEVEL_ARGUMENTS = 1, LEVEL_MEETING = 2 };

enum same { SAME_NO, SAME_VALUE, SAME_LIST, SAME_OFFSET };
enum shown { SHOWN_INT, SHOWN_SIZE, SHOWN_BITS, SHOWN_POINTER };

struct kind {
    enum same same;
    enum shown shown;
    void (*test)(const struct check_param *p);
};

static const struct kind kinds[] = {
#define K(name, same, shown, test) {SAME_##same, SHOWN_##shown, check_##test},
    CHECK_KINDS(K)
#undef K
};

uint64_t check_value(const struct check_call *call, enum check_kind kind, uint64_t absent)
{
    for (int i = 0; i < call->n; i++)
        if (call->kind[i] == kind)
            return call->value[i];
    return absent;
}

uint64_t check_team_value(const struct check_call *call)
{
    uint64_t either = check_value(call, CHECK_TEAM_OR_NONE, 0);

    return check_value(call, CHECK_TEAM, check_value(call, CHECK_TEAM_DOOMED, either));
}

static void check_show(enum shown as, uint64_t value, char *text, size_t size)
{
    if (as == SHOWN_SIZE)
        snprintf(text, size, "%" PRIu64, value);
    else if (as == SHOWN_BITS)
        snprintf(text, size, "0x%" PRIx64, value);
    else if (as == SHOWN_POINTER)
        snprintf(text, size, value == 0 ? "NULL" : "0x%" PRIx64, value);
    else
        snprintf(text, size, "%" PRId64, (int64_t)value);
}

void check_bad(const struct check_param *p, const char *format, ...)
{
    char why[CHECK_TEXT_MAX], value[CHECK_VALUE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    check_show(kinds[p->call->kind[p->i]].shown, p->value, value, sizeof value);
    log_misuse("%s: argument %d '%s' = %s, but %s", p->call->fn, p->i + 1,
               p->call->name[p->i], value, why);
}

static void check_life(const struct check_call *call)
{
    if (pgas_self.life != LIFE_UP)
        log_misuse("%s: called %s", call->fn, peer_life_text());
}

static void check_thread(const struct check_call *call)
{
    if (pgas_self.thread_level > SHMEM_THREAD_FUNNELED ||
        pthread_equal(pgas_self.main_thread, pthread_self()))
        return;
    log_misuse(
        "%s: called by a thread other than the one that called shmem_init, but the "
        "thread level is %s; request SHMEM_THREAD_SERIALIZED or "
        "SHMEM_THREAD_MULTIPLE from shmem_init_thread",
        call->fn,
        pgas_self.thread_level == SHMEM_THREAD_SINGLE ? "SHMEM_THREAD_SINGLE"
                                                      : "SHMEM_THREAD_FUNNELED");
}

/* Checks the parameters whose kind is in [first, last). */
static void check_range(const struct check_call *call, int first, int last)
{
    for (int i = 0; i < call->n; i++)
        if (call->kind[i] >= first && call->kind[i] < last)
            kinds[call->kind[i]].test(&(struct check_param){call, i, call->value[i]});
}

static void check_arguments(const struct check_call *call)
{
    check_range(call, 0, CHECK_PE);
    check_range(call, CHECK_PE, CHECK_KINDS_END);
}

static void check_now(const struct check_call *call)
{
    unsigned level = pgas_self.env.debug;

    if (call->scope == CHECK_ANYTIME) {
        check_arguments(call);
        return;
    }
    check_life(call);
    if (level < LEVEL_ARGUMENTS)
        return;
    check_thread(call);
    check_arguments(call);
    if (level >= LEVEL_MEETING && call->scope >= CHECK_BY_WORLD && STATE.verify != NULL)
        STATE.verify(call);
}

void check_set_verify(void (*verify)(const struct check_call *call))
{
    STATE.verify = verify;
}

void check_call(struct check_call *call)
{
    /* Load once: another thread may remove the watcher. */
    const struct check_watcher *w = call->scope >= CHECK_BY_WORLD ? STATE.watcher : NULL;

    alive_stamp();
    if (w != NULL) { /* time stamp before the checks, which may synchronise PEs */
        call->site = pgas_thread.call_site;
        call->came = clock_ns();
    }
    if (pgas_self.checks)
        check_now(call);
    if (w != NULL)
        w->enter(call);
}

void check_return(struct check_call *call)
{
    const struct check_watcher *w = STATE.watcher;

    if (call->watch[0] != 0 && w != NULL)
        w->leave(call);
}

bool check_comparable(const struct check_call *call, int i, uint64_t *out)
{
    uint64_t value = call->value[i];
    enum same same = kinds[call->kind[i]].same;

    *out = value;
    if (same == SAME_OFFSET)
        *out = symaddr_encode((const void *)(uintptr_t)value);
    else if (same == SAME_LIST)
        *out = hash_add(HASH_START, (const int *)(uintptr_t)value,
                        check_value(call, CHECK_COUNT_INT, 0) * sizeof(int));
    return same != SAME_NO;
}

bool check_is_address(const struct check_call *call, int i)
{
    return kinds[call->kind[i]].same >= SAME_LIST;
}

void check_init(void)
{
    pgas_self.checks = pgas_self.life != LIFE_UP || pgas_self.env.debug > 0;
    pgas_self.checked =
        pgas_self.checks || STATE.watcher != NULL || pgas_self.alive != NULL;
    pgas_self.guarded = pgas_self.checked || pgas_self.ft != NULL;
}

void check_watch(const struct check_watcher *who)
{
    STATE.watcher = who;
    check_init();
}

bool check_deep(void)
{
    return pgas_self.env.debug >= LEVEL_MEETING;
}
