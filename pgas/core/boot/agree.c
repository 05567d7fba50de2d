/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c - see agree.h.  Uses: pgas.h, node.h, boot, env, log. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/base/timing.h"
#include "pgas/core/base/os.h"
#include "pgas/core/boot/agree.h"
#include "pgas/core/base/hash.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"

#define KEY "pgas.agree"

enum {
    ERROR_TEXT_MAX = 800,
    VALUE_SHOWN = 60,
    PES_SHOWN = 8,
};

_Static_assert((int)AGREE_ALL <= (int)NODE_SETTINGS,
               "a node_pe record has space for all settings");

/* PE 0's digests as published to the other nodes. */
struct settings {
    uint32_t count; /* AGREE_ALL; differs in another version of the library */
    uint32_t digest[NODE_SETTINGS];
};

static const char *const names[AGREE_ALL] = {
#define A(NAME, kind, field) #NAME,
    PGAS_ENV_ALIKE(A)
#undef A
        [AGREE_TABLE_NODE] = "COLL_TABLE",
    [AGREE_TABLE_REMOTE] = "COLL_TABLE",
};

/* Text of the settings that are not variables; NULL: use the environment. */
static const char *values[AGREE_ALL];

/* ---- digests --------------------------------------------------------------------- */

static uint64_t digest_string(const char *text)
{
    return hash_add(HASH_START, text, strlen(text));
}

static uint64_t digest_uint(uint64_t number)
{
    return hash_add(HASH_START, &number, sizeof number);
}

static uint64_t digest_flag(bool on)
{
    return digest_uint(on);
}

/* SHMEM_DEBUG must agree only on whether PEs compare their calls (level 2). */
static uint64_t digest_deep(unsigned level)
{
    return digest_uint(level >= 2);
}

static struct node_pe *agree_my_record(void)
{
    return &pgas_self.node->pe[pgas_self.local_rank];
}

void agree_set(enum agree what, uint64_t digest, const char *value)
{
    agree_my_record()->setting[what] = (uint32_t)(digest ^ digest >> 32);
    values[what] = value;
}

void agree_write(void)
{
#define A(NAME, kind, field)                                                             \
    agree_set(AGREE_##NAME, digest_##kind(pgas_self.env.field), NULL);
    PGAS_ENV_ALIKE(A)
#undef A
}

/* ---- the message ----------------------------------------------------------------- */

/* A message under construction; truncated to ERROR_TEXT_MAX. */
struct error_text {
    char text[ERROR_TEXT_MAX];
    size_t used;
};

static void agree_add(struct error_text *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void agree_add(struct error_text *s, const char *format, ...)
{
    size_t space = sizeof s->text - s->used;
    va_list args;

    va_start(args, format);
    int more = vsnprintf(s->text + s->used, space, format, args);
    va_end(args);
    if (more > 0)
        s->used += (size_t)more < space ? (size_t)more : space - 1;
}

/* Appends the value of a setting on this PE: SHMEM_ADAPT is "0" on PE 3, other than on */
static void agree_add_value(struct error_text *s, enum agree what)
{
    const char *value = values[what] != NULL ? values[what] : env_value(names[what]);

    agree_add(s, "%sSHMEM_%s is ", s->used > 0 ? "; " : "", names[what]);
    if (value == NULL)
        agree_add(s, "not set");
    else
        agree_add(s, "\"%.*s\"", VALUE_SHOWN, value);
    agree_add(s, " on PE %d, other than on", pgas_self.me);
}

/* Appends a PE to a list of *n PEs, of which PES_SHOWN are shown. */
static void agree_add_pe(struct error_text *s, int *n, uint32_t pe)
{
    if (*n < PES_SHOWN)
        agree_add(s, "%s PE %u", *n > 0 ? "," : "", pe);
    if (*n == PES_SHOWN)
        agree_add(s, ", ..");
    ++*n;
}

/* One PE reports the error and ends the job.  The others delay: a launcher that sees one
 * of them exit might kill the reporting PE before it has printed the message. */
static _Noreturn void agree_refuse(bool report, const char *error_text)
{
    if (!report)
        os_sleep(TIMING_REFUSED);
    log_die("shmem_init: these settings must be the same on all PEs, as oshrun -x sets "
            "them: %s",
            error_text);
}

/* ---- within the node ------------------------------------------------------------- */

/* Appends the PEs of the node whose value differs from that of local rank 0.  True if
 * there are any. */
static bool agree_add_node(struct error_text *s, const struct boot *b, enum agree what)
{
    const struct node_pe *pe = pgas_self.node->pe;
    int others = 0;

    for (uint32_t i = 1; i < b->local_size; i++) {
        if (pe[i].setting[what] == pe[0].setting[what])
            continue;
        if (others == 0)
            agree_add_value(s, what);
        agree_add_pe(s, &others, b->local_pes[i]);
    }
    return others > 0;
}

static _Noreturn void agree_refuse_node(const struct boot *b)
{
    struct error_text s = {.used = 0};

    for (int what = 0; what < AGREE_TABLE_REMOTE; what++)
        agree_add_node(&s, b, (enum agree)what);
    agree_refuse(b->local_rank == 0, s.text);
}

void agree_check_node(const struct boot *b)
{
    const struct node_pe *pe = pgas_self.node->pe;

    for (uint32_t i = 1; i < b->local_size; i++)
        if (memcmp(pe[i].setting, pe[0].setting, sizeof pe[0].setting) != 0)
            agree_refuse_node(b);
}

/* ---- between nodes --------------------------------------------------------------- */

void agree_publish(const struct boot *b)
{
    struct settings mine = {.count = AGREE_ALL};

    if (b->nnodes < 2 || b->rank != 0)
        return;
    memcpy(mine.digest, agree_my_record()->setting, sizeof mine.digest);
    if (boot_put(BOOT_ALL, KEY, &mine, sizeof mine) != 0)
        log_die("shmem_init: cannot publish the settings of PE 0: %s", boot_error());
}

/* AGREE_TABLE_NEAR may differ between nodes. */
static void agree_compare(const struct settings *first)
{
    struct error_text s = {.used = 0};

    for (int what = 0; what < AGREE_ALL; what++) {
        int others = 0;
        if (what == AGREE_TABLE_NODE ||
            first->digest[what] == agree_my_record()->setting[what])
            continue;
        agree_add_value(&s, (enum agree)what);
        agree_add_pe(&s, &others, 0);
    }
    if (s.used > 0)
        agree_refuse(true, s.text);
}

void agree_check_internode(const struct boot *b)
{
    struct settings first;

    if (b->node == 0 || b->rank != b->local_pes[0])
        return;
    if (boot_get(0, KEY, &first, sizeof first) != (ssize_t)sizeof first ||
        first.count != AGREE_ALL)
        log_die("shmem_init: cannot get the settings of PE 0 (%s); do all nodes have the "
                "same version of libshmem?",
                boot_error());
    agree_compare(&first);
}
