/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_select.h - which of libfabric's providers, and which of its interfaces.
 *
 * By what they can do, not by name: RMA and messages over reliable endpoints without
 * connections that reach other hosts.  What libfabric lists first is preferred; but an
 * interface that only this host can reach, or an address that needs more than itself to
 * be used (IPv6 link-local), comes after the others, and so do providers whose protocol
 * is a makeshift.
 * Uses: transport.h, ofi_lib.  Used by: ofi.
 */
#ifndef PGAS_TRANSPORT_OFI_SELECT_H
#define PGAS_TRANSPORT_OFI_SELECT_H

#include <stdbool.h>

#include "pgas/transport/ofi_lib.h"
#include "pgas/transport/transport.h"

/* SHMEM_OFI_ORDER: may puts rely on the order that a provider keeps but does not promise?
 * AUTO: where that has been tested; YES: wherever it is possible; NO: nowhere. */
enum ofi_order { OFI_ORDER_AUTO, OFI_ORDER_YES, OFI_ORDER_NO };

/* Read its text; NULL or "" is AUTO.  0; or -EINVAL and a sentence. */
int ofi_select_read_order(const char *text, enum ofi_order *order,
                          char why[TRANSPORT_TEXT_MAX]);

/* What was chosen, to be freed by ofi_lib.freeinfo.  0; or -errno and a sentence that
 * says what there is. */
int ofi_select(const struct transport_world *world, enum ofi_order order,
               struct fi_info **chosen, char why[TRANSPORT_TEXT_MAX]);

/* Does everything that an endpoint sends to another take effect in the order in which it
 * was posted, but for atomics, and may we rely on that? */
bool ofi_select_in_order(const struct fi_info *info, enum ofi_order order);

/* Are atomics of the provider performed by the target's processor, with what makes them
 * atomic towards other processors' accesses? */
bool ofi_select_coherent(const struct fi_info *info);

/* Does a completion queue's descriptor become readable whenever there is work? */
bool ofi_select_wakes(const struct fi_info *info);

/* The address that peers would call, for people; "" if it is not one of IP. */
void ofi_select_address(const struct fi_info *info, char *to, size_t room);

#endif
