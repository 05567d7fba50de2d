/* SPDX-License-Identifier: BSD-3-Clause */
/* env_test.c - the parser of environment variables. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/base/env.h"

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

Test(env, invalid_sizes_are_rejected)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t bytes = 12345;
        cr_assert_neq(env_parse_size(bad[i], &bytes), 0, "'%s' gave %zu", bad[i], bytes);
        cr_assert_eq(bytes, 12345);
    }
}

/* Removes our variables from the environment of the test. */
static void clear(void)
{
    enum { NAME_MAX_LEN = 256 };
    char name[NAME_MAX_LEN];

    for (char **entry = environ; *entry != NULL;) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
        if (strncmp(name, "SHMEM_", 6) == 0 || strncmp(name, "SMA_", 4) == 0)
            cr_assert_eq(unsetenv(name), 0, "%s", name); /* moves the others up */
        else
            entry++;
    }
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

Test(env, shmem_takes_precedence_over_sma, .init = clear)
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

/* The four of the specification have the old prefix too, ours do not. */
Test(env, old_prefix_is_for_old_names, .init = clear)
{
    static const char *const old[] = {"VERSION", "INFO", "DEBUG", "SYMMETRIC_SIZE"};
    char name[64];

    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        snprintf(name, sizeof name, "SMA_%s", old[i]);
        setenv(name, "7", 1);
        cr_assert_str_eq(env_value(old[i]), "7", "%s", name);
        snprintf(name, sizeof name, "SHMEM_%s", old[i]);
        setenv(name, "", 1); /* set to an empty value: takes precedence */
        cr_assert_str_eq(env_value(old[i]), "", "%s", name);
    }
    setenv("SMA_SPIN_NS", "7", 1);
    cr_assert_null(env_value("SPIN_NS"));
    setenv("SMA_CC", "7", 1);
    cr_assert_null(env_value("CC"));
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
    clear();
    setenv("SMA_SYMMETRIC_SIZE", "12parsec", 1);
    cr_assert_neq(env_load(&env, error), 0);
    cr_assert(strncmp(error, "SMA_SYMMETRIC_SIZE=", 19) == 0, "%s", error);
}

Test(env, the_table_prints_every_variable, .init = clear)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    env_print(out);
    fclose(out);
#define E(NAME, kind, field, def, help)                                                  \
    cr_assert(strstr(text, "SHMEM_" #NAME " ") != NULL);
    PGAS_ENV_TABLE(E)
#undef E
#define T(NAME, reader, help) cr_assert(strstr(text, "SHMEM_" #NAME " ") != NULL);
    PGAS_ENV_TOOLS(T)
#undef T
    free(text);
}

/* What env_warn_unknown writes with one more variable set; to be freed. */
static char *warnings_with(const char *name)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    setenv(name, "1", 1);
    env_warn_unknown(out);
    fclose(out);
    unsetenv(name);
    return text;
}

Test(env, used_variables_cause_no_warning, .init = clear)
{
    static const char *const foreign[] = {"OSHMEM_CC",    "SHMEM",        "SMA",
                                          "XSHMEM_DEBUG", "MY_SMA_DEBUG", "shmem_debug"};

    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        char *text = warnings_with(foreign[i]);
        cr_assert_str_empty(text, "%s", text);
        free(text);
    }
#define S(NAME)                         setenv("SMA_" #NAME, "1", 1);
#define T(NAME, reader, help)           setenv("SHMEM_" #NAME, "1", 1);
#define E(NAME, kind, field, def, help) setenv("SHMEM_" #NAME, "1", 1);
    PGAS_ENV_SMA(S)
    PGAS_ENV_TOOLS(T)
    PGAS_ENV_TABLE(E)
#undef S
#undef T
#undef E
    char *text = warnings_with("SHMEM_DEBUG");
    cr_assert_str_empty(text, "%s", text);
    free(text);
}

static const struct {
    const char *name, *meant;
} typing_errors[] = {
    {"SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"},
    {"SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"}, /* other implementations */
    {"SHMEM_SYMMERTIC_SIZE", "SHMEM_SYMMETRIC_SIZE"},
    {"SHMEM_symmetric_size", "SHMEM_SYMMETRIC_SIZE"},
    {"SHMEM_DEBGU", "SHMEM_DEBUG"},
    {"SHMEM_DBG", "SHMEM_DEBUG"},
    {"SHMEM_INFOS", "SHMEM_INFO"},
    {"SHMEM_XINFO", "SHMEM_INFO"},
    {"SHMEM_SPIN", "SHMEM_SPIN_NS"},
    {"SHMEM_CXXX", "SHMEM_CXX"},
    {"SMA_DEBU", "SHMEM_DEBUG"},
    {"SMA_SPIN_NS", "SHMEM_SPIN_NS"}, /* ours has no alias */
    {"SMA_CC", "SHMEM_CC"},
    {"SHMEM_ZZZZZZ", NULL},
    {"SHMEM_DEBUG_EVERYTHING_THAT_HAPPENS", NULL},
    {"SHMEM_QWERTY_KEYS", NULL},
    {"SHMEM_", NULL},
    {"SMA_", NULL},
};

Test(env, unknown_names_are_reported_with_the_nearest_one, .init = clear)
{
    for (size_t i = 0; i < sizeof typing_errors / sizeof typing_errors[0]; i++) {
        const char *name = typing_errors[i].name, *meant = typing_errors[i].meant;
        char *text = warnings_with(name), want[256];
        snprintf(want, sizeof want, "pgas: %s is unknown and ignored; %s%s\n", name,
                 meant != NULL ? "did you mean " : "SHMEM_INFO=1 lists all",
                 meant != NULL ? meant : "");
        if (meant != NULL)
            strcpy(want + strlen(want) - 1, "?\n");
        cr_assert_str_eq(text, want);
        free(text);
    }
}

/* Names of any length, none of which may overrun an array. */
Test(env, unknown_names_of_any_length, .init = clear)
{
    enum { LONGEST = 300 };
    char name[LONGEST + 1] = "SHMEM_";

    for (size_t len = strlen(name); len < LONGEST; len++) {
        name[len] = 'S';
        name[len + 1] = '\0';
        char *text = warnings_with(name);
        cr_assert_eq(strncmp(text, "pgas: SHMEM_S", 13), 0, "%s", text);
        cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1, "%s", text);
        free(text);
    }
}

Test(env, each_unknown_name_has_one_line, .init = clear)
{
    setenv("SHMEM_NO_SUCH_THING", "1", 1);
    setenv("SHMEM_NOR_THIS_ONE", "", 1);
    char *text = warnings_with("SMA_NOTHING");
    size_t lines = 0;

    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    cr_assert_eq(lines, 3, "%s", text);
    cr_assert(strstr(text, "SHMEM_NO_SUCH_THING") && strstr(text, "SHMEM_NOR_THIS_ONE") &&
              strstr(text, "SMA_NOTHING"));
    free(text);
}
