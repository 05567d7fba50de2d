/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pe_report.c - state of each PE: from /proc and from the node segment.
 *
 * Uses daemon_int.h, pgas/core/boot/node.h.  Used by daemon.c (daemon_report), stacks.c.
 */
#include "config.h"

#include "tools/oshrun/daemon/daemon_int.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROC_PATH   64
#define PROC_TEXT   512
#define WCHAN_MAX   32
#define REPORT_LINE 320
#define DOING_MAX   128
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

/* What the PE has published in the node segment; the text may be torn by an update. */
static void pe_report_describe(const struct pe *pe, char *buf, size_t len)
{
    const struct node_pe *np = &pe->d->node->pe[pe->local];
    char what[NODE_WHAT];
    node_what(np, what);
    for (char *c = what; *c != '\0'; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    int last = NODE_STAGE_FORK;
    for (int i = 0; i < NODE_STAGES; i++)
        if (atomic_load_explicit(&np->stage_ns[i], memory_order_relaxed) != 0)
            last = i;
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
    d->ev->report(d->front, pe->rank, line);
}

void report_table(struct daemon *d)
{
    for (uint32_t i = 0; i < d->npes; i++)
        pe_report_one(d, &d->pe[i]);
}
