/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon.c - the node daemon: starts the PEs of its node and watches them to the end.
 *
 * Uses pmix_host.c, pmix_net.c, launch.c, child.c, bind.c, pe_io.c, daemon_wire.c,
 * loop.c.  Used by daemons.c and daemon_main.c, through daemon.h only.
 *
 * The pidfd of a PE reports its exit.  The PE stays a zombie until all PEs have exited,
 * so that its process group ID is not reused, and signals to the group still reach
 * processes that the PE left in it.
 */
#include "config.h"

#include "tools/oshrun/daemon/daemon_int.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/util/mem.h"

#include "pgas/ft/ft_map.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_ERROR      1
#define DRAIN_QUIET_MS  100 /* of silence, then a pipe that stays open is closed */
#define SPAWN_PER_TURN  8
#define FILE_BYTES_MIN  4096u /* size of a file of the PMIx server */
#define HINT_BYTES      200
#define TMPDIR_BYTES    65536u /* of files of the PMIx server */
#define TMPDIR_PE_BYTES 1024u  /* and of each PE */

/* ---- the node segment ------------------------------------------------------------- */

static size_t daemon_node_bytes(const struct job *job)
{
    uint32_t npes = job->node[job->here].npes;
    return node_bytes(npes) + ft_map_bytes(job->npes, job->nnodes, npes);
}

static int daemon_fill_node(struct daemon *d, size_t len)
{
    if (ftruncate(d->node_fd, (off_t)len) != 0 ||
        fcntl(d->node_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return -1;
    d->node = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, d->node_fd, 0);
    if (d->node == MAP_FAILED) {
        d->node = NULL;
        return -1;
    }
    d->node->version = NODE_VERSION;
    d->node->bytes = len;
    d->node->ft_at = node_bytes(d->npes);
    d->node->npes = d->npes;
    d->node->cpus = bind_cpu_share(d->job);
    d->node->oversubscribed = bind_is_oversubscribed(d->job);
    ft_map_init(node_ft(d->node), d->job->npes, d->job->nnodes, d->job->here, d->npes);
    d->node->magic = NODE_MAGIC;
    return 0;
}

static int daemon_make_node(struct daemon *d)
{
    size_t len = daemon_node_bytes(d->job);
    d->node_fd = memfd_create("pgas-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (d->node_fd < 0 || daemon_fill_node(d, len) != 0) {
        error_report("cannot create the shared memory of the node (%zu bytes): %s", len,
                     strerror(errno));
        return EXIT_ERROR;
    }
    snprintf(d->node_env, sizeof d->node_env, NODE_ENV "=/proc/%d/fd/%d", (int)getpid(),
             d->node_fd);
    snprintf(d->job_env, sizeof d->job_env, NODE_JOB_ENV "=%s", d->job->nspace);
    return 0;
}

/* ---- exit of PEs ------------------------------------------------------------------ */

void daemon_kill(struct daemon *d, int sig, const uint32_t *rank, uint32_t count)
{
    for (uint32_t i = 0; i < d->npes; i++) {
        bool chosen = count == 0;
        for (uint32_t k = 0; k < count && !chosen; k++)
            chosen = rank[k] == d->pe[i].rank;
        if (chosen && d->pe[i].pid > 0)
            kill(-d->pe[i].pid, sig);
    }
}

static void daemon_send_ended(struct daemon *d, const struct pe *pe, bool signalled,
                              int code, bool failed)
{
    const struct node_pe *np = &d->node->pe[pe->local];
    struct pack p = {0};
    pack_u32(&p, pe->rank);
    pack_u32(&p, (uint32_t)pe->pid);
    pack_u8(&p, signalled);
    pack_u32(&p, (uint32_t)code);
    pack_u8(&p, pe->connected);
    pack_u8(&p, pe->finalized);
    pack_u8(&p, failed);
    for (int i = 0; i < NODE_STAGES; i++)
        pack_u64(&p, atomic_load_explicit(&np->stage_ns[i], memory_order_relaxed));
    daemon_send(d, WIRE_ENDED, &p);
}

/* May be called twice: a frame that reports the end of a PE may cause a signal that
 * cancels the start of the others. */
static void daemon_all_ended(struct daemon *d)
{
    if (d->all_ended)
        return;
    d->all_ended = true;
    daemon_send_u32(d, WIRE_STAGE, DAEMON_STAGE_ENDED);
    d->bytes_seen = d->bytes_read;
    loop_after(d->loop, &d->drain, d->open_streams == 0 ? 0 : DRAIN_QUIET_MS);
}

void daemon_cancel_spawn(struct daemon *d, int sig)
{
    if (d->spawned == d->npes)
        return;
    loop_cancel(d->loop, &d->spawn);
    while (d->spawned < d->npes) {
        struct pe *pe = &d->pe[d->spawned++];
        pe->ended = true;
        daemon_send_ended(d, pe, true, sig, false);
    }
    if (d->live == 0)
        daemon_all_ended(d);
}

bool daemon_is_fatal(int sig)
{
    return sig == SIGTERM || sig == SIGKILL || sig == SIGINT || sig == SIGHUP ||
           sig == SIGQUIT;
}

/* Reaps all PEs, whose groups have received SIGKILL, and stand-ins. */
static void daemon_reap(struct daemon *d)
{
    int steps = CHILD_REAP_STEPS;
    for (uint32_t i = 0; i < d->npes; i++) {
        struct pe *pe = &d->pe[i];
        if (pe->pid > 0 && !child_reap(pe->pid, &steps))
            return; /* the reaper tries again */
        pe->pid = 0;
    }
    if (!daemon_ft_end_stand_ins(d, &steps))
        return;
    reaper_send(d->reaper->fd, REAPER_FORGET, 0);
}

static void daemon_finish(struct daemon *d)
{
    loop_cancel(d->loop, &d->drain);
    d->drain.fn = NULL;               /* once only */
    daemon_kill(d, SIGKILL, NULL, 0); /* what PEs left running */
    for (uint32_t i = 0; i < d->npes; i++)
        pe_io_finish(&d->pe[i]);
    daemon_reap(d);
    daemon_send_u32(d, WIRE_STAGE, DAEMON_STAGE_DRAINED);
    daemon_send(d, WIRE_DRAINED, &(struct pack){0});
}

/* All PEs have exited but a pipe is open: a process that a PE left behind holds it. */
static void daemon_on_drain_timer(void *arg)
{
    struct daemon *d = arg;
    bool quiet = d->bytes_read == d->bytes_seen;
    d->bytes_seen = d->bytes_read;
    if (quiet && !d->paused[DAEMON_STDOUT] && !d->paused[DAEMON_STDERR])
        daemon_finish(d);
    else
        loop_after(d->loop, &d->drain, DRAIN_QUIET_MS);
}

void daemon_stream_ended(struct daemon *d)
{
    /* By a timer, so that daemon_finish never runs while a stream is read. */
    if (d->live == 0 && d->spawned == d->npes && d->open_streams == 0 &&
        d->drain.fn != NULL) {
        d->bytes_seen = d->bytes_read;
        loop_after(d->loop, &d->drain, 0);
    }
}

static void daemon_handle_posts(void *arg, unsigned ready);

/* The number of processes that the kernel has killed for lack of memory, on this host and
 * in its cgroups, since it was booted. */
static uint64_t daemon_oom_kills(void)
{
    unsigned long long n = 0;
    char line[HINT_BYTES];
    FILE *f = fopen("/proc/vmstat", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "oom_kill %llu", &n) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return n;
}

/* Explains a SIGKILL that the OOM killer has probably sent. */
static void daemon_explain_kill(struct daemon *d, const struct pe *pe,
                                const siginfo_t *si)
{
    char text[HINT_BYTES];
    struct pack p = {0};
    if (si->si_code == CLD_EXITED || si->si_status != SIGKILL ||
        daemon_oom_kills() == d->oom_kills)
        return;
    snprintf(text, sizeof text,
             "PE %u (pid %d) was probably killed by the kernel because "
             "the host, or its cgroup, is out of memory",
             pe->rank, (int)pe->pid);
    pack_string(&p, text);
    daemon_send(d, WIRE_SAY, &p);
}

static void daemon_on_ended(void *arg, unsigned ready)
{
    struct pe *pe = arg;
    struct daemon *d = pe->d;
    siginfo_t si = {0};
    (void)ready;
    if (waitid(P_PID, (id_t)pe->pid, &si, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        si.si_pid == 0)
        return;
    daemon_handle_posts(d, 0); /* what it sent to PMIx before its exit comes first */
    loop_want(d->loop, &pe->end_watch, 0);
    close(pe->end_watch.fd);
    pe->end_watch.fd = -1;
    pe->ended = true;
    d->live--;
    if (pe->rank == d->job->stdin_pe && d->input.watch.fd >= 0) {
        pe_io_close_input(d);
        daemon_send_u32(d, WIRE_INPUT_WANTED, false);
    }
    pmix_net_ended(d->pmix_net, pe->rank);
    daemon_explain_kill(d, pe, &si);
    bool failed = daemon_ft_ended(d, pe, &si);
    daemon_send_ended(d, pe, si.si_code != CLD_EXITED, si.si_status, failed);
    if (d->live == 0 && d->spawned == d->npes)
        daemon_all_ended(d);
}

/* ---- posts of the PMIx server ----------------------------------------------------- */

/* PE pe has connected to PMIx, or finalized it.  It may do so again. */
static void daemon_note_pe(struct daemon *d, struct pe *pe, bool connected)
{
    if (connected && !pe->connected && ++d->connected == d->npes)
        daemon_send_u32(d, WIRE_STAGE, DAEMON_STAGE_CONNECT);
    if (!connected && !pe->finalized && ++d->finalized == d->npes)
        daemon_send_u32(d, WIRE_STAGE, DAEMON_STAGE_FINALIZE);
    if (connected && pe->finalized) /* shmem_init again: it must finalize again */
        d->finalized--;
    pe->finalized = !connected;
    pe->connected = pe->connected || connected;
}

static void daemon_on_post(struct daemon *d, struct pmix_host_post *p)
{
    bool of_pe = p->type == WIRE_CONNECTED || p->type == WIRE_FINALIZED;
    struct pe *pe = NULL;
    if (p->handle != NULL) {
        p->handle(d->pmix_net, p->request);
        free(p);
        return;
    }
    for (uint32_t i = 0; of_pe && i < d->npes; i++)
        if (d->pe[i].rank == p->rank && d->pe[i].stand_in == 0)
            pe = &d->pe[i];
    if (p->type == WIRE_ABORTED)
        daemon_ft_end_job(d);
    if (pe != NULL) {
        daemon_note_pe(d, pe, p->type == WIRE_CONNECTED);
        pmix_net_connected(d->pmix_net, p->rank, p->type == WIRE_CONNECTED);
        daemon_ft_connected(d);
    }
    if (pe != NULL || !of_pe)
        net_out_send(&d->out, p->type, d->job->here,
                     p->type == WIRE_SIGNAL ? WIRE_ALL : WIRE_FRONT, &p->p);
    pack_free(&p->p);
    free(p);
}

static void daemon_handle_posts(void *arg, unsigned ready)
{
    struct daemon *d = arg;
    struct pmix_host_post *p;
    (void)ready;
    while ((p = pmix_host_take(d->pmix)) != NULL)
        daemon_on_post(d, p);
}

/* ---- start ------------------------------------------------------------------------ */

static void daemon_make_pes(struct daemon *d)
{
    const struct job_node *here = &d->job->node[d->job->here];
    d->pe = mem_calloc(here->npes, sizeof *d->pe);
    d->npes = here->npes;
    for (uint32_t i = 0; i < d->npes; i++) {
        struct pe *pe = &d->pe[i];
        pe->d = d;
        pe->rank = here->rank[i];
        pe->local = i;
        pe->end_watch = (struct loop_watch){.fd = -1, .fn = daemon_on_ended, .arg = pe};
        for (int s = 0; s < DAEMON_STREAMS; s++)
            pe->out[s] = (struct pe_stream){
                .pe = pe, .which = (enum daemon_stream)s, .watch.fd = -1};
    }
}

/* Prepares the programs that PEs of this node run. */
static int daemon_prepare_launch(struct daemon *d)
{
    int rc = 0;
    d->launch = mem_calloc(d->job->napps, sizeof *d->launch);
    for (uint32_t i = 0; i < d->job->napps; i++)
        d->launch[i].wdir_fd = -1;
    for (uint32_t i = 0; i < d->npes && rc == 0; i++) {
        uint32_t app = job_app_of(d->job, d->pe[i].rank);
        if (d->launch[app].env == NULL)
            rc = launch_prepare(&d->launch[app], d->job, app, d->node_env, d->job_env);
    }
    return rc;
}

static const struct launch *daemon_launch_of(const struct daemon *d, uint32_t rank)
{
    return &d->launch[job_app_of(d->job, rank)];
}

/* Does all that can fail before any PE is started. */
static int daemon_plan(struct daemon *d)
{
    daemon_make_pes(d);
    int rc = daemon_make_node(d);
    if (rc == 0)
        rc = daemon_prepare_launch(d);
    /* Keeps hwloc from loading plugins for devices, which takes 4 ms.  The environment
     * of the PEs has been built already, so this affects this process only. */
    setenv("HWLOC_PLUGINS_PATH", d->reaper->dir, 0);
    if (rc == 0 && bind_make(&d->bind, d->job) != 0)
        rc = EXIT_ERROR;
    if (rc == 0)
        daemon_send_u32(d, WIRE_STAGE, DAEMON_STAGE_PLAN);
    return rc;
}

void daemon_fail(struct daemon *d, int status)
{
    struct pack p = {0};
    pack_u32(&p, (uint32_t)status);
    pack_string(&p, error_last());
    daemon_send(d, WIRE_FAILED, &p);
}

static void daemon_on_registered(void *arg, int rc)
{
    struct daemon *d = arg;
    if (d->spawned == d->npes) /* a signal has ended the job */
        return;
    if (rc != 0) {
        daemon_fail(d, EXIT_ERROR);
        return;
    }
    daemon_send_u32(d, WIRE_STAGE, DAEMON_STAGE_REGISTER);
    loop_after(d->loop, &d->spawn, 0);
}

static int daemon_start_server(struct daemon *d, const struct tree *tree)
{
    d->pmix = pmix_host_start(d->job, d->reaper->dir);
    if (d->pmix == NULL)
        return EXIT_ERROR;
    daemon_send_u32(d, WIRE_STAGE, DAEMON_STAGE_SERVER);
    d->pmix_net = pmix_net_new(d->pmix, d->job, tree, &d->out, d->loop);
    d->pmix_watch = (struct loop_watch){
        .fd = pmix_host_fd(d->pmix), .fn = daemon_handle_posts, .arg = d};
    loop_want(d->loop, &d->pmix_watch, LOOP_IN);
    if (pmix_net_register(d->pmix_net, daemon_on_registered, d) != 0)
        return EXIT_ERROR;
    return 0;
}

static void daemon_report_binding(struct daemon *d, const struct pe *pe)
{
    char line[DAEMON_ENV_MAX + BIND_TEXT];
    if (!d->job->bind_report)
        return;
    snprintf(line, sizeof line, "PE %u (pid %d): %s", pe->rank, (int)pe->pid,
             d->bind.place != NULL ? d->bind.place[pe->local].text : "not bound");
    daemon_send_line(d, DAEMON_LINE_BINDING, &pe->rank, 1, line);
}

/* Advice on a failed start, or "". */
static const char *daemon_start_hint(int err, const char *step, char hint[HINT_BYTES])
{
    struct rlimit r = {0};
    hint[0] = '\0';
    if (err == EMFILE && getrlimit(RLIMIT_NOFILE, &r) == 0)
        snprintf(hint, HINT_BYTES,
                 "; the limit of open files is %llu, raise it with "
                 "`ulimit -Hn`",
                 (unsigned long long)r.rlim_max);
    else if (err == EAGAIN && strcmp(step, "fork") == 0)
        snprintf(hint, HINT_BYTES,
                 "; the limit of processes is reached, raise `ulimit -u`, "
                 "or pids.max of the cgroup");
    else if (err == ENOMEM)
        snprintf(hint, HINT_BYTES, "; memory is short, or `ulimit -v` is too small");
    return hint;
}

static int daemon_report_start_failure(const struct daemon *d, const struct pe *pe,
                                       const char *step)
{
    int err = errno;
    char hint[HINT_BYTES];
    error_report("cannot start PE %u (%s): %s: %s%s", pe->rank,
                 launch_of(daemon_launch_of(d, pe->rank), d->job, pe->rank)->path, step,
                 strerror(err), daemon_start_hint(err, step, hint));
    if (strcmp(step, "execute") != 0)
        return EXIT_ERROR;
    return err == ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_RUNABLE;
}

static int daemon_watch_end(struct daemon *d, struct pe *pe)
{
    pe->end_watch.fd = pidfd_open(pe->pid, 0);
    if (pe->end_watch.fd < 0)
        return daemon_report_start_failure(d, pe, "watch it (pidfd_open)");
    loop_want(d->loop, &pe->end_watch, LOOP_IN);
    d->live++;
    struct pack p = {0};
    pack_u32(&p, pe->rank);
    pack_u32(&p, (uint32_t)pe->pid);
    daemon_send(d, WIRE_STARTED, &p);
    daemon_report_binding(d, pe);
    return 0;
}

static int daemon_start_pe(struct daemon *d, struct pe *pe)
{
    const struct launch *launch = daemon_launch_of(d, pe->rank);
    const struct launch_command *c = launch_of(launch, d->job, pe->rank);
    struct child_spec spec = {.path = c->path,
                              .argv = c->argv,
                              .wdir_fd = launch->wdir_fd,
                              .reaper_fd = d->reaper->fd,
                              .files = d->files};
    spec.terminal = pe->rank == d->job->gdb_pe && isatty(STDIN_FILENO);
    if (d->bind.place != NULL) {
        spec.cpus = &d->bind.place[pe->local].cpus;
        spec.cpus_size = sizeof *spec.cpus;
    }
    if (pe_io_open(pe, spec.fd) != 0)
        return daemon_report_start_failure(d, pe, "make pipes");
    char **pmix = pmix_host_env(d->pmix, pe->rank);
    char **env = pmix != NULL ? launch_env(launch, pmix) : NULL;
    const char *step = "make the environment";
    atomic_store_explicit(&d->node->pe[pe->local].stage_ns[NODE_STAGE_FORK],
                          loop_now_ns(), memory_order_relaxed);
    spec.envp = env;
    pid_t pid = env != NULL ? child_start(&spec, &step) : -1;
    int err = errno;
    free(env);
    string_list_free(pmix);
    pe_io_started(pe, spec.fd);
    errno = err;
    if (pid < 0)
        return daemon_report_start_failure(d, pe, step);
    pe->pid = pid;
    return daemon_watch_end(d, pe);
}

/* SPAWN_PER_TURN PEs per iteration of the loop, so that it also sends keep-alives. */
static void daemon_on_spawn_timer(void *arg)
{
    struct daemon *d = arg;
    for (int i = 0; i < SPAWN_PER_TURN && d->spawned < d->npes; i++) {
        int rc = daemon_start_pe(d, &d->pe[d->spawned++]);
        if (rc == 0)
            continue;
        daemon_fail(d, rc);
        return;
    }
    if (d->spawned < d->npes) {
        loop_after(d->loop, &d->spawn, 0);
        return;
    }
    daemon_send_u32(d, WIRE_STAGE, DAEMON_STAGE_SPAWN);
    daemon_send_u32(d, WIRE_INPUT_WANTED, d->input.watch.fd >= 0);
    if (d->live == 0)
        daemon_all_ended(d);
}

/* Checked here because the messages of libpmix about a full file system give no
 * advice. */
static int daemon_check_tmpdir(const struct daemon *d)
{
    struct statvfs s;
    uint64_t need = TMPDIR_BYTES + (uint64_t)d->job->npes * TMPDIR_PE_BYTES;
    const char *dir = d->reaper->dir;
    uint64_t file = daemon_node_bytes(d->job);
    struct rlimit r;
    if (file < FILE_BYTES_MIN)
        file = FILE_BYTES_MIN;
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur < file) {
        error_report(
            "the limit of the size of files is %llu bytes, %llu are needed; raise it "
            "with `ulimit -f`",
            (unsigned long long)r.rlim_cur, (unsigned long long)file);
        return EXIT_ERROR;
    }
    if (statvfs(dir, &s) != 0 || (uint64_t)s.f_bavail * s.f_frsize >= need)
        return 0;
    error_report(
        "TMPDIR is full: the file system of %s has %llu KiB left, %llu are needed; set "
        "TMPDIR to a directory with more space",
        dir, (unsigned long long)s.f_bavail * s.f_frsize / 1024,
        (unsigned long long)need / 1024);
    return EXIT_ERROR;
}

static struct daemon *daemon_make(const struct job *job, struct loop *loop)
{
    struct daemon *d = mem_calloc(1, sizeof *d);
    d->job = job;
    d->loop = loop;
    d->node_fd = -1;
    d->input.watch.fd = -1;
    d->drain = (struct loop_timer){.fn = daemon_on_drain_timer, .arg = d};
    d->spawn = (struct loop_timer){.fn = daemon_on_spawn_timer, .arg = d};
    return d;
}

int daemon_start(struct daemon **made, const struct job *job, const struct tree *tree,
                 const struct net_out *out, uint64_t window, const struct nonce *nonce,
                 struct loop *loop, const struct reaper *reaper, struct rlimit files)
{
    struct daemon *d = *made = daemon_make(job, loop);
    d->out = *out;
    d->window = window;
    d->reaper = reaper;
    d->files = files;
    d->oom_kills = daemon_oom_kills();
    int rc = daemon_check_tmpdir(d);
    if (rc == 0)
        rc = daemon_plan(d);
    if (rc == 0)
        rc = daemon_start_server(d, tree);
    if (rc == 0)
        rc = daemon_ft_start(d, nonce);
    return rc;
}

int daemon_dry_run(const struct job *job)
{
    struct daemon *d = daemon_make(job, NULL);
    daemon_make_pes(d);
    snprintf(d->node_env, sizeof d->node_env, NODE_ENV "=/proc/PID/fd/FD");
    snprintf(d->job_env, sizeof d->job_env, NODE_JOB_ENV "=NAMESPACE");
    int rc = daemon_prepare_launch(d);
    if (rc == 0 && bind_make(&d->bind, job) != 0)
        rc = EXIT_ERROR;
    for (uint32_t i = 0; rc == 0 && i < d->npes; i++)
        launch_print(daemon_launch_of(d, d->pe[i].rank), job, d->pe[i].rank,
                     d->bind.place != NULL ? d->bind.place[i].text : NULL);
    daemon_stop(d);
    return rc;
}

static void daemon_disable_events(struct daemon *d)
{
    loop_cancel(d->loop, &d->spawn);
    loop_cancel(d->loop, &d->drain);
    loop_want(d->loop, &d->pmix_watch, 0);
    for (uint32_t i = 0; i < d->npes; i++) {
        if (d->pe[i].end_watch.fd < 0)
            continue;
        loop_want(d->loop, &d->pe[i].end_watch, 0);
        close(d->pe[i].end_watch.fd);
    }
}

void daemon_stop(struct daemon *d)
{
    if (d == NULL)
        return;
    stacks_free(d);
    if (d->loop != NULL) /* not a dry run */
        daemon_disable_events(d);
    daemon_kill(d, SIGKILL, NULL, 0);
    if (d->reaper != NULL)
        daemon_reap(d);
    pe_io_close_input(d);
    for (uint32_t i = 0; i < d->npes; i++)
        for (int s = 0; d->pe != NULL && s < DAEMON_STREAMS; s++)
            pe_io_close_stream(&d->pe[i].out[s]);
    daemon_ft_stop(d);
    pmix_net_free(d->pmix_net);
    for (uint32_t i = 0; d->launch != NULL && i < d->job->napps; i++)
        launch_free(&d->launch[i]);
    free(d->launch);
    bind_free(&d->bind);
    if (d->node != NULL)
        munmap(d->node, daemon_node_bytes(d->job));
    if (d->node_fd >= 0)
        close(d->node_fd);
    free(d->pe);
    free(d);
}
