/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon_main.c - see daemon_main.h.  Uses bootstrap.c, daemon.c, listener.c, route.c,
 * reaper.c, watchdog.c.
 *
 * The daemon connects to the front end, receives its position in the tree (PLACE),
 * connects to its parent if that is another daemon, receives the job from the parent, and
 * forwards it to its children when they connect.  Then it routes messages and executes
 * those addressed to it.  When it loses its parent, it ends its PEs and exits.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/job.h"
#include "tools/oshrun/daemon/bootstrap.h"
#include "tools/oshrun/daemon/daemon.h"
#include "tools/oshrun/daemon/daemon_main.h"
#include "tools/oshrun/reaper/watchdog.h"
#include "tools/oshrun/net/route.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EXIT_ERROR     1
#define HOST_BYTES     256
#define LINE_WAIT_MS   30000 /* for the bootstrap line */
#define STOP_MS        700   /* for children to disconnect */
#define FLUSH_MS       300   /* for the last messages */
#define CONNECT_MIN_MS 2000  /* a lost SYN is retransmitted after a second */
#define FT_STOPPED_MS  2000  /* at least, and .. */
#define FT_TIMEOUTS    10    /* .. so many timeouts of the ring: a daemon is stopped */
#define BAD            (-1)

struct serve {
    struct bootstrap *bootstrap; /* in seal_memory */
    struct loop loop;
    struct reaper reaper;
    struct rlimit files;
    struct loop_watch signals;
    struct watchdog watchdog;
    struct loop_timer stop;

    struct listener *listener;
    char addresses[ADDRESSES_MAX]; /* of our listener, for the children */
    struct connector *connector;
    struct link *front; /* first link to it; NULL: it is route.up now, or closed */
    struct route route;
    struct net_out out; /* to the front end and to other daemons, by route */
    bool placed;

    void *job_bytes;
    size_t job_len;
    struct job *job;
    struct daemon *d;
    int status;
    bool leaving;
};

/* An error_fn has no context argument. */
static struct serve *self;

static void daemon_main_leave(struct serve *s, int status)
{
    s->status = status;
    s->loop.stop = true;
}

/* Before PLACE, only standard error reaches the front end: the agent forwards it. */
static void daemon_main_on_error(const char *error_text)
{
    if (!self->placed)
        fprintf(stderr, "%s\n", error_text);
}

static void daemon_main_on_send(void *arg, const struct frame *f)
{
    struct serve *s = arg;
    route_send(&s->route, f);
}

static void daemon_main_send(struct serve *s, enum wire_type type, struct pack *p)
{
    net_out_send(&s->out, type, s->route.me, WIRE_FRONT, p);
}

/* Tells the front end of the last error. */
static void daemon_main_send_failed(struct serve *s, int status)
{
    struct pack p = {0};
    pack_u32(&p, (uint32_t)status);
    pack_string(&p, error_last());
    daemon_main_send(s, WIRE_FAILED, &p);
}

/* ---- connections ------------------------------------------------------------------ */

static const struct link_events link_events;

/* SLURMD_NODENAME is the host's name as Slurm knows it. */
static const char *daemon_main_host_name(char *buf, size_t len)
{
    const char *slurm = getenv("SLURMD_NODENAME");
    if (slurm != NULL)
        return slurm;
    if (gethostname(buf, len - 1) != 0)
        return "";
    buf[len - 1] = '\0';
    return buf;
}

static void daemon_main_say_hello(struct serve *s, struct link *l)
{
    char host[HOST_BYTES];
    struct pack p = {0};
    pack_u32(&p, WIRE_VERSION);
    pack_string(&p, PACKAGE_VERSION);
    pack_u32(&p, s->bootstrap->node);
    pack_string(&p, daemon_main_host_name(host, sizeof host));
    pack_u32(&p, (uint32_t)getpid());
    pack_u64(&p, loop_now_ns());
    pack_string(&p, s->addresses);
    link_send(l, &(struct frame){.type = WIRE_HELLO,
                                 .from = s->bootstrap->node,
                                 .to = WIRE_FRONT,
                                 .data = p.data,
                                 .len = p.len});
    pack_free(&p);
}

static void daemon_main_on_connector_failed(void *arg, const char *why)
{
    struct serve *s = arg;
    error_report("%s", why);
    if (s->placed) { /* reported on the first link to the front end */
        s->route.up = s->front;
        daemon_main_send_failed(s, EXIT_ERROR);
        s->route.up = NULL;
    }
    daemon_main_leave(s, EXIT_ERROR);
}

static struct link *daemon_main_open_link(struct serve *s, int fd, struct seal *seal,
                                          enum link_life life)
{
    struct link *l =
        link_open(&s->loop, fd, seal, s->bootstrap->timeout_ms, life, &link_events, s);
    if (l == NULL) {
        error_report(
            "cannot create the heartbeat thread (%s); is `ulimit -u` or `-v` too "
            "low?",
            strerror(errno));
        daemon_main_leave(s, EXIT_ERROR);
    }
    return l;
}

static void daemon_main_on_front(void *arg, int fd, struct seal *seal)
{
    struct serve *s = arg;
    s->front = daemon_main_open_link(s, fd, seal, LINK_MAY_STOP);
    if (s->front != NULL)
        daemon_main_say_hello(s, s->front);
}

static void daemon_main_on_parent(void *arg, int fd, struct seal *seal)
{
    struct serve *s = arg;
    s->route.up = daemon_main_open_link(s, fd, seal, LINK_AWAKE);
    if (s->route.up != NULL)
        daemon_main_say_hello(s, s->route.up);
}

/* connect_ms limits the answer of the host, prove_ms that of the process, which may still
 * start, or wait for its position. */
static void daemon_main_connect(struct serve *s, const char *addresses,
                                const struct connector_events *events)
{
    uint32_t ms = link_host_ms(s->bootstrap->timeout_ms);
    struct connector_limits limits = {.connect_ms =
                                          ms > CONNECT_MIN_MS ? ms : CONNECT_MIN_MS,
                                      .prove_ms = s->bootstrap->start_ms};
    if (s->connector != NULL)
        connector_free(s->connector);
    s->connector =
        connector_start(&s->loop, &s->bootstrap->nonce, addresses, limits, events, s);
}

/* ---- children --------------------------------------------------------------------- */

static struct frame daemon_main_job_frame(const struct serve *s, uint32_t to)
{
    return (struct frame){.type = WIRE_JOB,
                          .from = s->route.me,
                          .to = to,
                          .data = s->job_bytes,
                          .len = s->job_len};
}

/* HELLO of another daemon.  BAD: it is no child of ours, or is attached already. */
static int daemon_main_recv_child(struct serve *s, struct link *l, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    uint32_t wire = unpack_u32(&u);
    unpack_string(&u);
    uint32_t node = unpack_u32(&u);
    if (u.failed || wire != WIRE_VERSION)
        return BAD;
    struct frame job = daemon_main_job_frame(s, node);
    return route_attach(&s->route, node, l, s->job != NULL ? &job : NULL);
}

static int daemon_main_recv_place(struct serve *s, const struct frame *f)
{
    static const struct connector_events to_parent = {
        .made = daemon_main_on_parent, .failed = daemon_main_on_connector_failed};
    struct unpack u = unpack_of(f->data, f->len);
    uint32_t node = unpack_u32(&u);
    struct tree t = {.nnodes = unpack_u32(&u)};
    t.fanout = unpack_u32(&u);
    const char *parent = unpack_string(&u);
    if (!unpack_done(&u) || node >= t.nnodes || t.fanout == 0 || s->placed)
        return BAD;
    route_open(&s->route, &t, node);
    s->bootstrap->node = node;
    s->placed = true;
    listener_watch(s->listener, true);
    if (parent != NULL) {
        daemon_main_connect(s, parent, &to_parent);
        return 0;
    }
    s->route.up = s->front;
    s->front = NULL;
    return 0;
}

static void daemon_main_on_accepted(void *arg, int fd, struct seal *seal)
{
    daemon_main_open_link(arg, fd, seal, LINK_AWAKE);
}

static void daemon_main_on_refused(void *arg, const char *error_text)
{
    struct pack p = {0};
    pack_string(&p, error_text);
    daemon_main_send(arg, WIRE_SAY, &p);
}

/* ---- the job ---------------------------------------------------------------------- */

/* A stopped daemon cannot end its PEs when the other nodes consider this one failed: with
 * SHMEM_FT=continue the reaper does it soon. */
static int daemon_main_watch_closely(struct serve *s)
{
    uint32_t ms = FT_TIMEOUTS * s->job->ft.timeout_ms;
    ms = ms > FT_STOPPED_MS ? ms : FT_STOPPED_MS;
    if (!s->job->ft.on || ms >= s->bootstrap->timeout_ms)
        return 0;
    return watchdog_set_timeout(&s->watchdog, ms);
}

static int daemon_main_recv_job(struct serve *s, const struct frame *f)
{
    if (s->job != NULL)
        return BAD;
    s->job_bytes = mem_alloc(f->len + 1);
    memcpy(s->job_bytes, f->data, f->len);
    s->job_len = f->len;
    struct unpack u = unpack_of(s->job_bytes, s->job_len);
    s->job = job_unpack(&u, s->route.me);
    if (s->job == NULL || s->job->nnodes != s->route.tree.nnodes)
        return BAD;
    for (uint32_t i = 0; i < tree_children(&s->route.tree, s->route.me); i++) {
        uint32_t child = tree_child(&s->route.tree, s->route.me, i);
        struct frame job = daemon_main_job_frame(s, child);
        if (route_has_child(&s->route, child))
            route_send(&s->route, &job);
    }
    route_push(&s->route); /* the start of the PMIx server takes long */
    if (s->front != NULL) {
        link_send(
            s->front,
            &(struct frame){.type = WIRE_PLACE, .from = s->route.me, .to = WIRE_FRONT});
        link_flush(s->front, FLUSH_MS);
        link_free(s->front);
        s->front = NULL;
    }
    int rc = daemon_main_watch_closely(s) != 0 ? EXIT_ERROR : 0;
    if (rc == 0)
        rc = daemon_start(&s->d, s->job, &s->route.tree, &s->out, s->bootstrap->window,
                          &s->bootstrap->nonce, &s->loop, &s->reaper, s->files);
    if (rc != 0) {
        daemon_main_send_failed(s, rc);
        daemon_stop(s->d);
        s->d = NULL;
    }
    return 0;
}

/* ---- commands --------------------------------------------------------------------- */

static int daemon_main_recv_local(struct serve *s, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    if (f->type == WIRE_JOB)
        return daemon_main_recv_job(s, f);
    if (f->type != WIRE_STOP)
        return s->d != NULL ? daemon_recv(s->d, f) : 0;
    if (unpack_u8(&u) != 0)
        reaper_send(s->reaper.fd, REAPER_SPARE, 0);
    s->leaving = true;
    s->status = 0;
    if (!route_has_children(&s->route))
        s->loop.stop = true;
    else /* they disconnect when they have stopped */
        loop_after(&s->loop, &s->stop, STOP_MS);
    return 0;
}

/* ---- links ------------------------------------------------------------------------ */

static int daemon_main_recv_frame(struct serve *s, struct link *l, const struct frame *f)
{
    if (l == s->front)
        return f->type == WIRE_PLACE ? daemon_main_recv_place(s, f) : BAD;
    if (l != s->route.up && route_child_of(&s->route, l) == WIRE_NONE) {
        if (f->type == WIRE_HELLO && daemon_main_recv_child(s, l, f) == 0)
            return 0;
        link_free(l); /* authenticated, but not a child of ours */
        return 0;
    }
    return route_recv(&s->route, l, f) ? daemon_main_recv_local(s, f) : 0;
}

static void daemon_main_on_frame(void *arg, struct link *l, const struct frame *f)
{
    struct serve *s = arg;
    if (s->leaving || daemon_main_recv_frame(s, l, f) == 0)
        return;
    error_report("received an invalid message (%s)", wire_name(f->type));
    if (s->route.up != NULL)
        daemon_main_send_failed(s, EXIT_ERROR);
    daemon_main_leave(s, EXIT_ERROR);
}

static void daemon_main_child_down(struct serve *s, uint32_t node, const char *why)
{
    struct pack p = {0};
    pack_u32(&p, node);
    pack_string(&p, why);
    route_detach(&s->route, node);
    if (s->leaving) {
        pack_free(&p);
        if (!route_has_children(&s->route))
            s->loop.stop = true;
        return;
    }
    if (s->d != NULL)
        daemon_recv(s->d,
                    &(struct frame){.type = WIRE_LOST, .data = p.data, .len = p.len});
    daemon_main_send(s, WIRE_LOST, &p);
}

/* The other side is told by the link, the front end also by the other link, if there
 * are two. */
static void daemon_main_up_down(struct serve *s, const struct link *l, const char *why)
{
    struct link *up = s->route.up, *other = l == s->front ? up : s->front;
    if (link_not_authentic(l)) {
        error_report("the %s of this node daemon, at %s, %s",
                     l == s->front ? "front end" : "parent", link_peer(l), why);
        s->route.up = other;
        if (other != NULL)
            daemon_main_send_failed(s, EXIT_ERROR);
        s->route.up = up;
    } else if (s->job == NULL) { /* the front end may only see that this process ends */
        error_report("the %s of this node daemon, at %s, %s",
                     l == s->front ? "front end" : "parent", link_peer(l), why);
    }
    daemon_main_leave(s, EXIT_ERROR);
}

/* A daemon that has sent no HELLO. */
static void daemon_main_unidentified_down(struct serve *s, struct link *l,
                                          const char *why)
{
    struct pack p = {0};
    if (link_not_authentic(l)) {
        char text[ERROR_BYTES];
        snprintf(text, sizeof text, "the node daemon at %s %s", link_peer(l), why);
        pack_string(&p, text);
        daemon_main_send(s, WIRE_SAY, &p);
    }
    link_free(l);
}

static void daemon_main_on_down(void *arg, struct link *l, const char *why)
{
    struct serve *s = arg;
    uint32_t child = route_child_of(&s->route, l);
    if (l == s->route.up || l == s->front) {
        if (!s->leaving)
            daemon_main_up_down(s, l, why);
    } else if (child != WIRE_NONE) {
        daemon_main_child_down(s, child, why);
    } else {
        daemon_main_unidentified_down(s, l, why);
    }
}

static const struct link_events link_events = {.frame = daemon_main_on_frame,
                                               .down = daemon_main_on_down};

/* ---- the process ------------------------------------------------------------------ */

static void daemon_main_on_signal(void *arg, unsigned ready)
{
    struct serve *s = arg;
    struct signalfd_siginfo si;
    (void)ready;
    if (read(s->signals.fd, &si, sizeof si) != sizeof si)
        return;
    int sig = (int)si.ssi_signo;
    error_report("the node daemon got signal %d (%s)", sig, strsignal(sig));
    if (s->route.up != NULL && !s->leaving)
        daemon_main_send_failed(s, EXIT_ERROR);
    daemon_main_leave(s, EXIT_ERROR);
}

static int daemon_main_watch_signals(struct serve *s)
{
    static const int watched[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    /* A terminal sends them, or a user who means the front end. */
    static const int ignored[] = {SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGALRM};
    sigset_t set;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&set, watched[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    s->signals = (struct loop_watch){.fd = fd, .fn = daemon_main_on_signal, .arg = s};
    if (fd < 0)
        return -1;
    loop_want(&s->loop, &s->signals, LOOP_IN);
    return 0;
}

static void daemon_main_on_stop(void *arg)
{
    struct serve *s = arg;
    s->loop.stop = true;
}

static int daemon_main_open_up(struct serve *s)
{
    static const struct listener_events at_listener = {.came = daemon_main_on_accepted,
                                                       .refused = daemon_main_on_refused};
    static const struct connector_events to_front = {
        .made = daemon_main_on_front, .failed = daemon_main_on_connector_failed};
    char why[ERROR_BYTES];
    if (loop_open(&s->loop) != 0 || daemon_main_watch_signals(s) != 0) {
        error_report("cannot make an event loop: %s", strerror(errno));
        return -1;
    }
    const char *which = s->bootstrap->which[0] != '\0' ? s->bootstrap->which : NULL;
    s->listener = listener_open(&s->loop, &s->bootstrap->nonce, which, s->addresses,
                                &at_listener, s, why, sizeof why);
    if (s->listener == NULL) {
        error_report("cannot listen for other node daemons: %s", why);
        return -1;
    }
    listener_watch(s->listener, false); /* until PLACE tells which are our children */
    if (watchdog_start(&s->watchdog, &s->loop, s->reaper.fd, s->bootstrap->timeout_ms) !=
        0)
        return -1;
    daemon_main_connect(s, s->bootstrap->at, &to_front);
    return 0;
}

static void daemon_main_close_standard(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null > STDERR_FILENO) {
        dup2(null, fd);
        close(null);
    }
}

static void daemon_main_clean_up(struct serve *s)
{
    /* Messages of libpmix about the end of its server are of no use to the user. */
    if (s->placed)
        daemon_main_close_standard(STDERR_FILENO);
    daemon_stop(s->d);
    if (s->connector != NULL)
        connector_free(s->connector);
    if (s->listener != NULL)
        listener_close(s->listener);
    watchdog_stop(&s->watchdog);
    reaper_stop(&s->reaper);
    /* Last: the end of our link tells the parent that no process of the job is left
     * here. */
    if (s->route.up != NULL)
        link_flush(s->route.up, FLUSH_MS);
    if (s->front != NULL) {
        link_flush(s->front, FLUSH_MS);
        link_free(s->front);
    }
    route_close(&s->route);
    loop_close(&s->loop);
    job_free(s->job);
    free(s->job_bytes);
    seal_memory_free(s->bootstrap, sizeof *s->bootstrap);
}

int daemon_main(struct rlimit files)
{
    static struct serve s;
    char host[HOST_BYTES];
    self = &s;
    s.files = files;
    s.route.me = WIRE_NONE;
    s.out = (struct net_out){.send = daemon_main_on_send, .arg = &s};
    s.stop = (struct loop_timer){.fn = daemon_main_on_stop, .arg = &s};
    error_redirect(daemon_main_on_error);
    s.bootstrap = mem_secret(sizeof *s.bootstrap);
    if (bootstrap_read(s.bootstrap, STDIN_FILENO, LINE_WAIT_MS) != 0)
        return EXIT_ERROR;
    /* PEs must neither inherit the pipe of the starter nor wait for input on it. */
    daemon_main_close_standard(STDIN_FILENO);
    /* The agent forwards this line: the front end now waits for the daemon only, not for
     * the agent. */
    printf(BOOTSTRAP_UP "%u %s\n", s.bootstrap->node,
           daemon_main_host_name(host, sizeof host));
    fflush(stdout);
    if (reaper_start(&s.reaper) != 0)
        return EXIT_ERROR;
    s.status = EXIT_ERROR;
    if (daemon_main_open_up(&s) == 0)
        loop_run(&s.loop);
    daemon_main_clean_up(&s);
    return s.status;
}
