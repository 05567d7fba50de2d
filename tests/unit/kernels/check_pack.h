/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_pack.h - compares the pack kernels with naive loops, for the unit test and for
 * the program that runs under an emulator.  All memory lies between guard pages, at one
 * end and then at the other one, so that an access beyond it faults.
 */
#ifndef PGAS_TESTS_CHECK_PACK_H
#define PGAS_TESTS_CHECK_PACK_H

#include "pgas/datatype/pack/pack_choice.h"

enum { CHECK_PACK_TEXT = 320 };

/* Packs, unpacks and copies `cases` random layouts, with kernel k forced (PACK_KERNELS:
 * none).  Returns the number of vectors that the kernel accepted, or -1 with the reason
 * in text. */
long check_pack(enum pack_kernel k, size_t cases, char text[CHECK_PACK_TEXT]);

#endif
