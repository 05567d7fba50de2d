/* SPDX-License-Identifier: BSD-3-Clause */
/* fi_raw.c - measures libfabric without OpenSHMEM; see raw.h.
 * Uses: raw.h, net.h, libfabric. */
#include "raw.h"

#include <netdb.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>

enum { REAP_MAX = 16, ADDRESS_MAX = 256 };
#define RXM_BUFFER_ENV   "FI_OFI_RXM_BUFFER_SIZE"
#define RXM_BUFFER_BYTES "256" /* as the library sets it */
#define DEFAULT_PROVIDER "tcp;ofi_rxm"

/* What each side sends to the other. */
struct peer_info {
    uint64_t key, base;
    unsigned char address[ADDRESS_MAX];
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_mr *mr;
static struct peer_info remote;
static fi_addr_t peer_addr;

static struct fi_context2 contexts[RAW_WINDOW];
static struct fi_context2 *unused[RAW_WINDOW]; /* [0..unused_n) */
static int unused_n;
static uint64_t signal_all; /* FI_COMPLETION where every operation needs a context */

const char raw_name[] = "fi_raw";

static void check_rc(ssize_t rc, const char *what)
{
    if (rc < 0)
        raw_fail(what, fi_strerror((int)-rc));
}

/* ---- the endpoint ---------------------------------------------------------------- */

/* Selects the provider on the interface of the TCP connection. */
static void choose(void)
{
    char name[NI_MAXHOST];
    raw_own_address(name, sizeof(name));
    struct fi_info *hints = fi_allocinfo();
    if (hints == NULL)
        raw_fail("fi_allocinfo", "no memory");
    hints->fabric_attr->prov_name =
        strdup(raw.provider != NULL ? raw.provider : DEFAULT_PROVIDER);
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_RMA | FI_ATOMIC | FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->domain_attr->mr_mode =
        FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    check_rc(fi_getinfo(FI_VERSION(1, 14), name, NULL, FI_SOURCE, hints, &info),
             hints->fabric_attr->prov_name);
    fi_freeinfo(hints);
    if ((info->mode & (FI_CONTEXT | FI_CONTEXT2)) != 0)
        signal_all = FI_COMPLETION;
}

static void open_endpoint(void)
{
    struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_FD};
    struct fi_av_attr table = {.type = FI_AV_TABLE};
    check_rc(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    check_rc(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    check_rc(fi_cq_open(domain, &queue, &cq, NULL), "fi_cq_open");
    check_rc(fi_av_open(domain, &table, &av, NULL), "fi_av_open");
    check_rc(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
    check_rc(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    check_rc(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION),
             "fi_ep_bind");
    check_rc(fi_enable(ep), "fi_enable");
    for (int i = 0; i < RAW_WINDOW; i++)
        unused[unused_n++] = &contexts[i];
}

static void register_memory(void)
{
    check_rc(fi_mr_reg(domain, raw.memory, RAW_MEMORY, FI_REMOTE_READ | FI_REMOTE_WRITE,
                       0, 1, 0, &mr, NULL),
             "fi_mr_reg");
    if ((info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
        check_rc(fi_mr_bind(mr, &ep->fid, 0), "fi_mr_bind");
        check_rc(fi_mr_enable(mr), "fi_mr_enable");
    }
}

static void connect_peer(void)
{
    struct peer_info mine;
    memset(&mine, 0, sizeof(mine));
    size_t len = sizeof(mine.address);
    check_rc(fi_getname(&ep->fid, mine.address, &len), "fi_getname");
    mine.key = fi_mr_key(mr);
    if ((info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0)
        mine.base = (uint64_t)(uintptr_t)raw.memory;
    raw_send(&mine, sizeof(mine));
    raw_recv(&remote, sizeof(remote));
    if (fi_av_insert(av, remote.address, 1, &peer_addr, 0, NULL) != 1)
        raw_fail("fi_av_insert", "cannot insert the address of the other side");
}

const char *raw_open(void)
{
    setenv(RXM_BUFFER_ENV, RXM_BUFFER_BYTES, 0);
    choose();
    open_endpoint();
    register_memory();
    connect_peer();
    return info->fabric_attr->prov_name;
}

void raw_close(void)
{
    struct fid *open[] = {&mr->fid, &ep->fid,     &av->fid,
                          &cq->fid, &domain->fid, &fabric->fid};
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        check_rc(fi_close(open[i]), "fi_close");
    fi_freeinfo(info);
}

/* ---- posting and completing ------------------------------------------------------ */

static _Noreturn void report_error(void)
{
    struct fi_cq_err_entry e = {0};
    fi_cq_readerr(cq, &e, 0);
    raw_fail("an operation failed", fi_strerror(e.err));
}

/* Reaps completions and returns their contexts to unused[]. */
long raw_progress(void)
{
    struct fi_cq_entry e[REAP_MAX];
    ssize_t got = fi_cq_read(cq, e, REAP_MAX);
    if (got == -FI_EAGAIN)
        return 0;
    if (got == -FI_EAVAIL)
        report_error();
    check_rc(got, "fi_cq_read");
    for (ssize_t i = 0; i < got; i++)
        if (e[i].op_context != NULL)
            unused[unused_n++] = e[i].op_context;
    return got;
}

#define POST(CALL)                                                                       \
    do {                                                                                 \
        ssize_t rc_;                                                                     \
        while ((rc_ = (CALL)) == -FI_EAGAIN)                                             \
            raw_wait();                                                                  \
        check_rc(rc_, #CALL);                                                            \
    } while (0)

/* A context for an operation that completes with these flags. */
static void *context(uint64_t flags)
{
    if ((flags & FI_COMPLETION) == 0)
        return NULL;
    while (unused_n == 0)
        raw_wait();
    return unused[--unused_n];
}

static void drain(void)
{
    while (unused_n < RAW_WINDOW)
        raw_wait();
}

static uint64_t remote_address(const size_t at)
{
    return remote.base + at;
}

static void write_to(size_t at, const void *from, size_t len, uint64_t flags)
{
    flags |= signal_all;
    struct iovec io = {.iov_base = (void *)(uintptr_t)from, .iov_len = len};
    struct fi_rma_iov target = {
        .addr = remote_address(at), .len = len, .key = remote.key};
    struct fi_msg_rma m = {.msg_iov = &io,
                           .iov_count = 1,
                           .addr = peer_addr,
                           .rma_iov = &target,
                           .rma_iov_count = 1,
                           .context = context(flags)};
    POST(fi_writemsg(ep, &m, flags));
}

static void read_from(size_t at, void *to, size_t len)
{
    void *c = context(FI_COMPLETION);
    struct iovec io = {.iov_base = to, .iov_len = len};
    struct fi_rma_iov target = {
        .addr = remote_address(at), .len = len, .key = remote.key};
    struct fi_msg_rma m = {.msg_iov = &io,
                           .iov_count = 1,
                           .addr = peer_addr,
                           .rma_iov = &target,
                           .rma_iov_count = 1,
                           .context = c};
    POST(fi_readmsg(ep, &m, FI_COMPLETION));
}

static void add(const uint64_t *value, uint64_t flags)
{
    flags |= signal_all;
    struct fi_ioc io = {.addr = (void *)(uintptr_t)value, .count = 1};
    struct fi_rma_ioc target = {
        .addr = remote_address(RAW_ATOMIC), .count = 1, .key = remote.key};
    struct fi_msg_atomic m = {.msg_iov = &io,
                              .iov_count = 1,
                              .addr = peer_addr,
                              .rma_iov = &target,
                              .rma_iov_count = 1,
                              .datatype = FI_UINT64,
                              .op = FI_SUM,
                              .context = context(flags)};
    POST(fi_atomicmsg(ep, &m, flags));
}

static void fetch(const uint64_t *value, uint64_t *old)
{
    void *c = context(FI_COMPLETION);
    struct fi_ioc io = {.addr = (void *)(uintptr_t)value, .count = 1};
    struct fi_ioc result = {.addr = old, .count = 1};
    struct fi_rma_ioc target = {
        .addr = remote_address(RAW_ATOMIC), .count = 1, .key = remote.key};
    struct fi_msg_atomic m = {.msg_iov = &io,
                              .iov_count = 1,
                              .addr = peer_addr,
                              .rma_iov = &target,
                              .rma_iov_count = 1,
                              .datatype = FI_UINT64,
                              .op = FI_SUM,
                              .context = c};
    POST(fi_fetch_atomicmsg(ep, &m, &result, NULL, 1, FI_COMPLETION));
}

static const uint64_t none = 0, one = 1;

/* Completes all posted puts at the target: a read is ordered after them. */
void raw_flush(void)
{
    read_from(RAW_PING, raw.local + RAW_PING, sizeof(uint64_t));
    drain();
}

void raw_put_word(size_t at, const uint64_t *value)
{
    write_to(at, value, sizeof(*value), FI_INJECT);
}

/* The same for atomics, which a read may overtake: a fetching atomic does not. */
static void flush_adds(void)
{
    fetch(&none, (uint64_t *)(void *)raw.local);
    drain();
}

/* ---- benchmarks ------------------------------------------------------------------ */

static void put_delivered(long n)
{
    for (long i = 0; i < n; i++) {
        write_to(0, raw.local, raw.size, FI_COMPLETION | FI_DELIVERY_COMPLETE);
        drain();
    }
}

static void put_flushed(long n)
{
    for (long i = 0; i < n; i++) {
        write_to(0, raw.local, raw.size, 0);
        raw_flush();
    }
}

static void get(long n)
{
    for (long i = 0; i < n; i++) {
        read_from(0, raw.local, raw.size);
        drain();
    }
}

static void fetch_add(long n)
{
    for (long i = 0; i < n; i++) {
        fetch(&one, (uint64_t *)(void *)raw.local);
        drain();
    }
}

/* A window of puts, each with delivery completion. */
static void puts_delivered(long n)
{
    for (long i = 0; i < n * NET_BURST; i++)
        write_to(0, raw.local, raw.size, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    drain();
}

/* A window of puts with transmit completion, then one read, ordered after them. */
static void puts_flushed(long n)
{
    for (long i = 0; i < n * NET_BURST; i++)
        write_to(0, raw.local, raw.size, FI_COMPLETION);
    raw_flush();
}

static void gets(long n)
{
    for (long i = 0; i < n * NET_BURST; i++)
        read_from(0, raw.local, raw.size);
    drain();
}

static void words_silent(long n)
{
    for (long i = 0; i < n; i++) {
        size_t at = (size_t)(i % NET_WORDS) * sizeof(uint64_t);
        write_to(at, raw.local + at, sizeof(uint64_t), 0);
        if (i % RAW_WINDOW == 0)
            raw_progress();
    }
    raw_flush();
}

static void words_delivered(long n)
{
    for (long i = 0; i < n; i++) {
        size_t at = (size_t)(i % NET_WORDS) * sizeof(uint64_t);
        write_to(at, raw.local + at, sizeof(uint64_t),
                 FI_COMPLETION | FI_DELIVERY_COMPLETE);
    }
    drain();
}

static void adds_silent(long n)
{
    for (long i = 0; i < n; i++) {
        add(&one, 0);
        if (i % RAW_WINDOW == 0)
            raw_progress();
    }
    flush_adds();
}

static void adds_delivered(long n)
{
    for (long i = 0; i < n; i++)
        add(&one, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    drain();
}

static void fetch_adds(long n)
{
    for (long i = 0; i < n; i++)
        fetch(&one, (uint64_t *)(void *)raw.local + i % NET_WORDS);
    drain();
}

/* ---- tables ---------------------------------------------------------------------- */

const struct raw_row raw_words[] = {
    {"fetch_add", "us", {fetch_add}, 1},
    {"put_rate", "M/s", {words_silent, words_delivered}, 1},
    {"add_rate", "M/s", {adds_silent, adds_delivered}, 1},
    {"fadd_rate", "M/s", {fetch_adds}, 1},
    {.name = NULL},
};

const struct raw_row raw_sizes[] = {
    {"put_lat", "us", {put_delivered, put_flushed}, 1},
    {"get_lat", "us", {get}, 1},
    {"put_bw", "MB/s", {puts_flushed, puts_delivered}, NET_BURST},
    {"get_bw", "MB/s", {gets}, NET_BURST},
    {.name = NULL},
};
