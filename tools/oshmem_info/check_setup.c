/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_setup.c - checks of what is set and installed: the SHMEM_* variables, the
 * launcher, gdb.  Uses: check, core/env, datatype/isa.  Used by: check (its table),
 * report.
 */
#include "config.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/core/base/env.h"
#include "pgas/datatype/isa.h"
#include "tools/oshmem_info/info.h"

void check_environment(struct finding *f, const char *dir)
{
    const char *remedy = "correct or unset it; see oshmem_info --env";
    struct env env;
    char error[ENV_ERROR_MAX];
    enum isa isa;

    (void)dir;
    if (env_load(&env, error) != 0)
        check_flaw(f, CHECK_FAIL, remedy, "%s", error);
    else if (isa_read(env.isa, &isa, error, sizeof error) != 0)
        check_flaw(f, CHECK_FAIL, remedy, "SHMEM_ISA=%s: %s", env.isa, error);
    else
        check_ok(f, "the SHMEM_* variables are valid");
}

bool find_beside(const char *name, char *path, size_t len)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n <= 0)
        return false;
    self[n] = '\0';
    int need = snprintf(path, len, "%s/%s", dirname(self), name);
    return need > 0 && (size_t)need < len && access(path, X_OK) == 0;
}

bool find_in_path(const char *name, char *path, size_t len)
{
    const char *at = getenv("PATH");

    while (at != NULL && *at != '\0') {
        size_t n = strcspn(at, ":");
        int need = snprintf(path, len, "%.*s/%s", (int)n, at, name);
        if (need > 0 && (size_t)need < len && access(path, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static bool check_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

void check_oshrun(struct finding *f, const char *dir)
{
    char mine[PATH_MAX], first[PATH_MAX];

    (void)dir;
    if (!find_beside("oshrun", mine, sizeof mine))
        check_flaw(f, CHECK_WARN, "install it beside oshmem_info, or use mpirun or srun",
                   "oshrun is not beside this program");
    else if (find_in_path("oshrun", first, sizeof first) && !check_same_file(mine, first))
        check_flaw(f, CHECK_WARN,
                   "put its directory first in PATH, or call it by its full name",
                   "%.150s is ours, but PATH finds %.150s", mine, first);
    else
        check_ok(f, "%.300s", mine);
}

void check_gdb(struct finding *f, const char *dir)
{
    char path[PATH_MAX];

    (void)dir;
    if (find_in_path("gdb", path, sizeof path))
        check_ok(f, "%.300s (stacks of a job that hangs)", path);
    else
        check_flaw(f, CHECK_WARN, "optional; on Debian: apt-get install gdb",
                   "gdb is not in PATH: oshrun --timeout prints no stacks");
}
