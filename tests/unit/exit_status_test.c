/* SPDX-License-Identifier: BSD-3-Clause */
/* exit_status_test.c - what oshrun says of a PE that exits with status 0. */
#include "config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tools/oshrun/front/exit_status.h"

static const char *text_of(const struct daemon_end *end)
{
    static char text[200];

    exit_status_text(end, text, sizeof text);
    return text;
}

Test(exit_status, without_finalize)
{
    struct daemon_end end = {.rank = 3, .pid = 47};

    cr_assert_str_eq(text_of(&end), "PE 3 (pid 47) exited without shmem_init");
    end.connected = true;
    cr_assert_str_eq(text_of(&end), "PE 3 (pid 47) exited without shmem_finalize");
    cr_assert_eq(exit_status_classify(&end), EXIT_STATUS_WAIT);
}

/* Another library has not finalized libpmix. */
Test(exit_status, finalized_but_for_pmix)
{
    struct daemon_end end = {.rank = 3, .pid = 47, .connected = true};

    end.stage_ns[NODE_STAGE_LEAVE] = 1;
    cr_assert_not_null(strstr(text_of(&end), "exited after shmem_finalize"));
    cr_assert_null(strstr(text_of(&end), "without"));
    cr_assert_eq(exit_status_classify(&end), EXIT_STATUS_WAIT);
}
