/* SPDX-License-Identifier: BSD-3-Clause */
/* chassis_test.c - which values of the firmware name a chassis (chassis.h). */
#include "tools/oshrun/daemon/chassis.h"

#include <criterion/criterion.h>
#include <string.h>

Test(chassis, real)
{
    static const char *const real[] = {"CZ3424ABCD",
                                       "7X2K",
                                       "S15317625700123",
                                       "USE-9087 K2",
                                       "06-4711-23",
                                       "VN7H3C1",
                                       "ba5e1234-0c9d-4a1f-9e01-7b1c3d5e7f90"};

    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        cr_expect(chassis_is_real(real[i]), "%s", real[i]);
}

Test(chassis, placeholders)
{
    static const char *const none[] = {NULL,
                                       "",
                                       " ",
                                       "0",
                                       "1",
                                       "00000000",
                                       "0000-0000",
                                       "..............",
                                       "None",
                                       "Not Specified",
                                       "Not Available",
                                       "not applicable 01",
                                       "N/A",
                                       "Unknown",
                                       "To be filled by O.E.M.",
                                       "To Be Filled By O.E.M. 2",
                                       "Default string",
                                       "Default string 01",
                                       "System Serial Number",
                                       "Chassis Serial Number",
                                       "Chassis Serial Number 01",
                                       "123456789",
                                       "0123456789",
                                       "0123456789ABCDEF",
                                       "1234567890",
                                       "9876543210",
                                       "Asset-1234567890",
                                       "No Asset Tag",
                                       "Asset Tag 03",
                                       "OEM 471",
                                       "Amazon EC2",
                                       "GoogleCloud",
                                       "7783-7084-3265-9085-8269-3286-77",
                                       "Chassis 471",
                                       "FFFFFFFF",
                                       "1111 2222"};

    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect(!chassis_is_real(none[i]), "%s", none[i]);
}

Test(chassis, name)
{
    char a[CHASSIS_TEXT], b[CHASSIS_TEXT];

    cr_assert(chassis_name("HPE", "CZ3424ABCD", NULL, a, sizeof a));
    cr_assert(chassis_name("HPE", "CZ3424ABCD", "rack-17", b, sizeof b));
    cr_assert_str_eq(a, b, "the serial number counts, where there is one");
    cr_assert(chassis_name("HPE", "Not Specified", "K17-04", a, sizeof a));
    cr_assert(chassis_name("HPE", NULL, "K17-05", b, sizeof b));
    cr_assert_str_neq(a, b);
    cr_assert(chassis_name("Dell", NULL, "K17-05", a, sizeof a));
    cr_assert_str_neq(a, b, "vendors number their chassis independently");
    cr_assert(chassis_name(NULL, NULL, "K17-05", a, sizeof a));
    cr_assert_not_null(strchr(a, ' '), "differs from every name of a host");
    cr_assert(!chassis_name("QEMU", NULL, NULL, a, sizeof a));
    cr_assert(!chassis_name("Microsoft", "0000-0000", "7783-7084-3265-9085-8269-3286-77",
                            a, sizeof a));
}
