/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_faults_test.c - unit tests of transport/hook_faults.c: syntax of SHMEM_FAULTS. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "pgas/transport/test/hook_int.h"

enum { NPES = 4, NS_PER_MS = 1000000 };

Test(hook_faults, all_words_are_read)
{
    struct hook_faults c;
    char why[TRANSPORT_TEXT_MAX];

    cr_assert_eq(hook_faults_parse("seed=7,delay=3us,reorder,eagain=20,drop=1@5,fail=2@1,"
                                   "kill=9,kill=3@4,trace=/tmp/t.%p.x",
                                   2, NPES, &c, why),
                 0, "%s", why);
    cr_assert_eq(c.seed, 7);
    cr_assert_eq(c.delay_ns, 3000);
    cr_assert(c.reorder);
    cr_assert_eq(c.eagain, 20);
    cr_assert_eq(c.rules, 4);
    static const struct hook_rule rule[] = {{.fault = FAULT_DROP, .pe = 1, .at = 5},
                                            {.fault = FAULT_FAIL, .pe = 2, .at = 1},
                                            {.fault = FAULT_KILL, .pe = 2, .at = 9},
                                            {.fault = FAULT_KILL, .pe = 3, .at = 4}};
    for (int i = 0; i < c.rules; i++)
        cr_assert(c.rule[i].fault == rule[i].fault && c.rule[i].pe == rule[i].pe &&
                      c.rule[i].at == rule[i].at,
                  "rule %d", i);
    cr_assert_str_eq(c.trace, "/tmp/t.2.x");
    cr_assert(c.trace_alone);
    cr_assert_eq(hook_faults_parse(NULL, 0, 1, &c, why), 0);
    cr_assert_eq(hook_faults_parse("", 0, 1, &c, why), 0);
    cr_assert(c.rules == 0 && c.delay_ns == 0 && c.trace[0] == '\0');
    cr_assert_eq(hook_faults_parse("delay=2ms", 0, 1, &c, why), 0);
    cr_assert_eq(c.delay_ns, 2 * NS_PER_MS);
}

Test(hook_faults, wrong_words_are_named)
{
    static const struct {
        const char *text, *named;
    } wrong[] = {
        {"dlay=3", "'dlay=3'"},
        {"seed=", "seed=N"},
        {"seed=-1", "seed=N"},
        {"seed", "'seed'"},
        {"delay=3s", "ns, us or ms"},
        {"delay=99999999999999999ms", "'delay="},
        {"reorder=1", "'reorder=1'"},
        {"eagain=100", "0..99"},
        {"eagain=5%", "'eagain=5%'"},
        {"drop=3", "drop=PE@N"},
        {"drop=4@1", "PE 4"},
        {"fail=1@0", "N from 1"},
        {"kill=0", "kill=N"},
        {"kill=x", "'kill=x'"},
        {"trace=", "trace=FILE"},
        {"seed=1,,reorder", "''"},
        {"drop=1@1,drop=1@1,drop=1@1,drop=1@1,drop=1@1,drop=1@1,drop=1@1,drop=1@1,"
         "drop=1@1,drop=1@1,drop=1@1,drop=1@1,drop=1@1,drop=1@1,drop=1@1,drop=1@1,"
         "drop=1@1",
         "16"},
    };
    struct hook_faults c;
    char why[TRANSPORT_TEXT_MAX];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_eq(hook_faults_parse(wrong[i].text, 0, NPES, &c, why), -EINVAL, "%s",
                     wrong[i].text);
        cr_expect(strstr(why, wrong[i].named) != NULL && strstr(why, "SHMEM_FAULTS"),
                  "%s: %s", wrong[i].text, why);
    }
}
