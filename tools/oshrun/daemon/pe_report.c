/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pe_report.c - state of each PE: from /proc, the node segment and its stack.
 *
 * Uses daemon_int.h, pgas/core/boot/node.h.  Used by daemon_wire.c, stacks.c.
 */
#include "config.h"

#include "tools/oshrun/daemon/daemon_int.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROC_PATH   64
#define PROC_TEXT   512
#define WCHAN_MAX   32
#define REPORT_LINE 320
#define DOING_MAX   128
#define REMARK_MAX  64
#define DEPTH_MAX   16 /* processes between oshrun's child and the PE's program */

#define X(name, text) text,
static const char *const stage_text[NODE_STAGES] = {NODE_STAGE_TABLE(X)};
#undef X

/* The first bytes of /proc/PID/name, "" if it cannot be read. */
static void pe_report_read_proc(pid_t pid, const char *name, char *buf, size_t len)
{
    char path[PROC_PATH];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, buf, len - 1) : -1;
    buf[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

struct proc_stat {
    char state;
    int ppid, group;
};

/* False (and '?', 0, 0) if there is no such process. */
static bool pe_report_read_stat(pid_t pid, struct proc_stat *s)
{
    char text[PROC_TEXT];
    pe_report_read_proc(pid, "stat", text, sizeof text);
    const char *end = strrchr(text, ')'); /* the command name may contain any character */
    if (end != NULL && sscanf(end + 1, " %c %d %d", &s->state, &s->ppid, &s->group) == 3)
        return true;
    *s = (struct proc_stat){.state = '?'};
    return false;
}

/* True if pid is in the group of the child that we started, or descends from it. */
static bool pe_report_belongs_to(pid_t pid, pid_t child)
{
    struct proc_stat s;
    for (int i = 0; i < DEPTH_MAX && pid > 1 && pe_report_read_stat(pid, &s); i++) {
        if (pid == child || s.group == child)
            return true;
        pid = s.ppid;
    }
    return false;
}

pid_t report_pid(const struct pe *pe)
{
    /* The pid that the PE published (a wrapper may be in between).  It is checked, since
     * any PE of the node can write it. */
    pid_t own = pe->d->node->pe[pe->local].pid;
    if (pe->ended || pe->pid <= 0)
        return 0;
    return pe_report_belongs_to(own, pe->pid) ? own : pe->pid;
}

static double pe_report_since_s(uint64_t ns)
{
    return (double)(loop_now_ns() - ns) / NS_PER_S;
}

/* What the PE waits for, or ""; the text may be torn by an update. */
static void pe_report_what(const struct node_pe *np, char what[NODE_WHAT])
{
    node_what(np, what);
    for (char *c = what; *c != '\0'; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
}

static int pe_report_last_stage(const struct node_pe *np)
{
    int last = NODE_STAGE_FORK;
    for (int i = 0; i < NODE_STAGES; i++)
        if (atomic_load_explicit(&np->stage_ns[i], memory_order_relaxed) != 0)
            last = i;
    return last;
}

static void pe_report_describe(const struct pe *pe, char *buf, size_t len)
{
    const struct node_pe *np = &pe->d->node->pe[pe->local];
    char what[NODE_WHAT];
    pe_report_what(np, what);
    int last = pe_report_last_stage(np);
    uint64_t stage_ns = atomic_load_explicit(&np->stage_ns[last], memory_order_relaxed);
    uint64_t what_ns = atomic_load_explicit(&np->what_ns, memory_order_relaxed);
    int n = snprintf(buf, len, "%s %.1f s ago", stage_text[last],
                     pe_report_since_s(stage_ns));
    if (what[0] == '\0' || n < 0 || (size_t)n >= len)
        return;
    if (what_ns != 0)
        snprintf(buf + n, len - (size_t)n, "; waits %.1f s: %s",
                 pe_report_since_s(what_ns), what);
    else
        snprintf(buf + n, len - (size_t)n, "; waits: %s", what);
}

/* " (team WORLD)"; or, during start and end, " (last stage: network ready)"; or "". */
static void pe_report_remark(const struct node_pe *np, char *buf, size_t len)
{
    uint64_t team = atomic_load_explicit(&np->what_team, memory_order_relaxed);
    uint32_t first = (uint32_t)(team >> NODE_TEAM_FIRST), npes = (uint32_t)team;
    char what[NODE_WHAT];
    int stage = pe_report_last_stage(np);
    pe_report_what(np, what);
    buf[0] = '\0';
    if (stage != NODE_STAGE_READY && stage != NODE_STAGE_FORK &&
        stage != NODE_STAGE_LEAVE)
        snprintf(buf, len, " (last stage: %s)", stage_text[stage]);
    else if (what[0] == '\0')
        return;
    else if (team == NODE_TEAM_WORLD || team == NODE_TEAM_SHARED)
        snprintf(buf, len, " (team %s)", team == NODE_TEAM_WORLD ? "WORLD" : "SHARED");
    else if (first > 0)
        snprintf(buf, len, " (team of %u PEs from PE %u)", npes, first - 1);
}

void report_place(const struct pe *pe, const char *stack, char *buf, size_t len)
{
    const struct node_pe *np = &pe->d->node->pe[pe->local];
    struct stack_place at = {0};
    char what[NODE_WHAT], remark[REMARK_MAX];
    pid_t pid = report_pid(pe);
    if (pid == 0) {
        snprintf(buf, len, pe->pid > 0 ? "has ended" : "has not been started");
        return;
    }
    if (stack != NULL)
        stack_place_find(stack, pid, &at);
    pe_report_what(np, what);
    pe_report_remark(np, remark, sizeof remark);
    bool inside = what[0] != '\0' || at.routine[0] != '\0';
    const char *in = what[0] != '\0' ? what : inside ? at.routine : at.user;
    const char *by = inside ? at.user : at.caller;
    snprintf(buf, len, "in %s%s%s%s", in[0] != '\0' ? in : "the program", remark,
             by[0] != '\0' ? ", called by " : "", by);
}

static void pe_report_one(struct daemon *d, const struct pe *pe)
{
    char line[REPORT_LINE], doing[DOING_MAX] = "", wchan[WCHAN_MAX] = "";
    char state[] = "-";
    pid_t pid = report_pid(pe);
    if (pid > 0) {
        struct proc_stat s;
        pe_report_read_stat(pid, &s);
        state[0] = s.state;
        pe_report_read_proc(pid, "wchan", wchan, sizeof wchan);
        pe_report_describe(pe, doing, sizeof doing);
    } else {
        snprintf(doing, sizeof doing, pe->pid > 0 ? "has ended" : "was not started");
    }
    if (strcmp(wchan, "0") == 0)
        wchan[0] = '\0';
    snprintf(line, sizeof line, "%5u %-12s %8d  %s %-20s %s", pe->rank,
             d->job->node[d->job->here].name, (int)pid, state, wchan, doing);
    daemon_send_line(d, DAEMON_LINE_STATE, &pe->rank, 1, line);
}

void report_states(struct daemon *d)
{
    for (uint32_t i = 0; i < d->npes; i++)
        pe_report_one(d, &d->pe[i]);
}
