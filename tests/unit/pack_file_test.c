/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_file_test.c - the file with the kernels that were found: what is written is read;
 * invalid files, and those of other machines, are not used. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/datatype/pack/pack_file.h"

#define MACHINE "avx512 Model X"
#define HEADER  PACK_FILE_HEADER "\nmachine " MACHINE "\n"

static char directory[] = "/tmp/pgas-pack-XXXXXX";
static char path[64], note[PACK_FILE_NOTE_MAX];
static struct pack_rows rows;

static void begin(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/table", directory);
}

static void end(void)
{
    free(rows.row);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "another file is left");
}

TestSuite(pack_file, .init = begin, .fini = end);

static void write_text(const char *text)
{
    FILE *out = fopen(path, "w");

    fputs(text, out);
    fclose(out);
}

static enum pack_file_state read_text(const char *text)
{
    write_text(text);
    free(rows.row);
    return pack_file_read(path, MACHINE, &rows, note);
}

static void expect_bad(const char *text, const char *why)
{
    cr_expect_eq(read_text(text), PACK_FILE_BAD, "accepted: %s", text);
    cr_expect_not_null(strstr(note, why), "'%s' lacks '%s'", note, why);
    cr_expect_eq(rows.n, 0);
    cr_expect_null(rows.row);
}

Test(pack_file, what_is_written_is_read)
{
    static struct pack_row row[] = {
        {{8, 8, 12, 12}, PACK_PERMUTE_AVX512},
        {{8, -16, 8, 3}, PACK_FIXED},
        {{100, 1 << 20, 100, 40}, PACK_BLOCK},
    };
    static struct pack_row more[] = {{{8, -16, 8, 3}, PACK_SCALAR}, /* known: not added */
                                     {{8, -16, 8, 4}, PACK_SCALAR}};
    const struct pack_rows none = {.n = 0}, first = {row, 3}, second = {more, 2};

    cr_assert_eq(pack_file_read(path, MACHINE, &rows, note), PACK_FILE_ABSENT);
    cr_assert_eq(note[0], '\0');
    cr_assert_eq(pack_file_write(path, MACHINE, &none, &first), 0);
    cr_assert_eq(pack_file_read(path, MACHINE, &rows, note), PACK_FILE_USED, "%s", note);
    cr_assert_eq(rows.n, 3);
    struct pack_rows old = rows;
    cr_assert_eq(pack_file_write(path, MACHINE, &old, &second), 0);
    cr_assert_eq(pack_file_read(path, MACHINE, &rows, note), PACK_FILE_USED);
    free(old.row);
    cr_assert_eq(rows.n, 4);
    for (int i = 0; i < 4; i++) {
        const struct pack_row *should = i < 3 ? &row[i] : &more[1];
        cr_expect_eq(rows.row[i].kernel, should->kernel);
        cr_expect_eq(pack_shape_compare(&rows.row[i].shape, &should->shape), 0);
    }
}

Test(pack_file, comments_and_blank_lines_are_skipped)
{
    cr_assert_eq(read_text(HEADER "\n# comment\n fixed 8 8 16 256 # why\n"),
                 PACK_FILE_USED, "%s", note);
    cr_expect_eq(rows.n, 1);
}

Test(pack_file, another_machine)
{
    cr_expect_eq(read_text(PACK_FILE_HEADER "\nmachine avx2 Model X\nnonsense\n"),
                 PACK_FILE_OTHER);
    cr_expect_not_null(strstr(note, "'avx2 Model X', this is '" MACHINE "'"), "%s", note);
    cr_expect_eq(rows.n, 0);
}

Test(pack_file, damaged_files)
{
    expect_bad("", "ends without a line 'machine'");
    expect_bad("pgas-pack-table 2\n", "line 1: the first line must be");
    expect_bad(PACK_FILE_HEADER "\n", "ends without a line 'machine'");
    expect_bad(PACK_FILE_HEADER "\nfixed 8 8 16 256\n", "line 2: a row before the line");
    expect_bad(HEADER "fixed 8 8 16\n", "line 3: fewer than 5 columns");
    expect_bad(HEADER "fixed 8 8 16 256 1\n", "more than 5 columns");
    expect_bad(HEADER "fast 8 8 16 256\n", "'fast' is not the name of a kernel");
    expect_bad(HEADER "fixed 0 8 16 256\n", "block positive");
    expect_bad(HEADER "fixed 8 8 16 300\n", "a power of two");
    expect_bad(HEADER "fixed 8 8x 16 256\n", "must be numbers");
    expect_bad(HEADER "fixed 8 8 99999999999999999999 256\n", "must be numbers");
    expect_bad(HEADER "fixed 8 8 16 256\nfixed 8 8", "line 4: fewer than 5");
}

Test(pack_file, more_rows_than_allowed)
{
    char *text = malloc(PACK_FILE_ROWS_MAX * 32L);
    int used = sprintf(text, HEADER);

    for (int i = 0; i < PACK_FILE_ROWS_MAX + 1; i++)
        used += sprintf(text + used, "fixed 8 8 %d 256\n", 16 + i);
    expect_bad(text, "more than 4096 rows");
    free(text);
}

Test(pack_file, unreadable_files)
{
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_expect_eq(pack_file_read(path, MACHINE, &rows, note), PACK_FILE_BAD);
    cr_expect_not_null(strstr(note, "not a regular file"), "%s", note);
    const struct pack_rows none = {.n = 0};
    cr_expect_lt(pack_file_write(path, MACHINE, &none, &none), 0);
    cr_assert_eq(rmdir(path), 0);
    cr_expect_eq(pack_file_write("/nowhere/table", MACHINE, &none, &none), -ENOENT);
}

/* A kernel that is known is used from the first copy on; only the first file counts. */
Test(pack_file, known_kernels_are_not_measured)
{
    static char to[4096], from[8192];
    struct vector_copy v = {to, from, 8, 16, 8, 512};
    struct pack_row row[PACK_TUNE_CELLS];

    pack_choice_init_default();
    cr_assert_eq(read_text(HEADER "scalar 8 8 16 4096\n"), PACK_FILE_USED);
    cr_assert(pack_choice_know(&rows));
    pack_choice_run(&v);
    cr_expect_eq(pack_choice_found(&v), PACK_SCALAR);
    cr_expect_eq(pack_choice_new(row), 0);
    cr_expect_not(pack_choice_know(&rows));
    v.from_stride = 8 + 4;
    for (int i = 0; i < 1000 && pack_choice_found(&v) == PACK_KERNELS; i++)
        pack_choice_run(&v);
    cr_expect_eq(pack_choice_new(row), 1);
    cr_expect_eq(row[0].shape.from_stride, 12);
    rows.row = NULL; /* in use */
}
