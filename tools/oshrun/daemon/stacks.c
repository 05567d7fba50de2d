/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stacks.c - the stacks of the PEs, by gdb or eu-stack.
 *
 * Uses child.c, loop.c, pe_report.c.  Used by daemon_wire.c.
 *
 * At most RUNS_MAX debuggers run at once, each for at most RUN_MS, all for at most
 * ALL_MS.  Equal texts are reported once, with the list of their PEs: if 256 PEs hang,
 * the few that are elsewhere are the interesting ones.
 */
#include "config.h"

#include "tools/oshrun/daemon/daemon_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS_MAX   3     /* concurrent debuggers */
#define RUN_MS     15000 /* for one of them */
#define ALL_MS     30000 /* for all of them */
#define TEXT_MAX   65536 /* of one PE's stack */
#define PID_DIGITS 16
#define PLACE_MAX  768
#define GDB_COMMANDS                                                                     \
    "-ex", "info sharedlibrary", "-ex", "set print frame-info location-and-address",     \
        "-ex", "thread apply all bt"

/* The output of the debugger for one PE. */
struct stack {
    uint32_t rank;
    pid_t target; /* 0: the PE had ended */
    char *text;   /* the debugger's output, later the frames; NULL: none in time */
    size_t len;
    char place[PLACE_MAX];
};

/* One running debugger. */
struct run {
    struct stacks *all;
    struct stack *stack; /* NULL: idle */
    pid_t pid;
    struct loop_watch watch;
    struct loop_timer late;
};

struct stacks {
    struct daemon *d;
    struct stack *stack;
    uint32_t count, next;
    uint32_t busy;
    bool verbose;
    bool gdb;            /* else eu-stack */
    char path[PATH_MAX]; /* "": no debugger */
    struct run run[RUNS_MAX];
    struct loop_timer late;
};

static void stacks_start_more(struct stacks *s);

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
    char *rest = k->text, *line, *out;
    size_t len;
    if (k->text == NULL)
        return;
    FILE *f = open_memstream(&out, &len);
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
    free(k->text);
    k->text = out;
    k->len = len;
}

/* The text of a PE in a kind of report; NULL: none. */
static const char *stacks_text_of(const struct stack *k, enum daemon_line line)
{
    if (line == DAEMON_LINE_PLACE || k->target == 0)
        return line == DAEMON_LINE_PLACE ? k->place : NULL;
    return k->len > 0 ? k->text : "    the debugger printed none in time";
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
    uint32_t *rank = calloc(s->count + 1, sizeof *rank);
    if (rank == NULL)
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        struct stack *k = &s->stack[i];
        report_place(&s->d->pe[i], k->text, k->place, sizeof k->place);
        stacks_tidy(k);
    }
    stacks_emit(s, DAEMON_LINE_PLACE, rank);
    if (s->verbose && s->path[0] != '\0')
        stacks_emit(s, DAEMON_LINE_STACK, rank);
    free(rank);
}

/* ---- running ---------------------------------------------------------------------- */

static void stacks_end_run(struct run *r)
{
    struct loop *loop = r->all->d->loop;
    if (r->stack == NULL)
        return;
    loop_cancel(loop, &r->late);
    loop_want(loop, &r->watch, 0);
    close(r->watch.fd);
    kill(-r->pid, SIGKILL);
    waitpid(r->pid, NULL, 0); /* does not block for long after SIGKILL */
    r->stack = NULL;
    r->all->busy--;
}

static void stacks_on_run_end(void *arg)
{
    struct run *r = arg;
    stacks_end_run(r);
    stacks_start_more(r->all);
}

static void stacks_on_run_output(void *arg, unsigned ready)
{
    struct run *r = arg;
    struct stack *k = r->stack;
    (void)ready;
    ssize_t n = 0;
    if (k->text == NULL)
        k->text = malloc(TEXT_MAX);
    if (k->text != NULL && k->len < TEXT_MAX - 1)
        n = read(r->watch.fd, k->text + k->len, TEXT_MAX - 1 - k->len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        k->len += (size_t)n;
        k->text[k->len] = '\0';
        return;
    }
    stacks_on_run_end(r);
}

static pid_t stacks_start_debugger(const struct stacks *s, pid_t target, int *out)
{
    char pid[PID_DIGITS];
    snprintf(pid, sizeof pid, "%d", (int)target);
    const char *gdb[] = {"gdb", "-nx", "-batch", "-p", pid, GDB_COMMANDS, NULL};
    const char *eu[] = {"eu-stack", "-i", "-m", "-s", "-p", pid, NULL};
    return child_start_tool(s->path, s->gdb ? gdb : eu, s->d->reaper->fd, s->d->files,
                            out);
}

static void stacks_start_run(struct run *r, struct stack *k)
{
    struct stacks *s = r->all;
    int out;
    r->pid = stacks_start_debugger(s, k->target, &out);
    if (r->pid < 0)
        return;
    r->stack = k;
    r->watch = (struct loop_watch){.fd = out, .fn = stacks_on_run_output, .arg = r};
    r->late = (struct loop_timer){.fn = stacks_on_run_end, .arg = r};
    loop_want(s->d->loop, &r->watch, LOOP_IN);
    loop_after(s->d->loop, &r->late, RUN_MS);
    s->busy++;
}

/* All debuggers have ended, or the time for all is over. */
static void stacks_done(void *arg)
{
    struct stacks *s = arg;
    struct daemon *d = s->d;
    stacks_emit_all(s);
    stacks_free(d);
    daemon_send_u32(d, WIRE_REPORTED, d->report);
}

static void stacks_start_more(struct stacks *s)
{
    for (int i = 0; i < RUNS_MAX; i++)
        while (s->run[i].stack == NULL && s->next < s->count) {
            struct stack *k = &s->stack[s->next++];
            if (k->target > 0)
                stacks_start_run(&s->run[i], k);
        }
    if (s->busy == 0)
        stacks_done(s);
}

static struct stacks *stacks_make(struct daemon *d)
{
    struct stacks *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->d = d;
    s->stack = calloc(d->npes, sizeof *s->stack);
    s->count = s->stack != NULL ? d->npes : 0;
    for (uint32_t i = 0; i < s->count; i++) {
        s->stack[i].rank = d->pe[i].rank;
        s->stack[i].target = report_pid(&d->pe[i]);
    }
    for (int i = 0; i < RUNS_MAX; i++)
        s->run[i].all = s;
    s->late = (struct loop_timer){.fn = stacks_done, .arg = s};
    return s;
}

/* Without a debugger, no PE has a stack. */
static void stacks_find_debugger(struct stacks *s)
{
    const char *dirs = getenv("PATH");
    s->gdb = child_find(AT_FDCWD, dirs, "gdb", s->path, sizeof s->path) == 0;
    if (s->gdb || child_find(AT_FDCWD, dirs, "eu-stack", s->path, sizeof s->path) == 0)
        return;
    s->path[0] = '\0';
    s->next = s->count;
    daemon_send_line(s->d, DAEMON_LINE_REMARK, NULL, 0,
                     "no stacks: neither gdb nor eu-stack is installed");
}

void stacks_start(struct daemon *d, bool verbose)
{
    stacks_free(d); /* the front end has given up on the report in progress */
    d->stacks = stacks_make(d);
    if (d->stacks == NULL) {
        daemon_send_u32(d, WIRE_REPORTED, d->report);
        return;
    }
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
    for (int i = 0; i < RUNS_MAX; i++)
        stacks_end_run(&s->run[i]);
    for (uint32_t i = 0; i < s->count; i++)
        free(s->stack[i].text);
    free(s->stack);
    free(s);
}
