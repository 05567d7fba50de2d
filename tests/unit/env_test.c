/* SPDX-License-Identifier: BSD-3-Clause */
/* env_test.c - the parser of environment variables. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/env.h"

static const struct {
    const char *text;
    size_t bytes;
} good[] = {
    {"0", 0},
    {"1", 1},
    {"20m", 20971520},
    {"3.1M", 3250586}, /* the specification's own examples */
    {"20kk", 20480},
    {".5m", 524288},
    {"1.", 1},
    {"1.5g", 1610612736},
    {"1T", (size_t)1 << 40},
    {"0.3", 1},
    {"1G", (size_t)1 << 30},
};

static const char *const bad[] = {"",    "m",           "x",   "-1",  "-1m",  "1q",
                                  "1 m", "1e9",         "inf", "nan", "0x10", "1..2",
                                  "..",  "9999999999t", "+1",  " 64M"};

Test(env, sizes_of_the_specification)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        size_t bytes = 12345;
        cr_assert_eq(env_parse_size(good[i].text, &bytes), 0, "'%s'", good[i].text);
        cr_assert_eq(bytes, good[i].bytes, "'%s' = %zu", good[i].text, bytes);
    }
}

Test(env, what_is_no_size_is_refused)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t bytes = 12345;
        cr_assert_neq(env_parse_size(bad[i], &bytes), 0, "'%s' gave %zu", bad[i], bytes);
        cr_assert_eq(bytes, 12345);
    }
}

static void clear(void)
{
#define E(NAME, kind, field, def, help)                                                  \
    unsetenv("SHMEM_" #NAME);                                                            \
    unsetenv("SMA_" #NAME);
    PGAS_ENV_TABLE(E)
#undef E
}

Test(env, defaults, .init = clear)
{
    struct env env;
    char error[ENV_ERROR_MAX];

    cr_assert_eq(env_load(&env, error), 0);
    cr_assert_eq(env.symmetric_size, (size_t)512 << 20);
    cr_assert_eq(env.debug, 0);
    cr_assert_not(env.version);
}

Test(env, shmem_wins_over_sma, .init = clear)
{
    struct env env;
    char error[ENV_ERROR_MAX];

    setenv("SMA_SYMMETRIC_SIZE", "1m", 1);
    cr_assert_eq(env_load(&env, error), 0);
    cr_assert_eq(env.symmetric_size, 1 << 20);
    setenv("SHMEM_SYMMETRIC_SIZE", "2m", 1);
    cr_assert_eq(env_load(&env, error), 0);
    cr_assert_eq(env.symmetric_size, 2 << 20);
}

Test(env, flags_and_levels, .init = clear)
{
    struct env env;
    char error[ENV_ERROR_MAX];

    setenv("SHMEM_VERSION", "", 1);
    setenv("SHMEM_DEBUG", "yes", 1);
    cr_assert_eq(env_load(&env, error), 0);
    cr_assert(env.version);
    cr_assert_eq(env.debug, 1);
    setenv("SHMEM_DEBUG", "2", 1);
    cr_assert_eq(env_load(&env, error), 0);
    cr_assert_eq(env.debug, 2);
}

Test(env, a_bad_value_is_named, .init = clear)
{
    struct env env;
    char error[ENV_ERROR_MAX] = "";

    setenv("SHMEM_SYMMETRIC_SIZE", "12parsec", 1);
    cr_assert_neq(env_load(&env, error), 0);
    cr_assert(strstr(error, "SHMEM_SYMMETRIC_SIZE") && strstr(error, "12parsec"), "%s",
              error);
    clear();
    setenv("SHMEM_SPIN_NS", "-5", 1);
    cr_assert_neq(env_load(&env, error), 0);
    cr_assert(strstr(error, "SHMEM_SPIN_NS"), "%s", error);
}

Test(env, the_table_prints_every_variable, .init = clear)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    env_print(out);
    fclose(out);
#define E(NAME, kind, field, def, help) cr_assert(strstr(text, "SHMEM_" #NAME) != NULL);
    PGAS_ENV_TABLE(E)
#undef E
    free(text);
}
