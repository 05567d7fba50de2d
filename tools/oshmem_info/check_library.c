/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_library.c - checks of what the runtime may use: the network libraries, which are
 * loaded here only (their constructors install signal handlers), the launcher, gdb, and
 * the SHMEM_* variables.  Uses: check, core/env, libfabric and UCX headers.
 * Used by: check (its table).
 */
#include "config.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_OFI
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#endif
#ifdef HAVE_UCX
#include <ucp/api/ucp.h>
#endif

#include "pgas/core/env.h"
#include "tools/oshmem_info/info.h"

#define NAMES_MAX_LEN 200

/* A function pointer from dlsym: ISO C has no cast for it, POSIX promises that this
 * works. */
#define LOAD(pointer, library, name)                                                     \
    (*(void **)(&(pointer)) = dlsym((library), (name)), (pointer) != NULL)

void check_environment(struct finding *f, const char *dir)
{
    struct env env;
    char error[ENV_ERROR_MAX];

    (void)dir;
    if (env_load(&env, error) == 0)
        check_ok(f, "the SHMEM_* variables are valid");
    else
        check_bad(f, CHECK_FAIL, "correct or unset it; see oshmem_info --env", "%s",
                  error);
}

/* Load a library of the network; reports when it is not there. */
static void *load_library(struct finding *f, const char *soname, const char *remedy)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        check_bad(f, CHECK_WARN, remedy, "%.300s", dlerror());
    return library;
}

#ifdef HAVE_OFI
/* Add the name to the list unless it is in it. */
static void add_name(char *names, size_t len, const char *name)
{
    size_t used = strlen(names), n = strlen(name);

    for (char *at = strstr(names, name); at != NULL; at = strstr(at + 1, name))
        if ((at == names || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
            return;
    if (used + n + sizeof ", " < len)
        snprintf(names + used, len - used, "%s%s", used > 0 ? ", " : "", name);
}

void check_libfabric(struct finding *f, const char *dir)
{
    static const char *const remedy = "optional; on Debian: apt-get install libfabric1";
    int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                   struct fi_info **);
    void (*freeinfo)(struct fi_info *);
    uint32_t (*version)(void);
    struct fi_info *list = NULL;
    char names[NAMES_MAX_LEN] = "";

    (void)dir;
    void *library = load_library(f, "libfabric.so.1", remedy);
    if (library == NULL)
        return;
    if (!LOAD(getinfo, library, "fi_getinfo") ||
        !LOAD(freeinfo, library, "fi_freeinfo") ||
        !LOAD(version, library, "fi_version")) {
        check_bad(f, CHECK_WARN, remedy, "libfabric.so.1 has no fi_getinfo");
        return;
    }
    int rc = getinfo(FI_VERSION(1, 14), NULL, NULL, 0, NULL, &list);
    for (struct fi_info *i = list; rc == 0 && i != NULL; i = i->next)
        add_name(names, sizeof names, i->fabric_attr->prov_name);
    if (rc == 0)
        check_ok(f, "%u.%u with providers %s", FI_MAJOR(version()), FI_MINOR(version()),
                 names);
    else
        check_bad(f, CHECK_WARN, "see fi_info(1)", "libfabric finds no provider (%d)",
                  rc);
    if (list != NULL)
        freeinfo(list);
}
#else
void check_libfabric(struct finding *f, const char *dir)
{
    (void)dir;
    check_ok(f, "built without it (--without-ofi)");
}
#endif

#ifdef HAVE_UCX
void check_ucx(struct finding *f, const char *dir)
{
    static const char *const remedy = "optional; on Debian: apt-get install libucx0";
    ucs_status_t (*init)(unsigned, unsigned, const ucp_params_t *, const ucp_config_t *,
                         ucp_context_h *);
    void (*cleanup)(ucp_context_h);
    const char *(*version)(void);
    ucp_context_h context;
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64};

    (void)dir;
    void *library = load_library(f, "libucp.so.0", remedy);
    if (library == NULL)
        return;
    if (!LOAD(init, library, "ucp_init_version") ||
        !LOAD(cleanup, library, "ucp_cleanup") ||
        !LOAD(version, library, "ucp_get_version_string")) {
        check_bad(f, CHECK_WARN, remedy, "libucp.so.0 has no ucp_init_version");
        return;
    }
    ucs_status_t rc = init(UCP_API_MAJOR, UCP_API_MINOR, &params, NULL, &context);
    if (rc != UCS_OK) {
        check_bad(f, CHECK_WARN, "see ucx_info -d", "ucp_init fails (%d)", (int)rc);
        return;
    }
    cleanup(context);
    check_ok(f, "%.40s initialises", version());
}
#else
void check_ucx(struct finding *f, const char *dir)
{
    (void)dir;
    check_ok(f, "built without it (--without-ucx)");
}
#endif

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

static bool same_file(const char *a, const char *b)
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
        check_bad(f, CHECK_WARN, "install it beside oshmem_info, or use mpirun or srun",
                  "oshrun is not beside this program");
    else if (find_in_path("oshrun", first, sizeof first) && !same_file(mine, first))
        check_bad(f, CHECK_WARN,
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
        check_bad(f, CHECK_WARN, "optional; on Debian: apt-get install gdb",
                  "gdb is not in PATH: oshrun --timeout prints no stacks");
}
