/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stacks.c - the stacks of the PEs, by gdb or eu-stack.
 *
 * Uses tool.c, loop.c, pe_report.c.  Used by daemon_wire.c.
 *
 * At most RUNS_MAX debuggers run at once, each for at most RUN_MS, all for at most
 * ALL_MS.  Equal texts are reported once, with the list of their PEs: if 256 PEs hang,
 * the few that are elsewhere are the interesting ones.
 */
#include "config.h"

#include "tools/oshrun/daemon/daemon_int.h"
#include "tools/oshrun/daemon/tool.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX   3     /* concurrent debuggers */
#define RUN_MS     15000 /* for one of them */
#define ALL_MS     30000 /* for all of them */
#define TEXT_MAX   65536 /* of one PE's stack */
#define PID_DIGITS 16
#define PLACE_MAX  768
#define GDB_COMMANDS                                                                     \
    "-ex", "info sharedlibrary", "-ex", "set print frame-info location-and-address",     \
        "-ex", "thread apply all bt"

/* The debugger of one PE. */
struct stack {
    struct stacks *all;
    uint32_t rank;
    pid_t target;     /* 0: the PE had ended */
    struct tool tool; /* its output, later the frames; empty: none in time */
    char place[PLACE_MAX];
};

struct stacks {
    struct daemon *d;
    struct stack *stack;
    uint32_t count, next;
    uint32_t busy;
    bool verbose;
    const char *debugger; /* NULL: none */
    char path[PATH_MAX];
    struct loop_timer late;
};

/* ---- printing --------------------------------------------------------------------- */

static bool stacks_is_thread(const char *line)
{
    return strncmp(line, "Thread ", 7) == 0 || strncmp(line, "TID ", 4) == 0;
}

/* Removes what differs between processes at the same position: addresses and thread
 * numbers. */
static void stacks_normalize(char *line)
{
    char *to = line;
    if (stacks_is_thread(line)) {
        line[strcspn(line, " ")] = '\0';
        return;
    }
    for (char *from = line; *from != '\0';) {
        if (from[0] == '0' && from[1] == 'x') {
            from += 2 + strspn(from + 2, "0123456789abcdef");
            from += strncmp(from, " in ", 4) == 0 ? 4 : 0;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* Replaces the debugger's output by its frames, one per line. */
static void stacks_tidy(struct stack *k)
{
    char *rest = k->tool.text, *line, *out;
    size_t len;
    FILE *f = rest != NULL ? open_memstream(&out, &len) : NULL;
    if (f == NULL)
        return;
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (line[0] != '#' && !stacks_is_thread(line) && strncmp(line, "    ", 4) != 0)
            continue;
        stacks_normalize(line);
        fprintf(f, "    %s\n", line);
    }
    if (fclose(f) != 0)
        return;
    free(k->tool.text);
    k->tool.text = out;
    k->tool.len = len;
}

/* The text of a PE in a kind of report; NULL: none. */
static const char *stacks_text_of(const struct stack *k, enum daemon_line line)
{
    if (line == DAEMON_LINE_PLACE || k->target == 0)
        return line == DAEMON_LINE_PLACE ? k->place : NULL;
    return k->tool.len > 0 ? k->tool.text : "    the debugger printed none in time";
}

/* Reports each text once, with all PEs that have it.  rank: space for all. */
static void stacks_emit(struct stacks *s, enum daemon_line line, uint32_t *rank)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const char *text = stacks_text_of(&s->stack[i], line);
        uint32_t n = 0;
        for (uint32_t k = 0; k < s->count && text != NULL; k++) {
            const char *other = stacks_text_of(&s->stack[k], line);
            if (other == NULL || strcmp(text, other) != 0)
                continue;
            if (k < i)
                break; /* reported with PE k */
            rank[n++] = s->stack[k].rank;
        }
        if (n > 0)
            daemon_send_line(s->d, line, rank, n, text);
    }
}

static void stacks_emit_all(struct stacks *s)
{
    uint32_t *rank = mem_calloc(s->count + 1, sizeof *rank);
    for (uint32_t i = 0; i < s->count; i++) {
        struct stack *k = &s->stack[i];
        report_place(&s->d->pe[i], k->tool.text, k->place, sizeof k->place);
        stacks_tidy(k);
    }
    stacks_emit(s, DAEMON_LINE_PLACE, rank);
    if (s->verbose && s->debugger != NULL)
        stacks_emit(s, DAEMON_LINE_STACK, rank);
    free(rank);
}

/* ---- running ---------------------------------------------------------------------- */

/* All debuggers have ended, or the time for all is over. */
static void stacks_done(void *arg)
{
    struct stacks *s = arg;
    struct daemon *d = s->d;
    stacks_emit_all(s);
    stacks_free(d);
    daemon_send_u32(d, WIRE_REPORTED, d->report);
}

static void stacks_start_more(struct stacks *s);

static void stacks_on_end(void *arg, bool in_time)
{
    struct stack *k = arg;
    (void)in_time;
    k->all->busy--;
    stacks_start_more(k->all);
}

static void stacks_start_debugger(struct stacks *s, struct stack *k)
{
    char pid[PID_DIGITS];
    snprintf(pid, sizeof pid, "%d", (int)k->target);
    const char *gdb[] = {"gdb", "-nx", "-batch", "-p", pid, GDB_COMMANDS, NULL};
    const char *eu[] = {"eu-stack", "-i", "-m", "-s", "-p", pid, NULL};
    k->tool = (struct tool){.loop = s->d->loop,
                            .max = TEXT_MAX,
                            .ms = RUN_MS,
                            .reaper_fd = s->d->reaper->fd,
                            .files = s->d->files,
                            .ended = stacks_on_end,
                            .arg = k};
    if (tool_start(&k->tool, s->path, strcmp(s->debugger, "gdb") == 0 ? gdb : eu) == 0)
        s->busy++;
}

static void stacks_start_more(struct stacks *s)
{
    for (; s->busy < RUNS_MAX && s->next < s->count; s->next++)
        if (s->stack[s->next].target > 0)
            stacks_start_debugger(s, &s->stack[s->next]);
    if (s->busy == 0)
        stacks_done(s);
}

static struct stacks *stacks_make(struct daemon *d)
{
    struct stacks *s = mem_calloc(1, sizeof *s);
    s->d = d;
    s->stack = mem_calloc(d->npes, sizeof *s->stack);
    s->count = d->npes;
    for (uint32_t i = 0; i < s->count; i++) {
        s->stack[i].all = s;
        s->stack[i].rank = d->pe[i].rank;
        s->stack[i].target = report_pid(&d->pe[i]);
    }
    s->late = (struct loop_timer){.fn = stacks_done, .arg = s};
    return s;
}

/* Without a debugger, no PE has a stack. */
static void stacks_find_debugger(struct stacks *s)
{
    static const char *const names[] = {"gdb", "eu-stack", NULL};
    s->debugger = tool_find(names, s->path);
    if (s->debugger != NULL)
        return;
    s->next = s->count;
    daemon_send_line(s->d, DAEMON_LINE_REMARK, NULL, 0,
                     "no stacks: neither gdb nor eu-stack is installed");
}

void stacks_start(struct daemon *d, bool verbose)
{
    stacks_free(d); /* the front end has given up on the report in progress */
    d->stacks = stacks_make(d);
    d->stacks->verbose = verbose;
    stacks_find_debugger(d->stacks);
    loop_after(d->loop, &d->stacks->late, ALL_MS);
    stacks_start_more(d->stacks);
}

void stacks_free(struct daemon *d)
{
    struct stacks *s = d->stacks;
    if (s == NULL)
        return;
    d->stacks = NULL;
    loop_cancel(d->loop, &s->late);
    for (uint32_t i = 0; i < s->count; i++)
        tool_free(&s->stack[i].tool);
    free(s->stack);
    free(s);
}
