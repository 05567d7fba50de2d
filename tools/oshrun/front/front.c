/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.c - the front end: runs the job and reports to the user.
 *
 * Uses daemons.h, plan.c, timing.c, loop.c, front_*.c.  Used by main.c.
 *
 * A job is complete when all its PEs have exited and all of their output has arrived.  To
 * terminate it, oshrun sends SIGTERM to all PEs and SIGKILL half a second later.  The
 * first failure in time determines the exit status.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/front/export.h"
#include "tools/oshrun/front/front.h"
#include "tools/oshrun/front/front_int.h"
#include "tools/oshrun/front/ft_settings.h"
#include "tools/oshrun/util/mem.h"

#include "pgas/core/base/seal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LINE_BYTES (ERROR_BYTES + 16)

/* ---- messages --------------------------------------------------------------------- */

void front_say(struct front *f, const char *format, ...)
{
    char line[LINE_BYTES] = "oshrun: ";
    size_t n = strlen(line);
    va_list ap;
    va_start(ap, format);
    vsnprintf(line + n, sizeof line - n - 1, format, ap);
    va_end(ap);
    n = strlen(line);
    line[n] = '\n';
    front_merge_say(f, line, n + 1);
}

/* An error_fn has no context argument. */
static struct front *error_front;

static void front_send_error(const char *error_text)
{
    front_say(error_front, "%s", error_text);
}

const char *front_plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- start and end ---------------------------------------------------------------- */

/* Working directory of PEs on other hosts: the same path as here. */
static int front_make_wdir(struct job_app *app, const char *wdir)
{
    bool absolute = wdir != NULL && wdir[0] == '/';
    char *cwd = absolute ? mem_strdup("") : getcwd(NULL, 0);
    if (cwd == NULL) {
        error_report("cannot find the working directory: %s", strerror(errno));
        return FRONT_EXIT_ERROR;
    }
    app->wdir = mem_print("%s%s%s", cwd, absolute || wdir == NULL ? "" : "/",
                          wdir != NULL ? wdir : "");
    free(cwd);
    if (strlen(app->wdir) < PATH_MAX)
        return 0;
    error_report("the name of the working directory is too long");
    return FRONT_EXIT_ERROR;
}

static bool front_is_on_hosts(const struct front *f)
{
    return f->plan.kind == PLAN_HOSTS || f->plan.kind == PLAN_SLURM;
}

/* One program without -n has all PEs of the map. */
static int front_make_apps(struct front *f)
{
    const struct options *o = f->o;
    uint32_t first = 0;
    int rc = 0;
    f->job.app = mem_calloc(o->napps, sizeof *f->job.app);
    for (uint32_t i = 0; i < o->napps && rc == 0; i++) {
        const struct options_app *from = &o->app[i];
        struct job_app *app = &f->job.app[f->job.napps++];
        *app = (struct job_app){.first = first,
                                .npes = o->napps > 1 ? from->npes : f->job.npes,
                                .argv = from->argv,
                                .env = from->env,
                                .wdir = from->wdir};
        first += app->npes;
        if (front_is_on_hosts(f))
            rc = front_make_wdir(app, from->wdir);
    }
    return rc;
}

static void front_make_env(struct front *f)
{
    if (f->plan.kind != PLAN_HOSTS || f->o->dry_run)
        return;
    f->job.env = f->env = export_env(f->o->env);
}

/* A random suffix: another host may use the same pid at the same time, and the PMIx
 * server of libpmix, which listens on the loopback, lets in who names a process of the
 * job. */
static int front_name_job(struct front *f)
{
    uint64_t random;
    if (!seal_random(&random, sizeof random)) {
        error_report("cannot get random bytes: %s", strerror(errno));
        return FRONT_EXIT_ERROR;
    }
    snprintf(f->job.nspace, sizeof f->job.nspace, "oshrun-%d-%016" PRIx64, (int)getpid(),
             random);
    return 0;
}

static int front_make_job(struct front *f, const struct options *o)
{
    f->o = o;
    f->job = (struct job){.env = o->env,
                          .bind = o->bind,
                          .bind_report = o->report_bindings,
                          .valgrind = o->valgrind,
                          .stdin_pe = o->gdb_pe == JOB_NO_PE ? 0 : JOB_NO_PE,
                          .gdb_pe = o->gdb_pe};
    int rc = plan_make(&f->plan, o, &f->job);
    f->job.whole_lines = f->job.npes > 1 || o->tag_output;
    if (rc == 0)
        rc = front_make_apps(f);
    if (rc == 0)
        rc = ft_settings_read(&f->job, o->interface);
    if (rc == 0)
        front_make_env(f);
    if (rc == 0)
        rc = front_name_job(f);
    return rc;
}

static void front_free_job(struct front *f)
{
    for (uint32_t i = 0; i < f->job.napps && front_is_on_hosts(f); i++)
        free((char *)(uintptr_t)f->job.app[i].wdir);
    free(f->job.app);
    plan_free(&f->plan, &f->job);
    free(f->env);
}

static int front_set_up(struct front *f)
{
    if (loop_open(&f->loop) != 0 || front_watch_signals(f) != 0) {
        error_report("cannot make an event loop: %s", strerror(errno));
        return FRONT_EXIT_ERROR;
    }
    front_open_timers(f);
    front_open_files(f);
    front_ft_open(f);
    return 0;
}

/* gdb was the foreground process group of the terminal: restore ours. */
static void front_recover_terminal(const struct front *f)
{
    sigset_t ttou;
    if (f->job.gdb_pe == JOB_NO_PE || !isatty(STDIN_FILENO))
        return;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, NULL);
    tcsetpgrp(STDIN_FILENO, getpgrp());
}

static void front_print_timing(struct front *f)
{
    char *text, *line;
    size_t len;
    FILE *m = open_memstream(&text, &len);
    if (m == NULL)
        return;
    timing_print(&f->timing, m);
    if (fclose(m) != 0)
        return;
    char *rest = text;
    while ((line = strsep(&rest, "\n")) != NULL)
        if (*line != '\0')
            front_say(f, "%s", line);
    free(text);
}

/* Returns the exit status, which is final only after all output has been written. */
static int front_clean_up(struct front *f)
{
    front_close_files(f);
    timing_free(&f->timing);
    front_report_free(&f->report);
    front_ft_close(f);
    front_free_job(f);
    loop_close(&f->loop);
    int status = f->status;
    free(f);
    return status;
}

/* True if the job ended normally: processes that left the PEs' process groups may
 * continue. */
static bool front_is_good(const struct front *f)
{
    return !f->ending && f->ft.failed == 0;
}

static int front_run_job(struct front *f, const struct reaper *reaper,
                         struct rlimit files)
{
    int rc = daemons_start(&f->daemons, f, reaper, files);
    if (rc != 0)
        return rc;
    error_front = f;
    error_redirect(front_send_error);
    loop_run(&f->loop);
    front_ft_finish(f);
    if (front_is_good(f))
        reaper_send(reaper->fd, REAPER_SPARE, 0);
    return 0;
}

int front_run(const struct options *o, const struct reaper *reaper, struct rlimit files,
              uint64_t start_ns)
{
    struct front *f = mem_calloc(1, sizeof *f);
    int rc = front_make_job(f, o);
    if (rc != 0)
        return rc;
    f->reaper_fd = reaper->fd;
    f->files = files;
    if (o->report) {
        map_print(&f->job, &f->plan.hosts);
        fflush(stdout); /* before the output of the PEs; main() checks for errors */
    }
    timing_open(&f->timing, f->job.npes, start_ns);
    rc = front_set_up(f);
    if (rc == 0)
        rc = front_run_job(f, reaper, files);
    if (rc != 0)
        front_set_status(f, rc);
    daemons_stop(f->daemons, front_is_good(f));
    f->daemons = NULL;
    error_redirect(NULL);
    front_recover_terminal(f);
    if (o->verbose && rc == 0 && !f->unstarted)
        front_print_timing(f);
    front_ft_print(f);
    return front_clean_up(f);
}

int front_dry_run(const struct options *o)
{
    static struct front f;
    int rc = front_make_job(&f, o);
    if (rc == 0 && o->report)
        map_print(&f.job, &f.plan.hosts);
    for (f.job.here = 0; rc == 0 && f.job.here < f.job.nnodes; f.job.here++)
        rc = daemon_dry_run(&f.job);
    front_free_job(&f);
    return rc;
}
