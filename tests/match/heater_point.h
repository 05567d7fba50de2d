/* SPDX-License-Identifier: BSD-3-Clause */
/* heater_point.h - included first when heater.sh compiles match_regions.c: random delays,
 * reads that a sanitizer sees instead of prefetches, and a free that is counted. */
#include <stdlib.h>

void heater_test_point(void);
void heater_test_touch(const char *address);
void heater_test_free(void *memory);
#define MATCH_REGIONS_POINT(point)   heater_test_point()
#define MATCH_REGIONS_TOUCH(address) heater_test_touch(address)
#define free(memory)                 heater_test_free(memory)
