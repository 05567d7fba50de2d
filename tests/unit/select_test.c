/* SPDX-License-Identifier: BSD-3-Clause */
/* select_test.c - valid and invalid table files, and the plans made from them. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/coll/select/select.h"
#include "pgas/coll/select/select_table.h"
#include "pgas/core/base/env.def"

#define MACHINE "2 Model X"
#define HEADER  SELECT_TABLE_HEADER "\n"

enum { TEXT_LEN = 512 };

/* Read a table from a text. */
static struct select_table read_text(const char *text)
{
    FILE *in = fmemopen((char *)text, strlen(text), "r");
    struct select_table t;

    if (in == NULL) /* of an empty text */
        in = fopen("/dev/null", "r");
    select_table_read(in, "here", MACHINE, &t);
    fclose(in);
    return t;
}

/* The plan for a collective with a table of these rows. */
static const char *planned(enum select_collective what, struct select_case c,
                           const char *rows)
{
    static char text[TEXT_LEN];
    struct select_choice plan[SELECT_CHOICES];
    char file[16384];
    bool cut;

    snprintf(file, sizeof file, HEADER "%s", rows);
    struct select_table t = read_text(file);
    cr_assert_eq(t.state, SELECT_TABLE_USED, "%s", t.note);
    c.table = &t;
    cr_assert_gt(select_choose(what, &c, plan, &cut), 0);
    select_plan_text(plan, text, sizeof text);
    if (cut)
        strcat(text, ", cut");
    select_table_free(&t);
    return text;
}

static const struct select_case two = {
    .npes = 2, .nodes = 1, .first = SELECT_ALGORITHMS_ALL};

/* ---- the file -------------------------------------------------------------------- */

Test(table, rows_comments_and_the_machine)
{
    struct select_table t = read_text(HEADER "# a comment\n"
                                             "machine " MACHINE "  \r\n"
                                             "\n"
                                             "reduce last 9-64K 2 1 # why\n"
                                             "  scan\tmailbox  *  3-  1-4\n"
                                             "collect barrier 1k- * *");

    cr_assert_eq(t.state, SELECT_TABLE_USED, "%s", t.note);
    cr_assert_eq(t.rows, 3);
    cr_assert_eq(t.row[0].what, SELECT_REDUCE);
    cr_assert_eq(t.row[0].algorithm, REDUCE_LAST);
    cr_assert_eq(t.row[0].bytes.from, 9);
    cr_assert_eq(t.row[0].bytes.to, 65536);
    cr_assert_eq(t.row[0].pes.from, 2);
    cr_assert_eq(t.row[0].pes.to, 2);
    cr_assert_eq(t.row[1].algorithm, SCAN_MAILBOX);
    cr_assert_eq(t.row[1].bytes.from, 0);
    cr_assert_eq(t.row[1].pes.to, SIZE_MAX);
    cr_assert_eq(t.row[1].nodes.to, 4);
    cr_assert_eq(t.row[2].bytes.from, 1024);
    select_table_free(&t);
}

Test(table, another_machine_is_detected)
{
    struct select_table t = read_text(HEADER "machine 64 Model X\nreduce last * * *\n");

    cr_assert_eq(t.state, SELECT_TABLE_OTHER);
    cr_assert_eq(t.rows, 0);
    cr_assert_str_eq(t.note,
                     "here is for another machine (64 Model X; this one is 2 Model X)");
    t = read_text(HEADER "machine *\nreduce last * * *\n");
    cr_assert_eq(t.state, SELECT_TABLE_USED);
    select_table_free(&t);
}

Test(table, each_machine_has_its_rows)
{
    struct select_table t = read_text(HEADER "reduce flat 1 * *\n"
                                             "machine 64 Model X\nreduce last * * *\n"
                                             "machine " MACHINE "\nreduce tree 2 * *\n"
                                             "machine *\nreduce chain * * *\n"
                                             "machine 1 Y\nscan barrier * * *\n");

    cr_assert_eq(t.state, SELECT_TABLE_USED);
    cr_assert_eq(t.rows, 3);
    cr_assert_eq(t.row[0].algorithm, REDUCE_FLAT);
    cr_assert_eq(t.row[1].algorithm, REDUCE_TREE);
    cr_assert_eq(t.row[2].algorithm, REDUCE_CHAIN);
    cr_assert_str_eq(t.note, "");
    select_table_free(&t);
    t = read_text(HEADER "machine 64 Model X\nreduce last * * *\nmachine 1 Y\n");
    cr_assert_eq(t.state, SELECT_TABLE_OTHER);
    t = read_text(HEADER "machine 64 Model X\nmachine " MACHINE "\n");
    cr_assert_eq(t.state, SELECT_TABLE_USED);
    t = read_text(HEADER "machine 64 Model X\nreduce last x * *\n");
    cr_assert_eq(t.state, SELECT_TABLE_BAD);
}

Test(table, each_mistake_has_its_error_text)
{
    static const struct {
        const char *text, *error_text;
    } cases[] = {
        {"", "here:1: not a table of algorithms: the first line must be "
             "'pgas-coll-table 2'"},
        {"reduce last * * *\n", "here:1: not a table of algorithms"},
        {"pgas-coll-table 12\n", "here:1: the table has version '12', but this library "
                                 "reads version 2"},
        {HEADER "reduce last * *\n",
         "here:2: fewer than 5 columns; a row is: collective"},
        {HEADER "\n\nreduce last * * * 3\n", "here:4: more than 5 columns"},
        {HEADER "redcue last * * *\n",
         "here:2: column 1, the collective, is 'redcue', but must be one of reduce, "
         "broadcast,"},
        {HEADER "scan last * * *\n",
         "here:2: column 2, the algorithm, is 'last'; scan has mailbox, barrier"},
        {HEADER "scan mailbox 1x * *\n",
         "here:2: column 3, bytes, is '1x', but must be N, N-M, N- or *, as in 64K-1M"},
        {HEADER "scan mailbox - * *\n", "here:2: column 3, bytes, is '-'"},
        {HEADER "scan mailbox 1-2-3 * *\n", "here:2: column 3, bytes, is '1-2-3'"},
        {HEADER "scan mailbox 2K-1K * *\n",
         "here:2: column 3, bytes, is '2K-1K', an empty range"},
        {HEADER "scan mailbox * 0 *\n",
         "here:2: column 4, PEs, is '0', but must be N, N-M, N- or *, from 1"},
        {HEADER "scan mailbox * 2k *\n", "here:2: column 4, PEs, is '2k'"},
        {HEADER "scan mailbox * * none\n", "here:2: column 5, nodes, is 'none'"},
        {HEADER "machine\n",
         "here:2: 'machine ' is invalid; use 'machine *', or for this "
         "machine 'machine 2 Model X'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct select_table t = read_text(cases[i].text);
        cr_assert_eq(t.state, SELECT_TABLE_BAD, "%s", cases[i].text);
        cr_assert_eq(t.rows, 0);
        cr_assert_eq(strncmp(t.note, cases[i].error_text, strlen(cases[i].error_text)), 0,
                     "'%s' instead of '%s'", t.note, cases[i].error_text);
    }
}

Test(table, digests_distinguish_rows)
{
    struct select_table a = read_text(HEADER "reduce last * 2 1\n");
    struct select_table b = read_text(HEADER "# else\nreduce last * 2 1\n");
    struct select_table c = read_text(HEADER "reduce last * 2 1\nscan mailbox * 2 2-\n");

    cr_assert_eq(select_table_digest(&a, false), select_table_digest(&b, false));
    cr_assert_neq(select_table_digest(&a, false), select_table_digest(&c, false));
    cr_assert_neq(select_table_digest(&a, true), select_table_digest(&c, true));
    select_table_free(&a);
    cr_assert_eq(select_table_digest(&a, true), select_table_digest(&b, true));
    select_table_free(&b);
    select_table_free(&c);
}

/* ---- plans ----------------------------------------------------------------------- */

Test(plan, without_rows_it_is_the_built_in_one)
{
    struct select_case c = two;

    cr_assert_str_eq(planned(SELECT_SCAN, c, ""), "mailbox to 256, barrier");
    c.npes = 5;
    cr_assert_str_eq(planned(SELECT_SCAN, c, "scan barrier * 2-4 1\n"),
                     "mailbox to 2048, barrier");
    c.npes = 4;
    c.nodes = 2;
    cr_assert_str_eq(planned(SELECT_SCAN, c, "scan barrier * 2-4 1\n"),
                     "mailbox to 2048, barrier");
    c.nodes = 1;
    cr_assert_str_eq(planned(SELECT_SCAN, c, "scan barrier * 2-4 1\n"), "barrier");
}

Test(plan, later_rows_split_earlier_ones)
{
    cr_assert_str_eq(planned(SELECT_SCAN, two, "scan barrier 100-200 2 1\n"),
                     "mailbox to 99, barrier to 200, mailbox to 256, barrier");
    cr_assert_str_eq(
        planned(SELECT_SCAN, two, "scan mailbox 150 2 1\nscan barrier 100-200 2 1\n"),
        "mailbox to 99, barrier to 149, mailbox to 150, barrier to 200, mailbox to "
        "256, barrier");
}

Test(plan, an_algorithm_is_used_within_its_limits)
{
    struct select_case c = two;

    cr_assert_str_eq(planned(SELECT_BROADCAST, c, "broadcast mailbox * * *\n"),
                     "mailbox to 2048, direct");
    cr_assert_str_eq(planned(SELECT_REDUCE, c, "reduce chain * * *\n"), "chain");
    c.reproducible = true;
    cr_assert_eq(strncmp(planned(SELECT_REDUCE, c, "reduce chain * * *\n"), "flat", 4),
                 0);
}

Test(plan, with_more_pes_than_processors_exchanges_go_by_arrival)
{
    static const struct {
        int npes;
        const char *plan;
    } should[] = {
        {2, "mailbox to 256, arrival to 32768, barrier"},
        {4, "arrival to 16384, barrier"},
        {8, "arrival to 4096, barrier to 32768, arrival"},
        {9, "arrival"},
        {256, "arrival to 256, barrier"},
        {257, "mailbox to 7, barrier"},
    };
    struct select_case c = {
        .nodes = 1, .oversubscribed = true, .first = SELECT_ALGORITHMS_ALL};

    for (size_t i = 0; i < sizeof should / sizeof should[0]; i++) {
        c.npes = should[i].npes;
        cr_assert_str_eq(planned(SELECT_ALLTOALL, c, ""), should[i].plan, "%d PEs",
                         c.npes);
    }
    c.first = ALLTOALL_ARRIVAL; /* exceeds its limit of PEs */
    cr_assert_str_eq(planned(SELECT_ALLTOALL, c, ""), "mailbox to 7, barrier");
    cr_assert_str_eq(planned(SELECT_BARRIER, c, ""), "counter");
    cr_assert_str_eq(planned(SELECT_BARRIER, two, ""), "dissemination");
}

Test(plan, many_pes_with_a_processor_each)
{
    struct select_case c = {.nodes = 1, .npes = 16, .first = SELECT_ALGORITHMS_ALL};

    cr_assert_str_eq(planned(SELECT_REDUCE, c, ""), "last to 2048, slices");
    cr_assert_str_eq(planned(SELECT_BROADCAST, c, ""), "mailbox to 2048, direct");
    c.npes = 17;
    cr_assert_str_eq(planned(SELECT_REDUCE, c, ""), "groups to 2048, slices");
    cr_assert_str_eq(planned(SELECT_BROADCAST, c, ""), "groups to 2048, direct");
    cr_assert_str_eq(planned(SELECT_BARRIER, c, ""), "dissemination");
    c.caches = true;
    cr_assert_str_eq(planned(SELECT_BARRIER, c, ""), "tree");
    c.oversubscribed = true;
    cr_assert_str_eq(planned(SELECT_BARRIER, c, ""), "counter");
    cr_assert_str_eq(planned(SELECT_REDUCE, c, ""), "last to 2048, slices");
}

Test(plan, the_variable_comes_first)
{
    struct select_case c = two;

    c.first = SCAN_BARRIER;
    cr_assert_str_eq(planned(SELECT_SCAN, c, "scan mailbox * * *\n"), "barrier");
    c.first = BROADCAST_MAILBOX;
    cr_assert_str_eq(planned(SELECT_BROADCAST, c, "broadcast barrier * * *\n"),
                     "mailbox to 2048, barrier");
}

Test(plan, too_many_ranges_are_cut)
{
    char rows[8192] = "";

    for (int i = 1; i <= 2 * SELECT_CHOICES; i++)
        sprintf(rows + strlen(rows), "scan barrier %d 2 1\n", 10 * i);
    const char *text = planned(SELECT_SCAN, two, rows);
    cr_assert_not_null(strstr(text, "barrier, cut"), "%s", text);
    rows[0] = '\0';
    for (int i = 1; i <= SELECT_CHOICES / 2 - 1; i++)
        sprintf(rows + strlen(rows), "scan barrier %d 2 1\n", 10 * i);
    text = planned(SELECT_SCAN, two, rows);
    cr_assert_null(strstr(text, "cut"), "%s", text);
}

/* ---- paths ----------------------------------------------------------------------- */

Test(path, environment_determines_the_path_of_the_user)
{
    char path[PATH_MAX];

    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/home/joe", 1);
    cr_assert(select_table_path(0, path, sizeof path));
    cr_assert_str_eq(path, "/home/joe/.config/pgas/coll.table");
    setenv("XDG_CONFIG_HOME", "/etc/joe", 1);
    cr_assert(select_table_path(0, path, sizeof path));
    cr_assert_str_eq(path, "/etc/joe/pgas/coll.table");
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "relative", 1);
    cr_assert(!select_table_path(0, path, sizeof path));
    cr_assert(select_table_path(1, path, sizeof path));
}

Test(path, a_named_file_that_cannot_be_opened_is_bad)
{
    struct select_table t;

    select_table_find("/nowhere/at/all", 2, &t);
    cr_assert_eq(t.state, SELECT_TABLE_BAD);
    cr_assert_str_eq(t.note,
                     "/nowhere/at/all: cannot be opened: No such file or directory");
    select_table_find("/tmp", 2, &t);
    cr_assert_str_eq(t.note, "/tmp: cannot be opened: not a regular file");
    select_table_find("none", 2, &t);
    cr_assert_eq(t.state, SELECT_TABLE_ABSENT);
}

/* The help text of a variable. */
static const char *help_of(const char *variable)
{
    static const struct {
        const char *name, *help;
    } variables[] = {
#define E(NAME, kind, field, standard, help) {#NAME, help},
        PGAS_ENV_TABLE(E)
#undef E
    };

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (strcmp(variables[i].name, variable) == 0)
            return variables[i].help;
    return NULL;
}

Test(help, names_every_algorithm)
{
#define X(NAME, name) #NAME "_ALGORITHM",
    static const char *const variables[] = {SELECT_COLLECTIVES(X)};
#undef X

    for (int a = 0; a < SELECT_ALGORITHMS_ALL; a++) {
        const struct select_info *info = select_info((enum select_algorithm)a);
        const char *help = help_of(variables[info->what]);
        cr_assert_not_null(help);
        cr_assert_not_null(strstr(help, info->name), "%s: %s", info->name, help);
    }
}
