/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_layouts.h - packs, unpacks and copies many small random layouts with each kernel
 * in turn, and compares every byte with what naive loops compute from the arguments of
 * the constructors.
 *
 * Source and target lie directly behind or directly before an inaccessible page.  One
 * process runs one check at a time.  Uses: random_layout, datatype/pack, layout_wire.
 * Used by: layouts_test.
 */
#ifndef PGAS_TESTS_CHECK_LAYOUTS_H
#define PGAS_TESTS_CHECK_LAYOUTS_H

#include "pgas/datatype/pack/pack_choice.h"

enum { CHECK_LAYOUTS_TEXT = 320 };

struct check_layouts {
    size_t cases; /* layouts to check */
    uint64_t seed;
    size_t used[PACK_KERNELS]; /* result: layouts that the kernel copied */
    size_t refused;            /* result: layouts whose blocks overlap */
    size_t rejected, sound;    /* result: damaged serialised layouts */
    char text[CHECK_LAYOUTS_TEXT];
};

/* Returns 0, or -1 with the first difference in c->text. */
int check_layouts(struct check_layouts *c);

#endif
