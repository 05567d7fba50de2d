/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_raw.c - measures UCX (UCP) without OpenSHMEM; see raw.h.  Unlike ucx_perftest, it
 * measures puts up to their completion at the target.  UCX_TLS selects the transports.
 * Uses: raw.h, net.h, UCX. */
#include "raw.h"

#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

/* What each side sends to the other before its address and its key. */
struct peer_info {
    uint64_t address_len, key_len, base;
};

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_mem_h mem;
static ucp_ep_h ep;
static ucp_rkey_h key;
static uint64_t base; /* of the other side's memory */
static long outstanding;
static const uint64_t one = 1;

const char raw_name[] = "ucp_raw";

static void check_status(ucs_status_t status, const char *what)
{
    if (status != UCS_OK)
        raw_fail(what, ucs_status_string(status));
}

/* ---- the endpoint ---------------------------------------------------------------- */

static void open_worker(void)
{
    ucp_config_t *config;
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                      .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64};
    ucp_worker_params_t w = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                             .thread_mode = UCS_THREAD_MODE_SINGLE};
    check_status(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    check_status(ucp_init(&p, config, &context), "ucp_init");
    ucp_config_release(config);
    check_status(ucp_worker_create(context, &w, &worker), "ucp_worker_create");
}

static void map_memory(void)
{
    ucp_mem_map_params_t p = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                            UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                              .address = raw.memory,
                              .length = RAW_MEMORY};
    check_status(ucp_mem_map(context, &p, &mem), "ucp_mem_map");
}

static void send_endpoint(void)
{
    ucp_address_t *address;
    void *packed;
    size_t address_len, key_len;
    check_status(ucp_worker_get_address(worker, &address, &address_len),
                 "ucp_worker_get_address");
    check_status(ucp_rkey_pack(context, mem, &packed, &key_len), "ucp_rkey_pack");
    struct peer_info mine = {address_len, key_len, (uint64_t)(uintptr_t)raw.memory};
    raw_send(&mine, sizeof(mine));
    raw_send(address, address_len);
    raw_send(packed, key_len);
    ucp_rkey_buffer_release(packed);
    ucp_worker_release_address(worker, address);
}

static void recv_endpoint(void)
{
    struct peer_info remote;
    raw_recv(&remote, sizeof(remote));
    void *address = malloc(remote.address_len), *packed = malloc(remote.key_len);
    if (address == NULL || packed == NULL)
        raw_fail("memory", "allocation failed");
    raw_recv(address, remote.address_len);
    raw_recv(packed, remote.key_len);
    ucp_ep_params_t p = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                         .address = address};
    check_status(ucp_ep_create(worker, &p, &ep), "ucp_ep_create");
    check_status(ucp_ep_rkey_unpack(ep, packed, &key), "ucp_ep_rkey_unpack");
    base = remote.base;
    free(packed);
    free(address);
}

const char *raw_open(void)
{
    if (raw.provider != NULL)
        raw_fail("option -f", "is for libfabric; for UCX set UCX_TLS");
    open_worker();
    map_memory();
    send_endpoint();
    recv_endpoint();
    return ucp_get_version_string();
}

long raw_progress(void)
{
    return (long)ucp_worker_progress(worker);
}

/* ---- posting and completing ------------------------------------------------------ */

static void completed(void *request, ucs_status_t status, void *arg)
{
    (void)arg;
    check_status(status, "an operation");
    outstanding--;
    ucp_request_free(request);
}

/* The result of a call: complete, failed, or pending until completed() is called. */
static void posted(ucs_status_ptr_t request, const char *what)
{
    if (UCS_PTR_IS_ERR(request))
        check_status(UCS_PTR_STATUS(request), what);
    else if (request != NULL)
        outstanding++;
}

/* Until at most n operations are outstanding. */
static void wait_until(long n)
{
    while (outstanding > n)
        raw_wait();
}

static const ucp_request_param_t plain = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
                                          .cb.send = completed};

static void write_to(size_t at, const void *from, size_t len)
{
    posted(ucp_put_nbx(ep, from, len, base + at, key, &plain), "ucp_put_nbx");
}

static void read_from(size_t at, void *to, size_t len)
{
    posted(ucp_get_nbx(ep, to, len, base + at, key, &plain), "ucp_get_nbx");
}

static void add(uint64_t *old)
{
    ucp_request_param_t p = {.op_attr_mask =
                                 UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_DATATYPE,
                             .cb.send = completed,
                             .datatype = ucp_dt_make_contig(sizeof(one))};
    if (old != NULL) {
        p.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        p.reply_buffer = old;
    }
    posted(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, base + RAW_ATOMIC, key, &p),
           "ucp_atomic_op_nbx");
}

void raw_put_word(size_t at, const uint64_t *value)
{
    write_to(at, value, sizeof(*value));
}

void raw_flush(void)
{
    posted(ucp_ep_flush_nbx(ep, &plain), "ucp_ep_flush_nbx");
    wait_until(0);
}

/* Closing the endpoint would need the other side, which may have exited. */
void raw_close(void)
{
    ucp_rkey_destroy(key);
    check_status(ucp_mem_unmap(context, mem), "ucp_mem_unmap");
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

/* ---- benchmarks ------------------------------------------------------------------ */

static void put(long n)
{
    for (long i = 0; i < n; i++) {
        write_to(0, raw.local, raw.size);
        raw_flush();
    }
}

static void get(long n)
{
    for (long i = 0; i < n; i++) {
        read_from(0, raw.local, raw.size);
        wait_until(0);
    }
}

static void fetch_add(long n)
{
    for (long i = 0; i < n; i++) {
        add((uint64_t *)(void *)raw.local);
        wait_until(0);
    }
}

static void puts_window(long n)
{
    for (long i = 0; i < n * NET_BURST; i++) {
        write_to(0, raw.local, raw.size);
        wait_until(RAW_WINDOW - 1);
    }
    raw_flush();
}

static void gets_window(long n)
{
    for (long i = 0; i < n * NET_BURST; i++) {
        read_from(0, raw.local, raw.size);
        wait_until(RAW_WINDOW - 1);
    }
    wait_until(0);
}

static void words(long n)
{
    for (long i = 0; i < n; i++) {
        size_t at = (size_t)(i % NET_WORDS) * sizeof(uint64_t);
        write_to(at, raw.local + at, sizeof(uint64_t));
        wait_until(RAW_WINDOW - 1);
    }
    raw_flush();
}

static void adds(long n)
{
    for (long i = 0; i < n; i++) {
        add(NULL);
        wait_until(RAW_WINDOW - 1);
    }
    raw_flush();
}

static void fetch_adds(long n)
{
    for (long i = 0; i < n; i++) {
        add((uint64_t *)(void *)raw.local + i % NET_WORDS);
        wait_until(RAW_WINDOW - 1);
    }
    wait_until(0);
}

const struct raw_row raw_words[] = {
    {"fetch_add", "us", {fetch_add}, 1},
    {"put_rate", "M/s", {words}, 1},
    {"add_rate", "M/s", {adds}, 1},
    {"fadd_rate", "M/s", {fetch_adds}, 1},
    {.name = NULL},
};

const struct raw_row raw_sizes[] = {
    {"put_lat", "us", {put}, 1},
    {"get_lat", "us", {get}, 1},
    {"put_bw", "MB/s", {puts_window}, NET_BURST},
    {"get_bw", "MB/s", {gets_window}, NET_BURST},
    {.name = NULL},
};
