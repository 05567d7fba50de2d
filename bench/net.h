/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net.h - sizes, windows and repetitions of all programs of bench/net.
 *
 * Rows, each printed as `name size value unit`:
 *   put_lat, get_lat   us    one transfer with completion at the target
 *   put_bw, get_bw     MB/s  a window of nonblocking transfers, then completion of all
 *   pingpong           us    half of the round trip of a word
 *   fetch_add          us    one fetching atomic
 *   put_rate, add_rate, fadd_rate  M/s  puts, adds, fetching adds of 8 bytes; as put_bw
 *   barrier, allreduce us    of all PEs; the size is the number of PEs, or bytes
 */
#ifndef BENCH_NET_H
#define BENCH_NET_H

#include <stddef.h>

enum {
    NET_BATCHES = 9, /* the value is the median of them */
    NET_BURST = 8,   /* transfers per iteration of a bandwidth row */
    NET_WORDS = 64,  /* rates cycle through this number of words */
    NET_SIZE_MAX = 4 << 20,
};

static const size_t net_size[] = {8,         64,         512,     4096,        16384,
                                  64 * 1024, 256 * 1024, 1 << 20, NET_SIZE_MAX};
enum { NET_SIZES = sizeof(net_size) / sizeof(net_size[0]) };

#endif
