/* SPDX-License-Identifier: BSD-3-Clause */
/* tail_point.h - included first when tail.sh compiles match_tail.c: delays at random
 * where the interleaving of threads matters. */
void tail_test_point(void);
#define MATCH_TAIL_POINT(point) tail_test_point()
