/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_file.c - see rank_file.h.  Uses lines.h, names.h, map.h. */
#include "config.h"

#include "tools/oshrun/map/lines.h"
#include "tools/oshrun/map/map.h"
#include "tools/oshrun/map/names.h"
#include "tools/oshrun/map/rank_file.h"
#include "pgas/core/base/number.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>
#include <string.h>

#define KIND          "rank file"
#define SLOT          "slot="
#define NUMBER_DIGITS 5

/* Reads leading digits and advances *text.  0, or -1. */
static int rank_file_read_number(const char **text, uint32_t *out)
{
    uint64_t number;
    size_t n = number_scan(*text, strlen(*text), &number);
    if (n == 0 || n > NUMBER_DIGITS)
        return -1;
    *out = (uint32_t)number;
    *text += n;
    return 0;
}

/* "0-3,8" */
static bool rank_file_is_cpu_list(const char *text)
{
    do {
        uint32_t lo, hi;
        if (rank_file_read_number(&text, &lo) != 0)
            return false;
        if (*text != '-')
            continue;
        text++;
        if (rank_file_read_number(&text, &hi) != 0 || hi < lo)
            return false;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

static int rank_file_bad_line(const struct lines *l, char why[HOSTS_WHY])
{
    return lines_error(l, why, "expected 'rank N=HOST' or 'rank N=HOST slot=0-3,8'");
}

/* The single host that text names; NULL with an error message in why. */
static char *rank_file_read_name(const char *text, char why[HOSTS_WHY])
{
    static const struct host like = {0};
    char shown[NAMES_SHOWN], *name = NULL;
    struct hosts h = {0};
    if (names_expand(&h, text, strlen(text), &like, why) != 0) {
        hosts_free(&h);
        return NULL;
    }
    if (h.count == 1) {
        name = h.host[0].name;
        h.count = 0;
    } else {
        names_error(why, "'%s' names several hosts",
                    names_show(shown, text, strlen(text)));
    }
    hosts_free(&h);
    return name;
}

/* Reads "3=host" into the entry of rank 3; NULL after an error, which is in why. */
static struct rank_entry *rank_file_read_host(struct rank_file *r, struct lines *l,
                                              const char *text, char why[HOSTS_WHY])
{
    char reason[HOSTS_WHY];
    struct rank_entry *e = NULL;
    uint32_t rank;
    if (rank_file_read_number(&text, &rank) != 0 || *text != '=')
        rank_file_bad_line(l, why);
    else if (rank >= MAP_NPES_MAX)
        lines_error(l, why, "rank %u is over %d", rank, MAP_NPES_MAX - 1);
    else if (r->entry[rank].line != 0)
        lines_error(l, why, "rank %u was in line %u already", rank, r->entry[rank].line);
    else
        e = &r->entry[rank];
    if (e == NULL)
        return NULL;
    e->line = l->number;
    e->host = rank_file_read_name(text + 1, reason);
    if (e->host == NULL) {
        lines_error(l, why, "%s", reason);
        return NULL;
    }
    if (rank >= r->npes)
        r->npes = rank + 1;
    return e;
}

static int rank_file_read_rank(struct rank_file *r, struct lines *l, char why[HOSTS_WHY])
{
    const char *word = lines_word(l), *place = lines_word(l), *cpus = lines_word(l);
    if (strcmp(word, "rank") != 0 || place == NULL || lines_word(l) != NULL)
        return rank_file_bad_line(l, why);
    if (cpus != NULL && (strncmp(cpus, SLOT, strlen(SLOT)) != 0 ||
                         !rank_file_is_cpu_list(cpus + strlen(SLOT))))
        return lines_error(l, why, "expected processors, such as slot=0-3,8");
    struct rank_entry *e = rank_file_read_host(r, l, place, why);
    if (e == NULL)
        return -1;
    if (cpus == NULL)
        return 0;
    e->cpus = mem_strdup(cpus + strlen(SLOT));
    return 0;
}

/* Checks that all ranks are present and none exceeds -n. */
static int rank_file_check_all(struct rank_file *r, const char *path, uint32_t npes,
                               char why[HOSTS_WHY])
{
    char shown[NAMES_SHOWN];
    names_show(shown, path, strlen(path));
    if (r->npes == 0)
        return names_error(why, KIND " %s has no rank", shown);
    if (npes != 0 && r->npes > npes)
        return names_error(why, KIND " %s, line %u: rank %u, but -n asks for %u PEs",
                           shown, r->entry[r->npes - 1].line, r->npes - 1, npes);
    if (npes != 0)
        r->npes = npes;
    for (uint32_t i = 0; i < r->npes; i++)
        if (r->entry[i].line == 0)
            return names_error(why, KIND " %s: rank %u of 0 to %u is missing", shown, i,
                               r->npes - 1);
    return 0;
}

int rank_file_read(struct rank_file *r, const char *path, uint32_t npes,
                   char why[HOSTS_WHY])
{
    struct lines l = {0};
    *r = (struct rank_file){.entry = mem_calloc(MAP_NPES_MAX, sizeof *r->entry)};
    int rc = lines_open(&l, KIND, path, why);
    if (rc == 0)
        while ((rc = lines_next(&l, why)) > 0 &&
               (rc = rank_file_read_rank(r, &l, why)) == 0)
            ;
    lines_close(&l);
    if (rc == 0)
        rc = rank_file_check_all(r, path, npes, why);
    if (rc != 0)
        rank_file_free(r);
    return rc;
}

void rank_file_free(struct rank_file *r)
{
    for (uint32_t i = 0; i < r->npes; i++) {
        free(r->entry[i].host);
        free(r->entry[i].cpus);
    }
    free(r->entry);
    *r = (struct rank_file){0};
}
