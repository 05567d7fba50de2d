/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c - oshrun --launcher. */
#include "config.h"

#include "tools/oshrun/options.h"
