/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_table.c - the table file that oshmem_info --tune writes.
 * Uses: tune, tune_run (tune_stopped), coll/select_table.  Used by: tune.c.
 */
#include "config.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/oshmem_info/tune.h"
#include "tools/oshmem_info/tune_run.h"

#define TABLE_MODE 0666 /* less the umask */

/* ---- the path -------------------------------------------------------------------- */

/* Creates the parent directories of a file. */
static void tune_table_make_directories(const char *path)
{
    char text[PATH_MAX];

    snprintf(text, sizeof text, "%s", path);
    for (char *slash = strchr(text + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(text, S_IRWXU);
        *slash = '/';
    }
}

bool tune_table_choose_path(const char *out, char *path, size_t size)
{
    char text[PATH_MAX];

    if (out != NULL) {
        snprintf(path, size, "%s", out);
    } else if (select_table_path(0, path, size)) {
        tune_table_make_directories(path);
    } else {
        fputs("oshmem_info: --tune: HOME is not set; name the file with -o\n", stderr);
        return false;
    }
    snprintf(text, sizeof text, "%s", path);
    const char *dir = dirname(text);
    if (access(dir, W_OK | X_OK) == 0)
        return true;
    fprintf(stderr,
            "oshmem_info: --tune: cannot write in %s: %s; -o names another file\n", dir,
            strerror(errno));
    return false;
}

/* ---- the contents ---------------------------------------------------------------- */

static void tune_table_write_row(FILE *out, const struct tune_range *r)
{
    char bytes[TUNE_TEXT_MAX], pes[TUNE_TEXT_MAX], nodes[TUNE_TEXT_MAX];

    fprintf(out, "%-19s %-13s %-17s %-7s %-5s # %.2f times as fast as %s on %d PEs\n",
            select_name(r->what), select_info(r->best)->name,
            tune_range_text(r->from, r->to, bytes),
            tune_range_text(r->pes_from, r->pes_to, pes),
            tune_range_text((size_t)r->nodes_from, (size_t)r->nodes_to, nodes), r->factor,
            select_info(r->builtin)->name, r->pes);
}

/* A line `machine` restricts the rows behind it. */
static void tune_table_write(FILE *out, const struct tune_range *range, int n)
{
    const char *machine = "";

    fputs(SELECT_TABLE_HEADER "\n"
                              "# Written by oshmem_info --tune of pgas " PACKAGE_VERSION
                              "; see oshmem_info(1).\n"
                              "# Where no row fits, the built-in choice is used.\n",
          out);
    for (int i = 0; i < n; i++) {
        if (strcmp(range[i].machine, machine) != 0)
            fprintf(out, "machine %s\n# collective algorithm bytes PEs nodes\n",
                    range[i].machine);
        machine = range[i].machine;
        if (range[i].best != range[i].builtin)
            tune_table_write_row(out, &range[i]);
    }
}

/* Writes a temporary file and renames it, so that readers never see a partial table. */
bool tune_table_save(const char *path, const struct tune_range *range, int n)
{
    char beside[PATH_MAX + 8];
    mode_t mask = umask(0);

    umask(mask);
    snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    int fd = mkstemp(beside);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool good = out != NULL && fchmod(fd, TABLE_MODE & ~mask) == 0;
    if (good)
        tune_table_write(out, range, n);
    if (out != NULL)
        good = fflush(out) == 0 && good && !ferror(out) && fsync(fd) == 0;
    if (out != NULL)
        good = fclose(out) == 0 && good;
    good = good && tune_stopped() == 0 && rename(beside, path) == 0;
    int why = errno;
    if (!good && fd >= 0)
        unlink(beside);
    if (!good && tune_stopped() == 0)
        fprintf(stderr, "oshmem_info: --tune: cannot write %s: %s\n", path,
                strerror(why));
    return good;
}
