/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_api.h - libpmix's headers, with warnings in their code suppressed.
 *
 * Used by pmix_*.c.
 */
#ifndef OSHRUN_PMIX_PMIX_API_H
#define OSHRUN_PMIX_PMIX_API_H

#pragma GCC system_header

#include <pmix.h>
#include <pmix_server.h>

#endif
