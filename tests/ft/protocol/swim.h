/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * swim.h - SWIM (Das, Gupta, Motivala 2002), a gossip failure detector, for comparison.
 *
 * Each protocol period (delta) a member probes the next member of a random permutation;
 * without an acknowledgement after delta / 4 it asks k = 3 random members to probe;
 * without one by the end of the period it suspects the member.  A suspicion that is not
 * refuted for 4 * log10(N) periods, at least 4, becomes a failure (the defaults of a
 * well-known implementation). Suspicions and failures spread on probes and
 * acknowledgements, each sent 4 * ceil(log10(N + 1)) times by every member.
 */
#ifndef TESTS_FT_SWIM_H
#define TESTS_FT_SWIM_H

#include <stdint.h>

struct swim_result {
    double
        detected; /* first member declares the failure; in periods, mean of the trials */
    double known; /* last member knows */
};

struct swim_result swim_measure(uint32_t n, uint32_t trials);

#endif
