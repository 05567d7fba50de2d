/* SPDX-License-Identifier: BSD-3-Clause */
/* chassis.c - see chassis.h. */
#include "config.h"

#include "tools/oshrun/daemon/chassis.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DISTINCT_MIN 3 /* letters and digits: 0000-0000 is no serial number */
#define LENGTH_MIN   4

/* Parts of values that vendors leave in all their machines: "Chassis Serial Number",
 * "Asset-1234567890", "Default string", "0123456789ABCDEF".  Values without a digit, such
 * as "None" and "To be filled by O.E.M.", need no row.  The last two are clouds: "Amazon
 * EC2", and Azure's number of all its machines. */
static const char *const chassis_placeholders[] = {
    "serial", "asset",   "default", "o.e.m",
    "oem",    "not ",    "chassis", "12345",
    "98765",  "unknown", "amazon",  "7783-7084-3265-9085-8269-3286-77",
};

static bool chassis_contains(const char *value, const char *part)
{
    size_t len = strlen(part);

    for (; *value != '\0'; value++)
        if (strncasecmp(value, part, len) == 0)
            return true;
    return false;
}

static int chassis_distinct(const char *value)
{
    bool seen[256] = {false};
    int distinct = 0;

    for (; *value != '\0'; value++) {
        int c = tolower((unsigned char)*value);
        distinct += isalnum(c) && !seen[c];
        seen[c] = true;
    }
    return distinct;
}

bool chassis_is_real(const char *value)
{
    if (value == NULL || strlen(value) < LENGTH_MIN ||
        chassis_distinct(value) < DISTINCT_MIN || strpbrk(value, "0123456789") == NULL)
        return false;
    for (size_t i = 0; i < sizeof chassis_placeholders / sizeof *chassis_placeholders;
         i++)
        if (chassis_contains(value, chassis_placeholders[i]))
            return false;
    return true;
}

bool chassis_name(const char *vendor, const char *serial, const char *asset_tag,
                  char *text, size_t size)
{
    const char *value = chassis_is_real(serial) ? serial : asset_tag;

    if (!chassis_is_real(value))
        return false;
    /* A space does not occur in the name of a host. */
    snprintf(text, size, "chassis %s of %s", value, vendor != NULL ? vendor : "unknown");
    return true;
}
