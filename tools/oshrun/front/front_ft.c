/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_ft.c - see front_ft.h.
 *
 * Uses daemons.h, exit_status.c, ranks.c, loop.c.
 *
 * A PE that others consider failed but whose process has not ended is a suspect: it is
 * killed, and its end then tells how it failed.  If a node ends none of its PEs although
 * all of them are suspects, the node is lost.
 */
#include "config.h"

#include "tools/oshrun/front/exit_status.h"
#include "tools/oshrun/front/front_ft.h"
#include "tools/oshrun/front/front_int.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/ranks.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>

#define UNFINISHED_MS 1000 /* as without SHMEM_FT=continue: others may exit soon */
#define SUSPECT_MS    1000 /* for a node to end its suspects */
#define REASON_BYTES  320
#define TEXT_BYTES    (ERROR_BYTES - 100)
#define TEXT_REST     40 /* ", and 65535 more" */

enum front_pe_state {
    FRONT_PE_RUNS,
    FRONT_PE_PENDING, /* exited with status 0 without shmem_finalize or shmem_init: has
                         failed, unless all others exit soon or a descendant is the PE */
    FRONT_PE_SUSPECT,
    FRONT_PE_DONE,
    FRONT_PE_FAILED,
};

struct front_pe {
    enum front_pe_state state;
    uint32_t node;
    int32_t pid;
    bool ended; /* its process, or its node is lost */
    bool lost;  /* with its node */
    bool connected;
    bool left; /* shmem_finalize */
    bool signalled;
    int code;
    uint64_t ended_ns;
};

/* ---- failures --------------------------------------------------------------------- */

static struct daemon_end front_ft_end_of(const struct front *f, uint32_t rank)
{
    const struct front_pe *pe = &f->ft.pe[rank];
    return (struct daemon_end){.rank = rank,
                               .pid = pe->pid,
                               .signalled = pe->signalled,
                               .code = pe->code,
                               .connected = pe->connected,
                               .stage_ns[NODE_STAGE_LEAVE] = pe->left};
}

static void front_ft_mark(struct front *f, uint32_t rank)
{
    struct front_pe *pe = &f->ft.pe[rank];
    const struct daemon_end end = front_ft_end_of(f, rank);
    if (f->ft.failed++ == 0)
        f->ft.first_status = pe->lost ? FRONT_EXIT_ERROR : exit_status_code(&end);
    pe->state = FRONT_PE_FAILED;
}

/* A PE has failed on its own. */
static void front_ft_fail(struct front *f, uint32_t rank)
{
    char why[REASON_BYTES];
    const struct daemon_end end = front_ft_end_of(f, rank);
    front_ft_mark(f, rank);
    daemons_tell_failed(f->daemons, WIRE_NONE, &rank, 1);
    if (!f->o->verbose)
        return;
    exit_status_text(&end, why, sizeof why);
    front_say(f, "%s on %s; the job continues", why,
              f->job.node[f->ft.pe[rank].node].name);
}

/* ---- PEs that have not finalized -------------------------------------------------- */

static void front_ft_await_others(struct front *f)
{
    if (!f->ft.unfinished.running)
        loop_after(&f->loop, &f->ft.unfinished, UNFINISHED_MS);
}

static void front_ft_on_unfinished(void *arg)
{
    struct front *f = arg;
    uint64_t now = loop_now_ns();
    if (front_is_decided(f))
        return;
    for (uint32_t i = 0; i < f->job.npes && f->ended < f->job.npes; i++) {
        const struct front_pe *pe = &f->ft.pe[i];
        if (pe->state != FRONT_PE_PENDING || !(pe->connected || f->connected))
            continue;
        if (now - pe->ended_ns >= (uint64_t)UNFINISHED_MS * NS_PER_MS)
            front_ft_fail(f, i);
        else
            front_ft_await_others(f);
    }
}

/* A descendant of a process that has exited is the PE. */
void front_ft_connected(struct front *f, uint32_t rank)
{
    struct front_pe *pe = &f->ft.pe[rank];
    pe->connected = true;
    if (pe->state == FRONT_PE_PENDING)
        pe->state = FRONT_PE_RUNS;
    for (uint32_t i = 0; i < f->job.npes; i++)
        if (f->ft.pe[i].state == FRONT_PE_PENDING)
            front_ft_await_others(f);
}

void front_ft_finalized(struct front *f, uint32_t rank)
{
    struct front_pe *pe = &f->ft.pe[rank];
    if (pe->state == FRONT_PE_PENDING || (pe->state == FRONT_PE_RUNS && pe->ended))
        pe->state = FRONT_PE_DONE;
}

/* ---- events ----------------------------------------------------------------------- */

/* The exit of a PE that has not failed. */
static void front_ft_exited(struct front *f, const struct daemon_end *end)
{
    struct front_pe *pe = &f->ft.pe[end->rank];
    char why[REASON_BYTES];
    enum exit_status s = exit_status_classify(end);
    bool pending = s == EXIT_STATUS_WAIT || s == EXIT_STATUS_ABSENT;
    pe->state = pending ? FRONT_PE_PENDING : FRONT_PE_DONE;
    if (pending) {
        if (pe->connected || f->connected)
            front_ft_await_others(f);
    } else if (s != EXIT_STATUS_GOOD) {
        exit_status_text(end, why, sizeof why);
        front_say(f, "%s", why);
        front_set_status(f, exit_status_code(end));
    }
}

void front_ft_ended(struct front *f, const struct daemon_end *end)
{
    struct front_pe *pe = &f->ft.pe[end->rank];
    bool failed = end->failed || pe->state == FRONT_PE_SUSPECT ||
                  (exit_status_classify(end) == EXIT_STATUS_END && !end->finalized);
    pe->pid = end->pid;
    pe->ended = true;
    pe->ended_ns = loop_now_ns();
    pe->connected = end->connected;
    pe->left = end->stage_ns[NODE_STAGE_LEAVE] != 0;
    pe->signalled = end->signalled;
    pe->code = end->code;
    if (pe->state == FRONT_PE_FAILED)
        return;
    if (failed)
        front_ft_fail(f, end->rank);
    else
        front_ft_exited(f, end);
}

void front_ft_lost(struct front *f, uint32_t node, uint32_t live, const char *why)
{
    const struct job_node *jn = &f->job.node[node];
    uint32_t *rank = mem_calloc(jn->npes, sizeof *rank), n = 0;
    char list[RANKS_TEXT];
    f->ended += live;
    for (uint32_t i = 0; i < jn->npes; i++) {
        struct front_pe *pe = &f->ft.pe[jn->rank[i]];
        if (pe->ended)
            continue;
        pe->ended = pe->lost = true;
        if (pe->state != FRONT_PE_FAILED && !front_is_decided(f))
            front_ft_mark(f, jn->rank[i]);
        rank[n++] = jn->rank[i];
    }
    daemons_tell_failed(f->daemons, node, rank, n);
    ranks_text(rank, n, list);
    if (f->o->verbose && n > 0 && !front_is_decided(f))
        front_say(f, "the node daemon on %s %s; PE %s failed; the job continues",
                  jn->name, why, list);
    free(rank);
}

/* ---- suspects --------------------------------------------------------------------- */

static bool front_ft_is_hopeless(const struct front *f, const struct job_node *jn)
{
    uint32_t suspects = 0;
    for (uint32_t i = 0; i < jn->npes; i++) {
        const struct front_pe *pe = &f->ft.pe[jn->rank[i]];
        if (!pe->ended && pe->state != FRONT_PE_SUSPECT)
            return false;
        suspects += pe->state == FRONT_PE_SUSPECT;
    }
    return suspects > 0;
}

static void front_ft_on_suspects(void *arg)
{
    struct front *f = arg;
    for (uint32_t i = 0; i < f->job.nnodes; i++)
        if (front_ft_is_hopeless(f, &f->job.node[i]))
            daemons_drop(f->daemons, i, "does not end PEs that others consider failed");
}

/* If two nodes report each other, because only their agents cannot reach each other, the
 * first report counts: a node whose PEs are suspects has no say. */
static bool front_ft_is_suspect(const struct front *f, const struct job_node *jn)
{
    for (uint32_t i = 0; i < jn->npes; i++)
        if (f->ft.pe[jn->rank[i]].state == FRONT_PE_SUSPECT)
            return true;
    return false;
}

void front_ft_reported(struct front *f, uint32_t node, const uint32_t *rank,
                       uint32_t count)
{
    if (front_ft_is_suspect(f, &f->job.node[node]))
        return;
    uint32_t *suspect = mem_calloc(count, sizeof *suspect), n = 0;
    for (uint32_t i = 0; i < count && !front_is_decided(f); i++) {
        struct front_pe *pe = &f->ft.pe[rank[i]];
        if (pe->state == FRONT_PE_PENDING || (pe->state == FRONT_PE_RUNS && pe->ended)) {
            front_ft_fail(f, rank[i]);
        } else if (pe->state == FRONT_PE_RUNS) {
            pe->state = FRONT_PE_SUSPECT;
            suspect[n++] = rank[i];
        }
    }
    if (n > 0) {
        daemons_tell_failed(f->daemons, WIRE_NONE, suspect, n);
        daemons_kill(f->daemons, suspect, n);
        loop_after(&f->loop, &f->ft.suspects, SUSPECT_MS);
    }
    free(suspect);
}

/* ---- summary ---------------------------------------------------------------------- */

static bool front_ft_is_alike(const struct front_pe *a, const struct front_pe *b)
{
    return a->state == b->state && a->node == b->node && a->lost == b->lost &&
           (a->lost ||
            (a->signalled == b->signalled && a->code == b->code &&
             (a->code != 0 || (a->connected == b->connected && a->left == b->left))));
}

/* "killed by signal 9 on n0" */
static void front_ft_reason(const struct front *f, const struct front_pe *pe,
                            char text[REASON_BYTES])
{
    const char *node = f->job.node[pe->node].name;
    int n;
    if (pe->lost)
        n = snprintf(text, REASON_BYTES, "node %s lost", node);
    else if (pe->signalled)
        n = snprintf(text, REASON_BYTES, "killed by signal %d", pe->code);
    else if (pe->code != 0)
        n = snprintf(text, REASON_BYTES, "exited with status %d", pe->code);
    else
        n = snprintf(text, REASON_BYTES, "%s",
                     exit_status_missing(pe->connected, pe->left));
    if (!pe->lost && f->job.nnodes > 1 && n > 0 && n < REASON_BYTES)
        snprintf(text + n, REASON_BYTES - (size_t)n, " on %s", node);
}

/* "PE 4,5 (node n2 lost)": the PEs that failed as the first one did. */
static void front_ft_group(const struct front *f, const uint32_t *rank, uint32_t count,
                           char *text, size_t size)
{
    char list[RANKS_TEXT], reason[REASON_BYTES];
    const struct front_pe *pe = &f->ft.pe[rank[0]];
    ranks_text(rank, count, list);
    front_ft_reason(f, pe, reason);
    if (count == 1 && !pe->lost)
        snprintf(text, size, "PE %s (pid %d, %s)", list, (int)pe->pid, reason);
    else
        snprintf(text, size, "PE %s (%s)", list, reason);
}

/* All groups of failed PEs; those that do not fit are only counted. */
static void front_ft_list(const struct front *f, char text[TEXT_BYTES])
{
    char group[RANKS_TEXT + REASON_BYTES + TEXT_REST];
    uint32_t *rank = mem_calloc(f->job.npes, sizeof *rank), shown = 0;
    bool *done = mem_calloc(f->job.npes, sizeof *done);
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < f->job.npes && shown < f->ft.failed; i++) {
        uint32_t n = 0;
        if (f->ft.pe[i].state != FRONT_PE_FAILED || done[i])
            continue;
        for (uint32_t k = i; k < f->job.npes; k++)
            if (!done[k] && front_ft_is_alike(&f->ft.pe[i], &f->ft.pe[k])) {
                done[k] = true;
                rank[n++] = k;
            }
        front_ft_group(f, rank, n, group, sizeof group);
        int more = snprintf(text + len, TEXT_BYTES - TEXT_REST - len, "%s%s",
                            len > 0 ? ", " : "", group);
        if (more < 0 || (size_t)more >= TEXT_BYTES - TEXT_REST - len)
            break;
        len += (size_t)more;
        shown += n;
    }
    if (shown < f->ft.failed)
        snprintf(text + len, TEXT_REST, ", and %u more", f->ft.failed - shown);
    free(rank);
    free(done);
}

void front_ft_print(struct front *f)
{
    char list[TEXT_BYTES];
    if (f->ft.pe == NULL || f->ft.failed == 0)
        return;
    front_ft_list(f, list);
    if (front_is_decided(f))
        front_say(f, "%u PE%s had failed before: %s", f->ft.failed,
                  front_plural(f->ft.failed), list);
    else if (f->ft.failed == f->job.npes)
        front_say(f, "no PE has survived: %s", list);
    else
        front_say(f, "the job survived %u failed PE%s: %s", f->ft.failed,
                  front_plural(f->ft.failed), list);
}

/* ---- start and end ---------------------------------------------------------------- */

void front_ft_open(struct front *f)
{
    if (!f->job.ft.on)
        return;
    f->ft.pe = mem_calloc(f->job.npes, sizeof *f->ft.pe);
    for (uint32_t i = 0; i < f->job.nnodes; i++)
        for (uint32_t k = 0; k < f->job.node[i].npes; k++)
            f->ft.pe[f->job.node[i].rank[k]].node = i;
    f->ft.unfinished = (struct loop_timer){.fn = front_ft_on_unfinished, .arg = f};
    f->ft.suspects = (struct loop_timer){.fn = front_ft_on_suspects, .arg = f};
}

void front_ft_close(struct front *f)
{
    free(f->ft.pe);
}

void front_ft_finish(struct front *f)
{
    if (f->ft.pe == NULL)
        return;
    loop_cancel(&f->loop, &f->ft.unfinished);
    loop_cancel(&f->loop, &f->ft.suspects);
    if (!front_is_decided(f) && f->ft.failed == f->job.npes)
        front_set_status(f, f->ft.first_status);
}
