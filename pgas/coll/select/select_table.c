/* SPDX-License-Identifier: BSD-3-Clause */
/* select_table.c - see select_table.h.  Uses: select, core/agree (digests), core/env. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "pgas/coll/select/select_table.h"
#include "pgas/core/boot/agree.h"
#include "pgas/core/base/env.h"
#include "pgas/core/base/hash.h"

#ifndef PGAS_SYSCONFDIR
#define PGAS_SYSCONFDIR "/etc"
#endif
#define FILE_NAME "pgas/coll.table"
#define BLANKS    " \t\r\n"

enum { COLUMNS = 5, WORD_SHOWN = 40, NAMES_MAX = 256, RANGE_MAX = 64 };

/* Parser state. */
struct reader {
    struct select_table *table;
    const char *machine;
    unsigned line;
    size_t space; /* allocated rows */
    bool other;   /* the rows of this section are for another machine type */
    bool matched; /* a section is for this machine type, or for any */
};

static bool select_table_bad(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Record a parse error.  Always returns false, as a return value for the caller. */
static bool select_table_bad(struct reader *r, const char *format, ...)
{
    struct select_table *t = r->table;
    va_list args;

    int used = snprintf(t->note, sizeof t->note, "%s:%u: ", t->path, r->line);
    va_start(args, format);
    vsnprintf(t->note + used, sizeof t->note - (size_t)used, format, args);
    va_end(args);
    t->state = SELECT_TABLE_BAD;
    return false;
}

/* ---- words ----------------------------------------------------------------------- */

static bool select_table_read_collective(struct reader *r, const char *word,
                                         struct select_row *row)
{
    char names[NAMES_MAX] = "";
    size_t used = 0;

    for (int what = 0; what < SELECT_ALL; what++) {
        const char *name = select_name((enum select_collective)what);
        row->what = (enum select_collective)what;
        if (strcmp(word, name) == 0)
            return true;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     what > 0 ? ", " : "", name);
    }
    return select_table_bad(r,
                            "column 1, the collective, is '%.*s', but must be one of %s",
                            WORD_SHOWN, word, names);
}

static bool select_table_read_algorithm(struct reader *r, const char *word,
                                        struct select_row *row)
{
    char names[NAMES_MAX];

    row->algorithm = select_algorithm_of(row->what, word);
    if (row->algorithm != SELECT_ALGORITHMS_ALL)
        return true;
    return select_table_bad(r, "column 2, the algorithm, is '%.*s'; %s has %s",
                            WORD_SHOWN, word, select_name(row->what),
                            select_names(row->what, names, sizeof names));
}

/* Parse a number of bytes, or a positive count (PEs, nodes). */
static bool select_table_read_number(const char *text, bool bytes, size_t *number)
{
    if (bytes)
        return env_parse_size(text, number) == 0;
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text) &&
           env_parse_size(text, number) == 0 && *number > 0;
}

static bool select_table_read_range(struct reader *r, int column, const char *word,
                                    struct select_range *range)
{
    static const char *const name[] = {[2] = "bytes", [3] = "PEs", [4] = "nodes"};
    char text[RANGE_MAX];
    char *to = text;

    *range = (struct select_range){.from = column > 2, .to = SIZE_MAX};
    if (strcmp(word, "*") == 0)
        return true;
    bool good = (size_t)snprintf(text, sizeof text, "%s", word) < sizeof text;
    char *from = strsep(&to, "-");
    good = good && select_table_read_number(from, column == 2, &range->from);
    if (to == NULL)
        range->to = range->from;
    else if (to[0] != '\0')
        good = good && select_table_read_number(to, column == 2, &range->to);
    if (!good)
        return select_table_bad(
            r, "column %d, %s, is '%.*s', but must be N, N-M, N- or *%s", column + 1,
            name[column], WORD_SHOWN, word, column == 2 ? ", as in 64K-1M" : ", from 1");
    if (range->from > range->to)
        return select_table_bad(r, "column %d, %s, is '%.*s', an empty range", column + 1,
                                name[column], WORD_SHOWN, word);
    return true;
}

/* ---- lines ----------------------------------------------------------------------- */

static bool select_table_add_row(struct reader *r, const struct select_row *row)
{
    struct select_table *t = r->table;

    if (t->rows == SELECT_ROWS_MAX)
        return select_table_bad(r, "more than %d rows", SELECT_ROWS_MAX);
    if (t->rows == r->space) {
        r->space = r->space > 0 ? 2 * r->space : 16;
        struct select_row *more = realloc(t->row, r->space * sizeof *more);
        if (more == NULL)
            return select_table_bad(r, "no memory for %zu rows", r->space);
        t->row = more;
    }
    t->row[t->rows++] = *row;
    return true;
}

static bool select_table_read_row(struct reader *r, char *text)
{
    char *word[COLUMNS + 1] = {NULL}, *rest = NULL;
    struct select_row row;
    int n = 0;

    for (char *w = strtok_r(text, BLANKS, &rest); w != NULL && n <= COLUMNS;
         w = strtok_r(NULL, BLANKS, &rest))
        word[n++] = w;
    if (n != COLUMNS)
        return select_table_bad(
            r, "%s than 5 columns; a row is: collective algorithm bytes PEs nodes",
            n < COLUMNS ? "fewer" : "more");
    return select_table_read_collective(r, word[0], &row) &&
           select_table_read_algorithm(r, word[1], &row) &&
           select_table_read_range(r, 2, word[2], &row.bytes) &&
           select_table_read_range(r, 3, word[3], &row.pes) &&
           select_table_read_range(r, 4, word[4], &row.nodes) &&
           (r->other || select_table_add_row(r, &row));
}

/* Strip leading and trailing blanks in place. */
static char *select_table_trim(char *text)
{
    size_t len;

    text += strspn(text, BLANKS);
    for (len = strlen(text); len > 0 && strchr(BLANKS, text[len - 1]) != NULL;)
        len--;
    text[len] = '\0';
    return text;
}

static bool select_table_read_machine(struct reader *r, char *text)
{
    const char *machine = select_table_trim(text);

    r->other = strcmp(machine, "*") != 0 && strcmp(machine, r->machine) != 0;
    r->matched = r->matched || !r->other;
    if (!r->other)
        return true;
    if (strspn(machine, "0123456789") == 0)
        return select_table_bad(
            r,
            "'machine %.*s' is invalid; use 'machine *', or for this machine "
            "'machine %s'",
            WORD_SHOWN, machine, r->machine);
    snprintf(r->table->note, sizeof r->table->note,
             "%s is for another machine (%.*s; this one is %s)", r->table->path,
             SELECT_MACHINE_MAX, machine, r->machine);
    return true;
}

static bool select_table_read_header(struct reader *r, char *text)
{
    const char *header = select_table_trim(text);
    size_t name = strcspn(SELECT_TABLE_HEADER, " ") + 1;

    if (strcmp(header, SELECT_TABLE_HEADER) == 0)
        return true;
    if (strncmp(header, SELECT_TABLE_HEADER, name) == 0)
        return select_table_bad(
            r,
            "the table has version '%.*s', but this library reads version 2; run "
            "oshmem_info --tune to write it again",
            WORD_SHOWN, header + name);
    return select_table_bad(r, "not a table of algorithms: the first line must be '%s'",
                            SELECT_TABLE_HEADER);
}

static bool select_table_read_line(struct reader *r, char *text)
{
    static const char machine[] = "machine";

    r->line++;
    if (r->line == 1)
        return select_table_read_header(r, text);
    text += strspn(text, BLANKS);
    size_t word = strcspn(text, BLANKS "#");
    if (word == 0)
        return true;
    if (word == sizeof machine - 1 && strncmp(text, machine, word) == 0)
        return select_table_read_machine(r, text + word);
    text[strcspn(text, "#")] = '\0';
    return select_table_read_row(r, text);
}

void select_table_read(FILE *in, const char *path, const char *machine,
                       struct select_table *table)
{
    struct reader r = {.table = table, .machine = machine};
    bool good = true;
    char *text = NULL;
    size_t space = 0;

    *table = (struct select_table){.state = SELECT_TABLE_USED};
    snprintf(table->path, sizeof table->path, "%s", path);
    while (good && getline(&text, &space, in) >= 0)
        good = select_table_read_line(&r, text);
    free(text);
    if (good && ferror(in))
        good = select_table_bad(&r, "cannot be read: %s", strerror(errno));
    if (good && r.line == 0) {
        r.line = 1;
        good = select_table_read_header(&r, (char[]){""});
    }
    if (good && r.other && !r.matched && table->rows == 0)
        table->state = SELECT_TABLE_OTHER;
    else if (good)
        table->note[0] = '\0';
    if (table->state != SELECT_TABLE_USED) {
        free(table->row);
        table->row = NULL;
        table->rows = 0;
    }
}

/* ---- search ----------------------------------------------------------------------- */

bool select_table_path(int i, char *path, size_t size)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int len = -1;

    if (i == 1)
        len = snprintf(path, size, "%s/" FILE_NAME, PGAS_SYSCONFDIR);
    else if (config != NULL && config[0] == '/')
        len = snprintf(path, size, "%s/" FILE_NAME, config);
    else if (home != NULL && home[0] == '/')
        len = snprintf(path, size, "%s/.config/" FILE_NAME, home);
    return len > 0 && (size_t)len < size;
}

/* Only a regular file is accepted: the contents of a pipe would reach only one PE. */
static FILE *select_table_open_file(const char *path)
{
    FILE *in = fopen(path, "re");
    struct stat st;

    if (in == NULL)
        return NULL;
    if (fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode))
        return in;
    fclose(in);
    errno = EINVAL;
    return NULL;
}

/* Returns false if the file cannot be opened. */
static bool select_table_read_file(const char *path, unsigned processors,
                                   struct select_table *table)
{
    char machine[SELECT_MACHINE_MAX];
    FILE *in = select_table_open_file(path);

    if (in == NULL)
        return false;
    select_machine(processors, machine, sizeof machine);
    select_table_read(in, path, machine, table);
    fclose(in);
    return true;
}

void select_table_find(const char *wanted, unsigned processors,
                       struct select_table *table)
{
    char path[PATH_MAX];

    *table = (struct select_table){.state = SELECT_TABLE_ABSENT};
    if (strcmp(wanted, SELECT_TABLE_NONE) == 0)
        return;
    if (wanted[0] != '\0') {
        if (select_table_read_file(wanted, processors, table))
            return;
        table->state = SELECT_TABLE_BAD;
        snprintf(table->path, sizeof table->path, "%s", wanted);
        snprintf(table->note, sizeof table->note, "%s: cannot be opened: %s", wanted,
                 errno == EINVAL ? "not a regular file" : strerror(errno));
        return;
    }
    for (int i = 0; i < SELECT_PATHS; i++)
        if (select_table_path(i, path, sizeof path) &&
            select_table_read_file(path, processors, table) &&
            table->state != SELECT_TABLE_OTHER)
            return;
}

void select_table_free(struct select_table *table)
{
    free(table->row);
    *table = (struct select_table){.state = SELECT_TABLE_ABSENT};
}

/* ---- the machine ----------------------------------------------------------------- */

/* The value of the first line "key : value" in /proc/cpuinfo; "" if the key is absent. */
static void select_table_cpu_line(const char *key, char *value, size_t size)
{
    FILE *in = fopen("/proc/cpuinfo", "re");
    char line[512];

    value[0] = '\0';
    while (in != NULL && value[0] == '\0' && fgets(line, sizeof line, in) != NULL) {
        char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, key, strlen(key)) == 0)
            snprintf(value, size, "%s", select_table_trim(colon + 1));
        if (line[0] == '\n')
            break; /* end of the first processor's entry */
    }
    if (in != NULL)
        fclose(in);
}

/* Architectures without a "model name" line report a numeric part instead. */
void select_model(char *text, size_t size)
{
    char part[SELECT_MACHINE_MAX];
    struct utsname name;

    select_table_cpu_line("model name", text, size);
    if (text[0] != '\0' || uname(&name) != 0)
        return;
    select_table_cpu_line("CPU part", part, sizeof part);
    snprintf(text, size, "%.32s%s%.64s", name.machine, part[0] != '\0' ? " " : "", part);
}

void select_machine(unsigned processors, char *text, size_t size)
{
    char model[SELECT_MACHINE_MAX - 16];

    select_model(model, sizeof model);
    snprintf(text, size, "%u %s", processors, model);
    char *trimmed = select_table_trim(text);
    memmove(text, trimmed, strlen(trimmed) + 1);
}

/* ---- digest ---------------------------------------------------------------------- */

uint64_t select_table_digest(const struct select_table *table, bool only_remote)
{
    uint64_t digest = HASH_START;

    for (size_t i = 0; i < table->rows; i++) {
        const struct select_row *r = &table->row[i];
        uint64_t value[] = {r->what,     r->algorithm, r->bytes.from, r->bytes.to,
                            r->pes.from, r->pes.to,    r->nodes.from, r->nodes.to};
        if (!only_remote || r->nodes.to > 1)
            digest = hash_add(digest, value, sizeof value);
    }
    return digest;
}
