/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal.c - the library parses SHMEM_SYMMETRIC_SIZE=1.5m correctly in a locale whose
 * decimal point is a comma.  decimal.sh sets the variable and provides the locale.
 */
#include "config.h"

#include <locale.h>

#include "tests/api/multi/check.h"

enum { ALLOC_LEN = 5 << 18 }; /* 1.25 MiB: more than 1m, less than 1.5m */

static bool has_comma(const char *name)
{
    return setlocale(LC_ALL, name) != NULL &&
           strcmp(localeconv()->decimal_point, ",") == 0;
}

int main(void)
{
    if (!has_comma("") && !has_comma("de_DE.UTF-8") && !has_comma("fr_FR.UTF-8"))
        return CHECK_SKIP;
    shmem_init();
    CHECK(strcmp(localeconv()->decimal_point, ",") == 0); /* shmem_init kept the locale */
    shmem_free(check_alloc(ALLOC_LEN));
    shmem_finalize();
    return 0;
}
