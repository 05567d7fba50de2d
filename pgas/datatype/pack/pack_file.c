/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_file.c - see pack_file.h. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/datatype/pack/pack_file.h"

#define BLANKS    " \t\r\n"
#define FILE_MODE 0666 /* less the umask */
enum { COLUMNS = 5, WORD_SHOWN = 40 };

struct pack_reader {
    const char *path, *machine;
    struct pack_rows *rows;
    char *note;
    unsigned line;
    bool machine_read;
    enum pack_file_state state;
};

static void pack_file_stop(struct pack_reader *r, enum pack_file_state state,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));

static void pack_file_stop(struct pack_reader *r, enum pack_file_state state,
                           const char *format, ...)
{
    va_list args;
    int used = snprintf(r->note, PACK_FILE_NOTE_MAX, "line %u: ", r->line);

    va_start(args, format);
    vsnprintf(r->note + used, PACK_FILE_NOTE_MAX - (size_t)used, format, args);
    va_end(args);
    r->state = state;
}

/* ---- reading ----------------------------------------------------------------------- */

static bool pack_file_number(const char *text, long long least, long long *number)
{
    char *end;

    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *number >= least &&
           *number <= PTRDIFF_MAX;
}

static bool pack_file_kernel(const char *text, enum pack_kernel *kernel)
{
    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++)
        if (strcmp(text, pack_kernel_name(k)) == 0) {
            *kernel = k;
            return true;
        }
    return false;
}

static void pack_file_read_row(struct pack_reader *r, char *text)
{
    char *word[COLUMNS + 1] = {NULL}, *rest = NULL;
    long long block, to, from, bytes;
    struct pack_row row;
    int n = 0;

    for (char *w = strtok_r(text, BLANKS, &rest); w != NULL && n <= COLUMNS;
         w = strtok_r(NULL, BLANKS, &rest))
        word[n++] = w;
    if (n != COLUMNS)
        pack_file_stop(r, PACK_FILE_BAD,
                       "%s than 5 columns; a row is: kernel block to_stride from_stride "
                       "bytes",
                       n < COLUMNS ? "fewer" : "more");
    else if (!pack_file_kernel(word[0], &row.kernel))
        pack_file_stop(r, PACK_FILE_BAD, "'%.*s' is not the name of a kernel", WORD_SHOWN,
                       word[0]);
    else if (!pack_file_number(word[1], 1, &block) ||
             !pack_file_number(word[2], LLONG_MIN, &to) ||
             !pack_file_number(word[3], LLONG_MIN, &from) ||
             !pack_file_number(word[4], 1, &bytes) || (bytes & (bytes - 1)) != 0)
        pack_file_stop(r, PACK_FILE_BAD,
                       "block, strides and bytes must be numbers, block positive and "
                       "bytes a power of two");
    else if (r->rows->n == PACK_FILE_ROWS_MAX)
        pack_file_stop(r, PACK_FILE_BAD, "more than %d rows", PACK_FILE_ROWS_MAX);
    else {
        row.shape = (struct pack_shape){(size_t)block, (ptrdiff_t)to, (ptrdiff_t)from,
                                        (unsigned)__builtin_ctzll((uint64_t)bytes)};
        r->rows->row[r->rows->n++] = row;
    }
}

static char *pack_file_trim(char *text)
{
    size_t len;

    text += strspn(text, BLANKS);
    for (len = strlen(text); len > 0 && strchr(BLANKS, text[len - 1]) != NULL;)
        len--;
    text[len] = '\0';
    return text;
}

static void pack_file_read_line(struct pack_reader *r, char *text)
{
    static const char machine[] = "machine ";

    r->line++;
    text = pack_file_trim(text);
    if (r->line == 1 && strcmp(text, PACK_FILE_HEADER) != 0) {
        pack_file_stop(r, PACK_FILE_BAD, "the first line must be '%s'", PACK_FILE_HEADER);
    } else if (r->line == 1 || text[0] == '\0' || text[0] == '#') {
        return;
    } else if (strncmp(text, machine, sizeof machine - 1) == 0) {
        text = pack_file_trim(text + sizeof machine - 1);
        r->machine_read = true;
        if (strcmp(text, r->machine) != 0)
            pack_file_stop(r, PACK_FILE_OTHER, "it was measured on '%.*s', this is '%s'",
                           PACK_FILE_MACHINE_MAX, text, r->machine);
    } else if (!r->machine_read) {
        pack_file_stop(r, PACK_FILE_BAD, "a row before the line 'machine ISA MODEL'");
    } else {
        text[strcspn(text, "#")] = '\0';
        pack_file_read_row(r, text);
    }
}

/* Only a regular file: the contents of a pipe would reach only one PE. */
static FILE *pack_file_open(const char *path)
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

static void pack_file_read_lines(struct pack_reader *r, FILE *in)
{
    char *text = NULL;
    size_t space = 0;

    r->rows->row = malloc(PACK_FILE_ROWS_MAX * sizeof *r->rows->row);
    if (r->rows->row == NULL)
        pack_file_stop(r, PACK_FILE_BAD, "no memory for the rows");
    while (r->state == PACK_FILE_USED && getline(&text, &space, in) >= 0)
        pack_file_read_line(r, text);
    free(text);
    if (r->state == PACK_FILE_USED && ferror(in))
        pack_file_stop(r, PACK_FILE_BAD, "cannot be read");
    if (r->state == PACK_FILE_USED && !r->machine_read)
        pack_file_stop(r, PACK_FILE_BAD, "the file ends without a line 'machine'");
}

enum pack_file_state pack_file_read(const char *path, const char *machine,
                                    struct pack_rows *rows, char note[PACK_FILE_NOTE_MAX])
{
    struct pack_reader r = {.path = path,
                            .machine = machine,
                            .rows = rows,
                            .note = note,
                            .state = PACK_FILE_USED};
    FILE *in = pack_file_open(path);

    *rows = (struct pack_rows){.n = 0};
    note[0] = '\0';
    if (in == NULL && errno == ENOENT)
        return PACK_FILE_ABSENT;
    if (in == NULL) {
        snprintf(note, PACK_FILE_NOTE_MAX, "cannot be opened: %s",
                 errno == EINVAL ? "not a regular file" : strerror(errno));
        return PACK_FILE_BAD;
    }
    pack_file_read_lines(&r, in);
    fclose(in);
    if (r.state != PACK_FILE_USED) {
        free(rows->row);
        *rows = (struct pack_rows){.n = 0};
    }
    return r.state;
}

/* ---- writing ----------------------------------------------------------------------- */

static void pack_file_print_row(FILE *out, const struct pack_row *row)
{
    const struct pack_shape *s = &row->shape;

    fprintf(out, "%-14s %4zu %4td %4td %zu\n", pack_kernel_name(row->kernel), s->block,
            s->to_stride, s->from_stride, (size_t)1 << s->size_log);
}

static bool pack_file_has(const struct pack_rows *rows, const struct pack_shape *s)
{
    for (size_t i = 0; i < rows->n; i++)
        if (pack_shape_compare(&rows->row[i].shape, s) == 0)
            return true;
    return false;
}

static void pack_file_print(FILE *out, const char *machine, const struct pack_rows *old,
                            const struct pack_rows *added)
{
    size_t n = old->n;

    fprintf(out,
            PACK_FILE_HEADER "\n"
                             "# Kernels of strided copies, as programs have measured "
                             "them; see shmem_tuning(7).\n"
                             "machine %s\n"
                             "# kernel block to_stride from_stride bytes\n",
            machine);
    for (size_t i = 0; i < old->n; i++)
        pack_file_print_row(out, &old->row[i]);
    for (size_t i = 0; i < added->n && n < PACK_FILE_ROWS_MAX; i++)
        if (!pack_file_has(old, &added->row[i].shape)) {
            pack_file_print_row(out, &added->row[i]);
            n++;
        }
}

int pack_file_write(const char *path, const char *machine, const struct pack_rows *old,
                    const struct pack_rows *added)
{
    char beside[PATH_MAX];
    mode_t mask = umask(0);
    int error = 0;

    umask(mask);
    if ((size_t)snprintf(beside, sizeof beside, "%s.XXXXXX", path) >= sizeof beside)
        return -ENAMETOOLONG;
    int fd = mkstemp(beside);
    if (fd < 0)
        return -errno;
    FILE *out = fdopen(fd, "w");
    if (out == NULL) {
        error = errno;
        close(fd);
    } else {
        pack_file_print(out, machine, old, added);
        if (fchmod(fd, FILE_MODE & ~mask) != 0 || fflush(out) != 0)
            error = errno;
        if (fclose(out) != 0 && error == 0)
            error = errno;
    }
    if (error == 0 && rename(beside, path) != 0)
        error = errno;
    if (error != 0)
        unlink(beside);
    return -error;
}
