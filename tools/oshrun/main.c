/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c - oshrun: starts an OpenSHMEM program as N processing elements.
 *
 * Uses options.c, launcher.c, profile_report.c, reaper.c, front.c, daemon_main.c,
 * stand_in.c.
 *
 *   main -> front (options, plan, terminal, signals, exit status)
 *             | struct job, commands          ^ events
 *             v                               |
 *           daemons: one (PMIx server, PEs, their input and output) in this process, or
 *           one per node, `oshrun --node-daemon`, connected by TCP
 */
#include "config.h"

#include "tools/oshrun/front/front.h"
#include "tools/oshrun/daemon/child.h"
#include "tools/oshrun/reaper/reaper.h"
#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/daemon/daemon_main.h"
#include "tools/oshrun/daemon/stand_in.h"
#include "tools/oshrun/front/options.h"
#include "tools/oshrun/front/profile_report.h"
#include "tools/oshrun/start/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_ERROR 1
#define EXIT_USAGE 2
#define KEPT_BYTES (4 << 20)

/* Opens /dev/null on closed descriptors 0 to 2, so that no descriptor opened later gets
 * one of these numbers.  Read-only: a write to a closed standard output must still fail
 * with EBADF. */
static void main_open_standard_files(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* A daemon needs four descriptors per PE, which may exceed the soft limit.  Returns the
 * previous limits, which the PEs get. */
static struct rlimit main_raise_file_limit(void)
{
    struct rlimit was = {0}, now;
    getrlimit(RLIMIT_NOFILE, &was);
    now = was;
    now.rlim_cur = was.rlim_max;
    setrlimit(RLIMIT_NOFILE, &now);
    return was;
}

/* A write to a closed pipe or beyond `ulimit -f` must fail with EPIPE or EFBIG, which
 * are reported, instead of terminating this process.  child.c restores the default for
 * PEs. */
static void main_ignore_write_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* libevent allocates and frees memory with each read and write of output.  malloc must
 * keep it: the kernel clears every page that is returned to it. */
static void main_keep_freed_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

/* Calls _exit, not exit: libpmix's threads still run and would use objects that exit
 * destroys.  All output of the PEs has been written, all temporary files removed. */
static _Noreturn void main_exit(int rc)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && rc == 0) {
        fprintf(stderr, "oshrun: cannot write the standard output: %s\n",
                strerror(errno));
        rc = EXIT_ERROR;
    }
    fflush(NULL);
    _exit(rc);
}

int main(int argc, char **argv)
{
    uint64_t start_ns = loop_now_ns();
    struct options o;
    struct reaper reaper;
    struct report report;
    main_open_standard_files();
    child_reserve();
    main_keep_freed_memory();
    if (argc == 2 && strcmp(argv[1], "--node-daemon") == 0) {
        main_ignore_write_signals();
        main_exit(daemon_main(main_raise_file_limit()));
    }
    if (argc == 2 && strcmp(argv[1], STAND_IN_OPTION) == 0)
        stand_in_main();
    enum options_result r = options_read(&o, argv);
    int rc = r == OPTIONS_WRONG ? EXIT_USAGE : 0;
    if (r == OPTIONS_RUN && o.launcher != NULL) {
        rc = launcher_exec(&o);
    } else if (r == OPTIONS_RUN && o.dry_run) {
        rc = front_dry_run(&o);
    } else if (r == OPTIONS_RUN) {
        main_ignore_write_signals();
        rc = EXIT_ERROR;
        if (report_prepare(&report, &o) == 0 && reaper_start(&reaper) == 0) {
            rc = front_run(&o, &reaper, main_raise_file_limit(), start_ns);
            reaper_stop(&reaper);
            if (report_make(&report, rc) != 0 && rc == 0)
                rc = EXIT_ERROR;
        }
    }
    options_free(&o);
    main_exit(rc);
}
