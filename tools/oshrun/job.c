/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - see job.h. */
#include "config.h"

#include "tools/oshrun/job.h"
