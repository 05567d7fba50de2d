/* SPDX-License-Identifier: BSD-3-Clause */
/* starter_test.c - start and end of daemons and launch agents that are shell scripts. */
#include "config.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/reaper/reaper.h"
#include "tools/oshrun/start/starter.h"

#define NODES_MAX 100
#define LINES_MAX 400
#define WAIT_MS   20000
#define SHORT_MS  300
#define STOPS_MS  20000

/* Like ssh: the arguments after the host are joined to one shell command. */
#define AS_SSH "host=$1; shift; HOST=$host exec sh -c \"$*\""

static struct {
    char dir[64];
    struct loop loop;
    struct starter *s;
    int reaper[2];
    char *line[LINES_MAX];
    size_t lines;
    uint64_t bytes;
    size_t ended, failed, wanted_ends;
    size_t most; /* maximum of agents that had reported and not connected */
    size_t here;
    const char *wanted; /* line awaited by run_until */
    uint32_t arrive[NODES_MAX];
    size_t arrivals;
    struct loop_timer late, arrival;
    char why[NODES_MAX][2048];
    char error[ERROR_BYTES];
} t;

/* ---- events of the starter -------------------------------------------------------- */

static void said(void *arg, uint32_t node, const char *line)
{
    (void)arg;
    t.bytes += strlen(line);
    if (t.lines < LINES_MAX)
        cr_assert(asprintf(&t.line[t.lines++], "%d %s", (int)node, line) > 0);
    if (t.wanted != NULL && strcmp(line, t.wanted) == 0)
        t.loop.stop = true;
}

static void ended(void *arg, uint32_t node, bool failed, const char *why)
{
    (void)arg;
    snprintf(t.why[node == STARTER_ALL ? 0 : node], sizeof t.why[0], "%s", why);
    t.failed += failed;
    if (++t.ended == t.wanted_ends)
        t.loop.stop = true;
}

static uint32_t agents_started;

static void started(void *arg, uint32_t node)
{
    (void)arg, (void)node;
    agents_started++;
}

static uint32_t daemons_up;

static void up(void *arg, uint32_t node, const char *host)
{
    (void)arg, (void)node, (void)host;
    daemons_up++;
}

static const struct starter_events events = {
    .started = started, .up = up, .said = said, .ended = ended};

static void on_late(void *arg)
{
    (void)arg;
    t.loop.stop = true;
}

static void note_error(const char *error_text)
{
    snprintf(t.error, sizeof t.error, "%s", error_text);
}

/* ---- helpers ---------------------------------------------------------------------- */

static void set_up(void)
{
    snprintf(t.dir, sizeof t.dir, "/tmp/starter-test.XXXXXX");
    cr_assert_not_null(mkdtemp(t.dir));
    cr_assert_eq(loop_open(&t.loop), 0);
    cr_assert_eq(pipe2(t.reaper, O_CLOEXEC | O_NONBLOCK), 0);
    t.late = (struct loop_timer){.fn = on_late};
    signal(SIGPIPE, SIG_IGN);
    error_redirect(note_error);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void empty_dir(void)
{
    struct dirent *e;
    DIR *d = opendir(t.dir);
    while (d != NULL && (e = readdir(d)) != NULL)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d != NULL)
        closedir(d);
    rmdir(t.dir);
}

static void forget_lines(void)
{
    while (t.lines > 0)
        free(t.line[--t.lines]);
}

static void tear_down(void)
{
    starter_stop(t.s);
    forget_lines();
    loop_close(&t.loop);
    empty_dir();
}

TestSuite(starter, .init = set_up, .fini = tear_down, .timeout = 60);

/* Makes an executable script in the directory; its path is in a ring of a few. */
static const char *script(const char *name, const char *text)
{
    static char path[4][PATH_MAX];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, PATH_MAX, "%s/%s", t.dir, name);
    FILE *f = fopen(p, "we");
    cr_assert_not_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", text);
    fclose(f);
    cr_assert_eq(chmod(p, S_IRWXU), 0);
    return p;
}

static struct starter_config config(enum starter_kind kind, uint32_t nodes,
                                    const char *daemon)
{
    static const char *host[NODES_MAX];
    static bool local[NODES_MAX];
    for (uint32_t i = 0; i < NODES_MAX; i++) {
        host[i] = i == 0 ? "n0" : i == 1 ? "n1" : "nx";
        local[i] = false;
    }
    struct starter_config c = {.kind = kind,
                               .nnodes = nodes,
                               .host = host,
                               .local = local,
                               .daemon_path = daemon,
                               .line = "nonce=12 front=1.2.3.4:5",
                               .reaper_fd = t.reaper[1]};
    getrlimit(RLIMIT_NOFILE, &c.files);
    return c;
}

static void run_for(uint64_t ms)
{
    t.loop.stop = false;
    loop_after(&t.loop, &t.late, ms);
    loop_run(&t.loop);
    loop_cancel(&t.loop, &t.late);
}

/* Runs until this many agents have ended. */
static void run(const struct starter_config *c, size_t ends)
{
    t.wanted_ends = ends;
    t.s = starter_begin(&t.loop, c, &events, NULL);
    cr_assert_not_null(t.s, "%s", t.error);
    cr_assert_eq(t.ended + t.lines, 0);
    run_for(WAIT_MS);
    cr_assert_eq(t.ended, ends, "%zu of %zu have ended", t.ended, ends);
}

/* Run until this line is received. */
static void run_until(const struct starter_config *c, const char *line)
{
    t.wanted = line;
    t.s = starter_begin(&t.loop, c, &events, NULL);
    cr_assert_not_null(t.s, "%s", t.error);
    run_for(WAIT_MS);
    cr_assert_neq(t.lines, 0, "no line was received");
}

static bool has_line(const char *line)
{
    for (size_t i = 0; i < t.lines; i++)
        if (strcmp(t.line[i], line) == 0)
            return true;
    return false;
}

static void expect_line(const char *line)
{
    if (has_line(line))
        return;
    for (size_t i = 0; i < t.lines; i++)
        fprintf(stderr, "said: %s\n", t.line[i]);
    cr_assert(false, "no line '%s'", line);
}

static size_t open_files(void)
{
    size_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

/* The number in the line "NODE what=NUMBER". */
static pid_t said_pid(const char *what)
{
    for (size_t i = 0; i < t.lines; i++) {
        const char *at = strstr(t.line[i], what);
        if (at != NULL)
            return (pid_t)atoi(at + strlen(what));
    }
    cr_assert(false, "nothing said %s", what);
    return -1;
}

/* The process does not exist, not even as a zombie (orphans become our children). */
static void expect_gone(pid_t pid)
{
    for (int i = 0; i < WAIT_MS / 10 && kill(pid, 0) == 0; i++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        usleep(10000);
    }
    cr_assert(kill(pid, 0) != 0 && errno == ESRCH, "process %d is left", (int)pid);
}

static void stop(void)
{
    uint64_t start = loop_now_ns();
    starter_stop(t.s);
    t.s = NULL;
    cr_assert_leq((loop_now_ns() - start) / 1000000, STOPS_MS);
}

/* ---- children on this machine ----------------------------------------------------- */

Test(starter, children_get_their_line_and_nothing_else)
{
    size_t files = open_files();
    close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC); /* Criterion's */
    const char *d =
        script("it's a \"daemon\" $HOME",
               "echo \"argument $*\"; cat >\"$0.$$\"; cat \"$0.$$\"; wc -c <\"$0.$$\"\n"
               "set -- $(sed 's/.*) //' /proc/$$/stat); echo alone $(($$ - $4))\n"
               "exec ls -C /proc/self/fd\n");
    struct starter_config c = config(STARTER_LOCAL, 3, d);
    run(&c, 3);
    cr_assert_eq(t.failed, 0);
    expect_line("0 argument --node-daemon");
    expect_line("0 nonce=12 front=1.2.3.4:5 node=0");
    expect_line("1 nonce=12 front=1.2.3.4:5 node=1");
    expect_line("2 nonce=12 front=1.2.3.4:5 node=2");
    expect_line("2 32");
    expect_line("1 alone 0");    /* leads a session */
    expect_line("1 0  1  2  3"); /* 3 is that of ls */
    cr_assert_str_eq(t.why[0], "the node daemon ended with status 0: 0  1  2  3");
    stop();
    cr_assert_eq(open_files(), files);
}

Test(starter, children_that_cannot_be_run)
{
    struct starter_config c = config(STARTER_LOCAL, 2, "/nonexistent/oshrun");
    run(&c, 2);
    cr_assert_eq(t.failed, 2);
    cr_assert_str_eq(t.why[1],
                     "cannot run /nonexistent/oshrun: No such file or directory");
}

Test(starter, a_child_that_a_signal_ends)
{
    const char *d = script("d", "echo first; printf last >&2; kill -9 $$");
    struct starter_config c = config(STARTER_LOCAL, 1, d);
    run(&c, 1);
    cr_assert_eq(t.failed, 1);
    expect_line("0 first");
    cr_assert_str_eq(t.why[0], "the node daemon was ended by signal 9 (Killed): last");
}

Test(starter, a_long_line_goes_through_the_pipe)
{
    enum { LONG = 300000 };
    char *line = malloc(LONG + 1);
    memset(line, 'x', LONG);
    line[LONG] = '\0';
    const char *d = script("d", "sleep 0.1; wc -c");
    struct starter_config c = config(STARTER_LOCAL, 1, d);
    c.line = line;
    t.wanted_ends = 1;
    t.s = starter_begin(&t.loop, &c, &events, NULL);
    memset(line, 'y', LONG); /* it has a copy */
    free(line);
    run_for(WAIT_MS);
    expect_line("0 300008");
}

Test(starter, a_daemon_that_does_not_read)
{
    const char *d = script("d", "exec <&-; sleep 0.1; exit 3");
    struct starter_config c = config(STARTER_LOCAL, 1, d);
    run(&c, 1);
    cr_assert_str_eq(t.why[0], "the node daemon ended with status 3");
}

/* ---- agents ----------------------------------------------------------------------- */

Test(starter, an_agent_brings_the_daemon)
{
    const char *d = script("it's a \"daemon\" $HOME", "echo \"$HOST $*\"; cat");
    const char *agent = script("my-agent", "echo args=$#; " AS_SSH);
    struct starter_config c = config(STARTER_AGENT, 2, d);
    c.agent = agent;
    ((bool *)(uintptr_t)c.local)[1] = true;
    run(&c, 2);
    expect_line("0 args=2");
    expect_line("0 n0 --node-daemon");
    expect_line("0 nonce=12 front=1.2.3.4:5 node=0");
    expect_line("1  --node-daemon"); /* a child: without the agent */
    cr_assert_str_eq(t.why[0], "my-agent ended with status 0: nonce=12 "
                               "front=1.2.3.4:5 node=0");
}

Test(starter, agents_that_do_not_exist)
{
    struct starter_config c = config(STARTER_AGENT, 1, "/bin/true");
    c.agent = "no-such-agent -x";
    cr_assert_null(starter_begin(&t.loop, &c, &events, NULL));
    cr_assert_str_eq(t.error, "cannot run the launch agent 'no-such-agent': No such "
                              "file or directory");
    c.agent = " ";
    cr_assert_null(starter_begin(&t.loop, &c, &events, NULL));
    c.agent = "ssh %r@%h";
    cr_assert_null(starter_begin(&t.loop, &c, &events, NULL));
    cr_assert(strstr(t.error, "'%r'") != NULL, "%s", t.error);
    ((bool *)(uintptr_t)c.local)[0] = true; /* no host needs the agent */
    c.agent = "no-such-agent";
    run(&c, 1);
}

Test(starter, why_an_agent_ended)
{
    static const struct {
        const char *agent, *daemon, *why;
    } row[] = {
        {"echo 'ssh: connect to host n0: No route to host\r' >&2; exit 255", "/bin/true",
         "agent ended with status 255: ssh: connect to host n0: No route to host"},
        {"exit 255", "/bin/true", "agent ended with status 255"},
        {"exit 127", "/opt/oshrun",
         "/opt/oshrun is not there (status 127); install pgas on that host, or set "
         "SHMEM_LAUNCH_DAEMON to where oshrun is there"},
        {"echo not found; exit 127", "/opt/oshrun",
         "/opt/oshrun is not there (status 127: not found); install pgas on that host, "
         "or set SHMEM_LAUNCH_DAEMON to where oshrun is there"},
        {"echo x: error while loading shared libraries: libpmix.so.2; exit 127", "/o",
         "/o cannot be run (status 127: x: error while loading shared libraries: "
         "libpmix.so.2); install pgas on that host, or set SHMEM_LAUNCH_DAEMON to where "
         "oshrun is there"},
        {"exit 126", "/opt/oshrun",
         "/opt/oshrun cannot be run (status 126); install pgas on that host, or set "
         "SHMEM_LAUNCH_DAEMON to where oshrun is there"},
        {"kill -15 $$", "/o", "agent was ended by signal 15 (Terminated)"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct starter_config c = config(STARTER_AGENT, 1, row[i].daemon);
        c.agent = script("agent", row[i].agent);
        forget_lines();
        t.ended = 0;
        run(&c, 1);
        cr_expect_str_eq(t.why[0], row[i].why);
        stop();
    }
    cr_assert_eq(t.failed, sizeof row / sizeof *row);
}

Test(starter, status_127_after_the_daemon_has_started_is_no_error_of_the_path)
{
    struct starter_config c = config(STARTER_AGENT, 1, "/opt/oshrun");
    c.agent = script("agent", "echo up; sleep 0.3; exit 127");
    run_until(&c, "up");
    starter_arrived(t.s, 0);
    t.wanted_ends = 1;
    run_for(WAIT_MS);
    cr_assert_str_eq(t.why[0], "agent ended with status 127: up");
}

Test(starter, agents_that_write_much_and_arbitrary_bytes)
{
    struct starter_config c = config(STARTER_AGENT, 1, "/bin/true");
    c.agent = script("agent",
                     "echo start; head -c 5000000 /dev/zero | tr '\\0' a; echo\n"
                     "head -c 200000 /dev/urandom; printf '\\n\\001\\033[1m\\tz\\r\\n'\n"
                     "yes 0123456789 | head -n 200000; printf 'the end'; exit 1");
    run(&c, 1);
    expect_line("0 start");
    for (size_t i = 0; i < t.lines; i++)
        cr_assert_lt(strlen(t.line[i]), 600);
    cr_assert_gt(t.bytes, 5000000 + 10 * 200000);
    cr_assert_lt(t.bytes, 5200000 + 10 * 200000 + 100);
    cr_assert_str_eq(t.why[0], "agent ended with status 1: the end");
}

Test(starter, control_characters_do_not_reach_the_terminal)
{
    struct starter_config c = config(STARTER_LOCAL, 1, script("d", ""));
    c.daemon_path = script("d", "printf '\\001\\033[1m\\tz\\177\\303\\244\\r\\n\\n \\n'");
    run(&c, 1);
    expect_line("0 ??[1m\tz?\303\244");
    cr_assert_eq(t.lines, 1);
}

Test(starter, output_of_processes_that_an_agent_left_is_read)
{
    struct starter_config c = config(STARTER_AGENT, 1, "/bin/true");
    c.agent = script("agent", "(sleep 2; echo pid=$$; echo later) & exit 0");
    run(&c, 1);
    cr_assert_eq(t.lines, 0);
    t.wanted = "later";
    run_for(WAIT_MS);
    expect_line("0 later");
    pid_t group = said_pid("pid=");
    stop();
    expect_gone(-group);
}

Test(starter, an_incomplete_last_line_is_reported)
{
    struct starter_config c = config(STARTER_AGENT, 1, "/bin/true");
    c.agent = script("agent", "sleep 100 & printf half; exit 9"); /* sleep has the pipe */
    run(&c, 1);
    cr_assert_str_eq(t.why[0], "agent ended with status 9: half");
}

/* ---- limit of concurrent agents --------------------------------------------------- */

static void on_arrival(void *arg)
{
    (void)arg;
    starter_arrived(t.s, t.arrive[t.arrivals++]);
    t.here--;
    if (t.arrivals < t.lines)
        loop_after(&t.loop, &t.arrival, 1);
    else if (t.arrivals == NODES_MAX)
        t.loop.stop = true;
}

/* When an agent reports "up" its daemon connects, one at a time. */
static void said_up(void *arg, uint32_t node, const char *line)
{
    t.arrive[t.lines] = node;
    said(arg, node, line);
    if (++t.here > t.most)
        t.most = t.here;
    if (!t.arrival.running && (t.arrivals > 0 || t.here == 32))
        loop_after(&t.loop, &t.arrival, t.arrivals == 0 ? SHORT_MS * 5 : 1);
}

Test(starter, at_most_32_at_a_time)
{
    static const struct starter_events with_call = {
        .started = started, .up = up, .said = said_up, .ended = ended};
    struct starter_config c = config(STARTER_AGENT, NODES_MAX, "/bin/true");
    c.agent = script("agent", "echo up; exec sleep 100");
    t.arrival = (struct loop_timer){.fn = on_arrival};
    t.s = starter_begin(&t.loop, &c, &with_call, NULL);
    run_for(WAIT_MS);
    cr_assert_eq(t.arrivals, NODES_MAX);
    cr_assert_eq(t.most, 32, "%zu were started at once", t.most);
    cr_assert_eq(t.ended, 0);
    stop();
}

Test(starter, reports_that_a_daemon_is_up)
{
    struct starter_config c = config(STARTER_AGENT, 1, "/bin/true");
    c.agent = script("agent", "echo 'node daemon is up: 7 n7'; echo up; exit 3");
    run(&c, 1);
    cr_assert_eq(daemons_up, 1);
    cr_assert_eq(t.failed, 1);
}

Test(starter, the_next_agent_starts_when_one_ends)
{
    struct starter_config c = config(STARTER_AGENT, NODES_MAX, "/bin/true");
    c.agent = script("agent", "exit 0");
    run(&c, NODES_MAX);
    cr_assert_eq(t.failed, 0);
}

/* ---- the end ---------------------------------------------------------------------- */

Test(starter, stop_kills_agents_that_ignore_sigterm)
{
    size_t files = open_files();
    struct starter_config c = config(STARTER_AGENT, 1, "/bin/true");
    c.agent = script("agent", "trap '' TERM; echo pid=$$; sleep 100 &\n"
                              "echo child=$!; echo up; while :; do sleep 1; done");
    run_until(&c, "up");
    pid_t pid = said_pid("pid="), child = said_pid("child=");
    stop();
    expect_gone(pid);
    expect_gone(-pid);
    expect_gone(child);
    cr_assert_eq(open_files(), files);
}

Test(starter, stop_reads_the_last_output)
{
    const char *d = script("d", "trap 'echo bye; exit 0' TERM; echo up\n"
                                "sleep 100 & wait");
    struct starter_config c = config(STARTER_LOCAL, 1, d);
    run_until(&c, "up");
    stop();
    expect_line("0 bye");
    cr_assert_eq(t.ended, 0);
}

Test(starter, stop_waits_for_connected_daemons)
{
    struct starter_config c = config(STARTER_AGENT, 2, "/bin/true");
    c.agent = script("agent", "trap 'echo TERM' TERM; echo up\n"
                              "case $1 in *1) sleep 0.2; echo leaves ;;\n"
                              "*) sleep 30 & wait; kill $! ;; esac");
    run_until(&c, "up");
    run_for(SHORT_MS / 4);
    starter_arrived(t.s, 1);
    stop();
    expect_line("0 TERM");
    expect_line("1 leaves");
    cr_assert(!has_line("1 TERM"));
}

Test(starter, stop_of_one_that_is_stopped)
{
    const char *d = script("d", "echo pid=$$; trap 'echo bye; exit 0' TERM; echo up\n"
                                "kill -STOP $$; sleep 100 & wait");
    struct starter_config c = config(STARTER_LOCAL, 1, d);
    run_until(&c, "up");
    pid_t pid = said_pid("pid=");
    usleep(SHORT_MS * 1000);
    stop();
    expect_line("0 bye");
    expect_gone(pid);
}

Test(starter, stop_before_anything_has_started)
{
    size_t files = open_files();
    struct starter_config c = config(STARTER_LOCAL, 2, "/bin/true");
    t.s = starter_begin(&t.loop, &c, &events, NULL);
    stop();
    run_for(SHORT_MS);
    cr_assert_eq(t.ended, 0);
    cr_assert_eq(open_files(), files);
}

Test(starter, the_reaper_gets_the_groups)
{
    const char *d = script("d", "echo pid=$$; echo up; exec sleep 100");
    struct starter_config c = config(STARTER_LOCAL, 1, d);
    run_until(&c, "up");
    struct reaper_message m[8];
    cr_assert_eq(read(t.reaper[0], m, sizeof m), sizeof *m);
    cr_assert_eq(m[0].kind, REAPER_GROUP);
    cr_assert_eq(m[0].value, said_pid("pid="));
    stop();
    cr_assert_eq(read(t.reaper[0], m, sizeof m), sizeof *m);
    cr_assert_eq(m[0].kind, REAPER_FORGET);
}

/* ---- srun ------------------------------------------------------------------------- */

static void make_srun(const char *text)
{
    char path[PATH_MAX];
    script("srun", text);
    snprintf(path, sizeof path, "%s:%s", t.dir, getenv("PATH"));
    setenv("PATH", path, 1);
}

Test(starter, one_srun_for_all)
{
    make_srun("echo $#; for a; do echo \"$a\"; done; cat; env | grep SLURM; exit 1");
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_NTASKS", "70", 1);
    setenv("SLURM_CPU_BIND", "verbose", 1);
    setenv("SRUN_CPUS_PER_TASK", "5", 1);
    struct starter_config c = config(STARTER_SRUN, 3, "/opt/my oshrun");
    run(&c, 1);
    cr_assert_eq(t.failed, 1);
    expect_line("-1 --nodes=3");
    expect_line("-1 --ntasks=3");
    expect_line("-1 --nodelist=n0,n1,nx");
    expect_line("-1 /opt/my oshrun");
    expect_line("-1 --node-daemon");
    expect_line("-1 nonce=12 front=1.2.3.4:5");
    expect_line("-1 SLURM_JOB_ID=7");
    cr_assert(!has_line("-1 SLURM_NTASKS=70") && !has_line("-1 SLURM_CPU_BIND=verbose"));
    cr_assert_str_eq(t.why[0], "srun ended with status 1: SLURM_JOB_ID=7");
    starter_arrived(t.s, 2);
}

Test(starter, messages_of_srun)
{
    make_srun("echo 'srun: cluster configuration lacks support for cpu binding'\n"
              "echo 'slurmstepd-n1: error: execve(): /o: No such file or directory'\n"
              "echo 'srun: error: n1: task 1: Exited with exit code 2'; exit 2");
    struct starter_config c = config(STARTER_SRUN, 2, "/o");
    run(&c, 1);
    cr_assert_eq(t.lines, 2);
    cr_assert_str_eq(t.why[0],
                     "/o cannot be run (slurmstepd-n1: error: execve(): /o: No "
                     "such file or directory); install pgas on that host, or set "
                     "SHMEM_LAUNCH_DAEMON to where oshrun is there");
}

static const char one_of_two_fails[] =
    "echo pid=$$; echo 'srun: error: n1: task 1: Exited with exit code 3'\n"
    "echo 'n1: no way'; trap 'exit 5' TERM; sleep 100 & wait";

Test(starter, srun_continues_without_one_daemon)
{
    make_srun(one_of_two_fails);
    struct starter_config c = config(STARTER_SRUN, 2, "/o");
    run(&c, 1);
    cr_assert_str_eq(t.why[0],
                     "n1: no way; srun: error: n1: task 1: Exited with exit code 3");
    kill(said_pid("pid="), SIGTERM);
    run_for(SHORT_MS);
    cr_assert_eq(t.ended, 1); /* reported once */
}

Test(starter, a_daemon_under_srun_that_had_connected)
{
    make_srun(one_of_two_fails);
    struct starter_config c = config(STARTER_SRUN, 2, "/o");
    run_until(&c, "n1: no way");
    starter_arrived(t.s, 0);
    starter_arrived(t.s, 1);
    run_for(SHORT_MS * 2);
    cr_assert_eq(t.ended, 0); /* its connection reports that */
    kill(said_pid("pid="), SIGTERM);
    t.wanted_ends = 1;
    run_for(WAIT_MS);
    cr_assert(strstr(t.why[0], "srun ended with status 5") == t.why[0], "%s", t.why[0]);
}

Test(starter, no_srun)
{
    struct starter_config c = config(STARTER_SRUN, 3, "/opt/oshrun");
    setenv("PATH", t.dir, 1);
    cr_assert_null(starter_begin(&t.loop, &c, &events, NULL));
    cr_assert(strstr(t.error, "cannot run 'srun'") != NULL, "%s", t.error);
}
