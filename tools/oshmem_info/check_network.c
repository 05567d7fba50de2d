/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_network.c - checks the network transports: opens each one as shmem_init does, in
 * a job of one PE, and reports its description or its error.
 * Uses: check, choice, core/env, pgas/transport.  Used by: check (its table), report.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "pgas/core/base/env.h"
#include "pgas/transport/transport.h"
#include "pgas/transport/choice.h"
#include "pgas/transport/prefer.h"
#include "tools/oshmem_info/info.h"

#define SEGMENT_BYTES 65536
#define WORD_SHOWN    100
#define REASON_SHOWN  250

#ifdef HAVE_OFI
#define BUILT_OFI true
#else
#define BUILT_OFI false
#endif
#ifdef HAVE_UCX
#define BUILT_UCX true
#else
#define BUILT_UCX false
#endif

/* ---- libraries -------------------------------------------------------------------- */

/* fi_version(): the major number is in the upper half. */
static void check_network_write_fi_version(void *function, char *to, size_t len)
{
    enum { HALF_BITS = 16, LOWER_HALF = 0xffff };
    uint32_t (*version)(void);

    memcpy(&version, &function, sizeof version);
    snprintf(to, len, "libfabric %u.%u", version() >> HALF_BITS, version() & LOWER_HALF);
}

static void check_network_write_ucp_version(void *function, char *to, size_t len)
{
    const char *(*version)(void);

    memcpy(&version, &function, sizeof version);
    snprintf(to, len, "UCX %s", version());
}

/* As transport_list. */
static const struct network {
    const struct transport *t;
    bool built;
    const char *library, *function; /* the function returns the version */
    void (*write_version)(void *function, char *to, size_t len);
    const char *remedy;
} networks[] = {
    {&transport_ofi, BUILT_OFI, "libfabric.so.1", "fi_version",
     check_network_write_fi_version,
     "only jobs on several nodes need it; on Debian: apt-get install libfabric1; see "
     "also fi_info(1)"},
    {&transport_ucx, BUILT_UCX, "libucp.so.0", "ucp_get_version_string",
     check_network_write_ucp_version,
     "only jobs on several nodes need it; on Debian: apt-get install libucx0; see also "
     "ucx_info -d"},
    {&transport_tcp, true, NULL, NULL, NULL,
     "only jobs on several nodes need it; see ip-address(8) and SHMEM_TCP_IF"},
};
_Static_assert(sizeof networks / sizeof networks[0] == NETWORKS, "a row per transport");

/* Called after an attempt to open the transport, which loads the library with the
 * required environment. */
static void check_network_find_version(const struct network *n, struct finding *f)
{
    void *library =
        n->built && n->library != NULL ? dlopen(n->library, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *function = library != NULL ? dlsym(library, n->function) : NULL;

    if (function != NULL)
        n->write_version(function, f->subject, sizeof f->subject);
}

/* ---- one transport ---------------------------------------------------------------- */

static ssize_t check_network_no_address(const struct transport_world *world, int pe,
                                        void *to, size_t space)
{
    (void)world;
    (void)pe;
    (void)to;
    (void)space;
    return -1;
}

/* The job of one PE has no peer that could fail. */
static void check_network_no_failure(const struct transport_world *world, int pe,
                                     const char *error_text)
{
    (void)world;
    (void)pe;
    (void)error_text;
}

/* Makes this process a job of one PE with small segments; false: out of memory. */
static bool check_network_make_world(struct transport_world *world)
{
    *world = (struct transport_world){.npes = 1,
                                      .address_of = check_network_no_address,
                                      .failed = check_network_no_failure,
                                      .provider = env_value("OFI_PROVIDER"),
                                      .fabric = env_value("OFI_FABRIC"),
                                      .domain = env_value("OFI_DOMAIN"),
                                      .interface = env_value("TCP_IF"),
                                      .avoid = env_value("NET_DISABLE")};
    for (int s = 0; s < SEGMENTS; s++) {
        world->segment[s].len = SEGMENT_BYTES;
        world->segment[s].base = check_memory(SEGMENT_BYTES, &world->segment[s].fd);
        if (world->segment[s].base == MAP_FAILED)
            return false;
    }
    return true;
}

/* Opens the transport.  text: its description, or, if false, the error. */
static bool check_network_try_open(const struct transport *t,
                                   char text[TRANSPORT_TEXT_MAX])
{
    static struct transport_world world; /* lives as long as the net */
    struct transport_net *net;

    if (!check_network_make_world(&world)) {
        snprintf(text, TRANSPORT_TEXT_MAX, "shared memory: %s", strerror(errno));
        return false;
    }
    if (!choice_read_order(env_value("OFI_ORDER"), &world.order)) {
        snprintf(text, TRANSPORT_TEXT_MAX,
                 "SHMEM_OFI_ORDER=%.40s: must be auto, yes or no",
                 env_value("OFI_ORDER"));
        return false;
    }
    if (t->open(&world, &net, text) != 0)
        return false;
    snprintf(text, TRANSPORT_TEXT_MAX, "%s", t->describe(net));
    t->close(net);
    return true;
}

static void check_transport(const struct network *n, struct finding *f)
{
    char text[TRANSPORT_TEXT_MAX];
    bool opened = check_network_try_open(n->t, text);

    check_network_find_version(n, f);
    if (opened)
        check_ok(f, "%s", text);
    else
        check_flaw(f, n->built ? CHECK_WARN : CHECK_OK, n->built ? n->remedy : "", "%s",
                   text);
}

void check_libfabric(struct finding *f, const char *dir)
{
    (void)dir;
    check_transport(&networks[0], f);
}

void check_ucx(struct finding *f, const char *dir)
{
    (void)dir;
    check_transport(&networks[1], f);
}

void check_tcp(struct finding *f, const char *dir)
{
    (void)dir;
    check_transport(&networks[2], f);
}

bool network_built(const char *transport)
{
    for (size_t i = 0; i < NETWORKS; i++)
        if (strcmp(networks[i].t->name, transport) == 0)
            return networks[i].built;
    return false;
}

/* ---- the choice ------------------------------------------------------------------- */

static void check_network_add_reason(char *to, size_t len, const char *name,
                                     const char *why)
{
    size_t used = strlen(to);

    snprintf(to + used, len - used, "; %s: %.*s", name, REASON_SHOWN, why);
}

/* The first transport that is enabled and usable. */
static void check_network_choose(struct finding *f, const struct finding *const *found,
                                 const char *list, const bool *wanted)
{
    const struct transport_world world = {.provider = env_value("OFI_PROVIDER"),
                                          .fabric = env_value("OFI_FABRIC"),
                                          .domain = env_value("OFI_DOMAIN")};
    char passed[CHECK_TEXT_MAX] = "";
    int order[NETWORKS];

    transport_prefer(&world, order);

    for (int k = 0; k < NETWORKS; k++) {
        int i = order[k];
        const char *name = networks[i].t->name;
        if (!wanted[i]) {
            check_network_add_reason(passed, sizeof passed, name, "excluded");
        } else if (!networks[i].built || found[i]->status != CHECK_OK) {
            check_network_add_reason(passed, sizeof passed, name, found[i]->reason);
        } else {
            snprintf(f->subject, sizeof f->subject, "%s", name);
            check_ok(f, "%s (SHMEM_TRANSPORT=%.100s)%s",
                     k == 0 ? "preferred" : "the first that can be used", list, passed);
            return;
        }
    }
    check_flaw(f, CHECK_WARN, "only jobs on several nodes need one; see shmem(7)",
               "none can be used (SHMEM_TRANSPORT=%.100s)%s", list, passed);
}

void network_choose(const struct finding *const found[NETWORKS], struct finding *f)
{
    const char *set = env_value("TRANSPORT"), *list = set != NULL ? set : "auto";
    const char *name[NETWORKS];
    bool wanted[NETWORKS];
    size_t len;

    *f = (struct finding){.status = CHECK_OK};
    for (size_t i = 0; i < NETWORKS; i++)
        name[i] = networks[i].t->name;
    const char *bad = choice_read(list, name, NETWORKS, wanted, &len);
    if (bad == NULL)
        check_network_choose(f, found, list, wanted);
    else
        check_flaw(
            f, CHECK_WARN,
            "use auto, a list of ofi, ucx and tcp, or a list of ^ofi, ^ucx and ^tcp to "
            "exclude them; otherwise jobs on several nodes cannot run",
            "SHMEM_TRANSPORT=%.100s: '%.*s' is not valid", list,
            (int)(len < WORD_SHOWN ? len : WORD_SHOWN), bad);
}
