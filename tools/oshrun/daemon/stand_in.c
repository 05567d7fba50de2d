/* SPDX-License-Identifier: BSD-3-Clause */
/* stand_in.c - see stand_in.h. */
#include "config.h"

#include "tools/oshrun/daemon/child.h"
#include "tools/oshrun/daemon/stand_in.h"
#include "tools/oshrun/pmix/pmix_api.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define LIMIT_S 10 /* libpmix connects in milliseconds or never */

_Noreturn void stand_in_main(void)
{
    pmix_proc_t self;
    alarm(LIMIT_S);
    _exit(PMIx_Init(&self, NULL, 0) == PMIX_SUCCESS ? 0 : 1);
}

pid_t stand_in_start(const struct launch *l, char **pmix, int reaper_fd,
                     struct rlimit files)
{
    char path[PATH_MAX];
    char *argv[] = {path, (char[]){STAND_IN_OPTION}, NULL};
    const char *step;
    pid_t pid = -1;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    char **env = launch_env(l, pmix);
    path[n > 0 ? n : 0] = '\0';
    struct child_spec spec = {.path = path,
                              .argv = argv,
                              .envp = env,
                              .fd = {null, null, null},
                              .wdir_fd = -1,
                              .reaper_fd = reaper_fd,
                              .files = files};
    if (null >= 0 && env != NULL)
        pid = child_start(&spec, &step);
    free(env);
    if (null >= 0)
        close(null);
    return pid;
}
