/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.h - the time constants of timing.def, in nanoseconds.  A leaf. */
#ifndef PGAS_CORE_TIMING_H
#define PGAS_CORE_TIMING_H

#include <stdint.h>

#define TIMING(name, ns, reason) static const uint64_t name = ns;
#include "pgas/core/base/timing.def"
#undef TIMING

#define NS_PER_MS UINT64_C(1000000)

#endif
