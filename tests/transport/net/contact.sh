#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# contact.sh - a first operation on a PE while the launcher does not answer the request for
# its address: other threads, contexts and PEs go on, SHMEM_NET_TIMEOUT ends the job with a
# message that names the PE and the launcher, and the death of the PE ends the wait.  See
# contact.c.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
timeout_s=1
never='the launcher has not answered for 1 s the request for the address of PE'

contact() {
    job 0 3 6 "$net/contact" go-on
    [ "$SHMEM_TRANSPORT" = tcp ] || return 0
    SHMEM_FT=continue job 0 3 6 "$net/contact" failed
}

# never WAY PE ROUTINE: the job ends with the message of ROUTINE about PE.
never() {
    SHMEM_NET_TIMEOUT=$timeout_s SHMEM_TRANSPORT=tcp job 1 3 6 "$net/contact" "$1"
    says "^pgas: PE 1: $3: $never $2; is the launcher's daemon on this node stopped?"
}

for_each "tcp ofi" contact
never default 4 shmem_long_p
never private 4 shmem_ctx_long_p
never global 5 'first access to a global variable'
end
