/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starter.c - starts the daemons of all nodes, AGENTS_MAX at a time, and reports
 * failures.
 *
 * Uses agent.c, command.c, srun.c, reaper.c, error.c.  Used by daemons.c.
 *
 * Agents are started from the loop and not by starter_begin, so that no event
 * occurs before starter_begin has returned.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/reaper/reaper.h"
#include "tools/oshrun/daemon/bootstrap.h"
#include "tools/oshrun/start/starter_int.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENTS_MAX 32   /* started, without a connected daemon */
#define TASK_MS    200  /* for further lines of srun about the end of a task */
#define LEAVE_MS   500  /* for agents of daemons that exit, before SIGTERM */
#define STOP_MS    1000 /* between SIGTERM and SIGKILL */
#define REAP_MS    1000 /* limit for killed processes to exit */
#define WHY_BYTES  (2 * LINE_BYTES + PATH_MAX)
#define SRUN       "srun"
#define NODE_WORD  32 /* bytes for " node=I", newline and zero */

extern char **environ;

struct starter {
    struct loop *loop;
    const struct starter_events *events;
    void *arg;
    struct starter_config c;
    char *daemon_path;
    char *line; /* in seal_memory of line_size bytes: it contains the nonce */
    size_t line_size;
    struct command command; /* the agent's */
    char srun_path[PATH_MAX];
    char **srun_argv, **srun_env;
    uint32_t count;   /* of agents */
    uint32_t next;    /* to be started */
    uint32_t waiting; /* agents with .waited */
    struct loop_timer go;
    struct agent *agent;

    /* srun continues if the daemon of a host could not be started */
    uint32_t arrivals;
    char task_end[LINE_BYTES]; /* its line about the first task that has ended */
    struct loop_timer on_task_end;
    bool end_is_told;
};

struct loop *starter_loop(const struct starter *s)
{
    return s->loop;
}

/* ---- why an agent has ended ------------------------------------------------------- */

static const char *starter_name_of(const struct agent *a)
{
    if (a->local)
        return "the node daemon";
    return a->s->c.kind == STARTER_SRUN ? SRUN : a->s->command.name;
}

/* True if the shell on the host, or Slurm there, could not run the daemon. */
static bool starter_is_missing(const struct agent *a, int status)
{
    if (a->s->c.kind == STARTER_SRUN)
        return a->s->arrivals < a->s->c.nnodes && srun_lacks_program(a->last);
    return !a->local && !a->arrived &&
           (status == CHILD_NOT_FOUND || status == CHILD_NOT_RUNABLE);
}

static void starter_explain_missing(const struct agent *a, int status, char *why)
{
    /* The dynamic loader also exits with 127 if a library is missing. */
    bool there = status != CHILD_NOT_FOUND || strstr(a->last, "shared libraries") != NULL;
    char code[NAME_BYTES] = "";
    if (a->s->c.kind == STARTER_AGENT)
        snprintf(code, sizeof code, "status %d%s", status, *a->last ? ": " : "");
    snprintf(why, WHY_BYTES,
             "%s %s (%s%s); install pgas on that host, or set SHMEM_LAUNCH_DAEMON to "
             "where oshrun is there",
             a->s->daemon_path, there ? "cannot be run" : "is not there", code, a->last);
}

static void starter_explain(const struct agent *a, const siginfo_t *how, char *why)
{
    const char *mark = *a->last ? ": " : "";
    if (how->si_code != CLD_EXITED)
        snprintf(why, WHY_BYTES, "%s was ended by signal %d (%s)%s%s", starter_name_of(a),
                 how->si_status, strsignal(how->si_status), mark, a->last);
    else if (starter_is_missing(a, how->si_status))
        starter_explain_missing(a, how->si_status, why);
    else
        snprintf(why, WHY_BYTES, "%s ended with status %d%s%s", starter_name_of(a),
                 how->si_status, mark, a->last);
}

/* ---- start ------------------------------------------------------------------------ */

static void starter_clear_waited(struct agent *a)
{
    struct starter *s = a->s;
    if (!a->waited)
        return;
    a->waited = false;
    s->waiting--;
    if (s->next < s->count)
        loop_after(s->loop, &s->go, 0);
}

/* srun does not exit before the last daemon: while daemons have not connected, its line
 * about a task counts as its end. */
static void starter_on_task_end(void *arg)
{
    struct starter *s = arg;
    struct agent *a = &s->agent[0];
    char why[WHY_BYTES];
    if (a->ended || s->arrivals == s->c.nnodes)
        return;
    if (starter_is_missing(a, 0))
        starter_explain_missing(a, 0, why);
    else
        snprintf(why, sizeof why, "%s%s%s", a->last, *a->last ? "; " : "", s->task_end);
    s->end_is_told = true;
    s->events->ended(s->arg, a->node, true, why);
}

static void starter_read_srun_line(struct agent *a, const char *line)
{
    struct starter *s = a->s;
    if (!srun_is_task_end(line)) {
        snprintf(a->last, sizeof a->last, "%s", line);
    } else if (s->task_end[0] == '\0') {
        snprintf(s->task_end, sizeof s->task_end, "%s", line);
        loop_after(s->loop, &s->on_task_end, TASK_MS);
    }
}

/* Handles the first line of a daemon (BOOTSTRAP_UP).  False: another line. */
static bool starter_read_up(const struct starter *s, const char *line)
{
    unsigned node;
    char host[LINE_BYTES];
    if (strncmp(line, BOOTSTRAP_UP, strlen(BOOTSTRAP_UP)) != 0 ||
        sscanf(line + strlen(BOOTSTRAP_UP), "%u %s", &node, host) != 2)
        return false;
    s->events->up(s->arg, node, host);
    return true;
}

void starter_said(struct agent *a, const char *line)
{
    bool srun = a->s->c.kind == STARTER_SRUN;
    if (starter_read_up(a->s, line))
        return;
    if (srun && srun_is_noise(line))
        return;
    if (srun)
        starter_read_srun_line(a, line);
    else
        snprintf(a->last, sizeof a->last, "%s", line);
    a->s->events->said(a->s->arg, a->node, line);
}

void starter_ended(struct agent *a, const siginfo_t *how)
{
    char why[WHY_BYTES];
    bool failed = how->si_code != CLD_EXITED || how->si_status != 0;
    if (a->last[0] == '\0')
        snprintf(a->last, sizeof a->last, "%s", a->s->task_end);
    starter_explain(a, how, why);
    starter_clear_waited(a);
    if (!a->s->end_is_told)
        a->s->events->ended(a->s->arg, a->node, failed, why);
}

static void starter_start_failed(struct agent *a, const char *path, const char *step)
{
    char why[WHY_BYTES];
    int err = errno;
    if (strcmp(step, "execute") == 0)
        snprintf(why, sizeof why, "cannot run %s: %s", path, strerror(err));
    else
        snprintf(why, sizeof why, "cannot start %s: %s: %s", path, step, strerror(err));
    a->ended = true;
    starter_clear_waited(a);
    a->s->events->ended(a->s->arg, a->node, true, why);
}

/* The bootstrap line, with the number of the node. */
static void starter_make_input(struct agent *a)
{
    const char *line = a->s->line;
    a->input_size = strlen(line) + NODE_WORD;
    a->input_written = 0;
    a->input = mem_secret(a->input_size);
    int n = a->node == STARTER_ALL
                ? snprintf(a->input, a->input_size, "%s\n", line)
                : snprintf(a->input, a->input_size, "%s node=%u\n", line, a->node);
    a->input_len = (size_t)n;
}

static void starter_start(struct agent *a)
{
    struct starter *s = a->s;
    char *local_argv[] = {s->daemon_path, (char[]){DAEMON_OPTION}, NULL};
    char *agent_argv[] = {(char[]){"/bin/sh"},
                          (char[]){"-c"},
                          s->command.script,
                          (char[]){"sh"},
                          a->host,
                          s->command.remote,
                          NULL};
    struct child_spec spec = {
        .envp = environ, .reaper_fd = s->c.reaper_fd, .files = s->c.files};
    if (a->local) {
        spec.path = s->daemon_path;
        spec.argv = local_argv;
    } else if (s->c.kind == STARTER_AGENT) {
        spec.path = agent_argv[0];
        spec.argv = agent_argv;
    } else {
        spec.path = s->srun_path;
        spec.argv = s->srun_argv;
        spec.envp = s->srun_env;
    }
    const char *step = "start";
    a->waited = true;
    s->waiting++;
    starter_make_input(a);
    if (agent_start(a, &spec, &step) != 0)
        starter_start_failed(a, spec.path, step);
    else
        s->events->started(s->arg, a->node);
}

static void starter_start_some(void *arg)
{
    struct starter *s = arg;
    while (s->next < s->count && s->waiting < AGENTS_MAX)
        starter_start(&s->agent[s->next++]);
}

/* ---- begin and stop --------------------------------------------------------------- */

static void starter_release(struct starter *s)
{
    loop_cancel(s->loop, &s->go);
    loop_cancel(s->loop, &s->on_task_end);
    for (uint32_t i = 0; s->agent != NULL && i < s->count; i++)
        free(s->agent[i].host);
    free(s->agent);
    command_free(&s->command);
    string_list_free(s->srun_argv);
    free(s->srun_env);
    free(s->daemon_path);
    seal_memory_free(s->line, s->line_size);
    free(s);
}

static void starter_make_agents(struct starter *s, const struct starter_config *c)
{
    bool all = c->kind == STARTER_SRUN;
    s->count = all ? 1 : c->nnodes;
    s->agent = mem_calloc(s->count, sizeof *s->agent);
    s->daemon_path = mem_strdup(c->daemon_path);
    s->line_size = strlen(c->line) + 1;
    s->line = mem_secret(s->line_size);
    memcpy(s->line, c->line, s->line_size);
    for (uint32_t i = 0; i < s->count; i++) {
        struct agent *a = &s->agent[i];
        agent_init(a, s, all ? STARTER_ALL : i);
        a->local = c->kind == STARTER_LOCAL || (c->kind == STARTER_AGENT && c->local[i]);
        a->host = all || a->local ? NULL : command_host(c->host[i]);
    }
}

static int starter_make_srun(struct starter *s, const struct starter_config *c)
{
    if (child_find(AT_FDCWD, getenv("PATH"), SRUN, s->srun_path, sizeof s->srun_path) !=
        0) {
        error_report("cannot run '" SRUN "', which starts the node daemons in a Slurm "
                     "allocation: %s",
                     strerror(errno));
        return -1;
    }
    s->srun_argv = srun_argv(c);
    s->srun_env = srun_env();
    return 0;
}

static int starter_make(struct starter *s, const struct starter_config *c)
{
    bool any_remote = false;
    int rc = 0;
    starter_make_agents(s, c);
    for (uint32_t i = 0; i < s->count; i++)
        any_remote = any_remote || !s->agent[i].local;
    if (c->kind == STARTER_SRUN)
        rc = starter_make_srun(s, c);
    if (rc == 0 && c->kind == STARTER_AGENT && any_remote)
        rc = command_make(&s->command, c->agent, c->daemon_path);
    return rc;
}

struct starter *starter_begin(struct loop *loop, const struct starter_config *config,
                              const struct starter_events *events, void *arg)
{
    struct starter *s = mem_calloc(1, sizeof *s);
    s->loop = loop;
    s->events = events;
    s->arg = arg;
    s->c = *config;
    s->go = (struct loop_timer){.fn = starter_start_some, .arg = s};
    s->on_task_end = (struct loop_timer){.fn = starter_on_task_end, .arg = s};
    if (starter_make(s, config) != 0) {
        starter_release(s);
        return NULL;
    }
    loop_after(loop, &s->go, 0);
    return s;
}

void starter_arrived(struct starter *s, uint32_t node)
{
    uint32_t i = s->c.kind == STARTER_SRUN ? 0 : node;
    if (i >= s->count)
        return;
    s->arrivals++;
    s->agent[i].arrived = true;
    starter_clear_waited(&s->agent[i]);
}

void starter_read(struct starter *s, uint32_t node)
{
    uint32_t i = s->c.kind == STARTER_SRUN ? 0 : node;
    if (i < s->count)
        agent_drain(&s->agent[i]);
}

/* To the groups of all agents, which also have what ended agents left in them. */
static void starter_send_all(struct starter *s, int sig)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->agent[i].pid > 0)
            kill(-s->agent[i].pid, sig);
}

static void starter_wait_all(struct starter *s, bool arrived_only, uint32_t ms)
{
    uint64_t until = loop_now_ns() + (uint64_t)ms * NS_PER_MS;
    for (uint32_t i = 0; i < s->count; i++)
        if (!arrived_only || s->agent[i].arrived)
            agent_wait(&s->agent[i], until);
}

/* Lets agents whose daemons had connected, and were told to stop, exit by themselves: an
 * srun that is terminated kills the daemons while they clean up. */
static void starter_end_all(struct starter *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->agent[i].arrived && s->agent[i].pid > 0)
            kill(-s->agent[i].pid, SIGTERM);
    starter_wait_all(s, true, LEAVE_MS);
    starter_send_all(s, SIGTERM);
    starter_send_all(s, SIGCONT); /* a stopped process handles SIGTERM only now */
    starter_wait_all(s, false, STOP_MS);
    starter_send_all(s, SIGKILL);
    starter_wait_all(s, false, REAP_MS);
}

void starter_stop(struct starter *s)
{
    if (s == NULL)
        return;
    bool gone = true;
    for (uint32_t i = 0; i < s->count; i++)
        agent_silence(&s->agent[i]);
    starter_end_all(s);
    for (uint32_t i = 0; i < s->count; i++)
        gone = agent_finish(&s->agent[i]) && gone;
    if (gone)
        reaper_send(s->c.reaper_fd, REAPER_FORGET, 0);
    starter_release(s);
}
