/* SPDX-License-Identifier: BSD-3-Clause */
/* starter.c - see starter.h. */
#include "config.h"

#include "tools/oshrun/start/starter.h"
