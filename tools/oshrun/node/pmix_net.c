/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_net.c - see pmix_net.h. */
#include "config.h"

#include "tools/oshrun/node/pmix_net.h"
