/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_config.c - the ucp_context: configuration and devices (see ucx.h). */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/ucx/ucx.h"

/* Defaults unless UCX_<name> or UCX_<also> is set. UCX ignores unknown names. */
struct ucx_setting {
    const char *name, *value, *also;
    bool needed; /* overrides the user's setting */
};

static const struct ucx_setting settings[] = {
    /* Network atomics and CPU atomics may update a word concurrently, so the target's CPU
     * must perform all of them. */
    {"ATOMIC_MODE", "cpu", NULL, true},
    /* PEs that share memory do not use this transport, and virtual nodes must not use the
     * memory that they do share. */
    {"TLS", "^sm,self", NULL, false},
    /* A post must not block while it connects to an unreachable host. */
    {"TCP_CONN_NB", "y", NULL, false},
    /* Segment size of puts and gets: the default of 8K gives a quarter of the
     * bandwidth. UCX refuses a receive size below the send size. */
    {"TCP_TX_SEG_SIZE", "128K", "TCP_RX_SEG_SIZE", false},
    {"TCP_RX_SEG_SIZE", "128K", "TCP_TX_SEG_SIZE", false},
};

/* False if name is NULL. */
static bool ucx_config_user_has_set(const char *name)
{
    char variable[64];

    snprintf(variable, sizeof variable, "UCX_%s", name != NULL ? name : "");
    return name != NULL && getenv(variable) != NULL;
}

/* UCX 1.13 expects a transport's settings without its name as prefix, later versions with
 * it; both ignore unknown names. */
static void ucx_config_set(ucp_config_t *config, const char *name, const char *value)
{
    const char tcp[] = "TCP_";

    ucx_lib.config_modify(config, name, value);
    if (strncmp(name, tcp, strlen(tcp)) == 0)
        ucx_lib.config_modify(config, name + strlen(tcp), value);
}

static ucs_status_t ucx_config_read(ucp_config_t **config)
{
    ucs_status_t status = ucx_lib.config_read(NULL, NULL, config);

    if (status != UCS_OK)
        return status;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].needed || (!ucx_config_user_has_set(settings[i].name) &&
                                   !ucx_config_user_has_set(settings[i].also)))
            ucx_config_set(*config, settings[i].name, settings[i].value);
    return UCS_OK;
}

static ucs_status_t ucx_context_init(struct transport_net *net,
                                     const ucp_config_t *config)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
        .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 |
                    UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
        .mt_workers_shared = 1,
        .estimated_num_eps = (size_t)net->world->npes,
    };

    return ucx_lib.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config,
                                &net->context);
}

int ucx_context_open(struct transport_net *net, char why[TRANSPORT_TEXT_MAX])
{
    ucp_config_t *config;
    ucs_status_t status = ucx_config_read(&config);

    if (status == UCS_OK) {
        status = ucx_context_init(net, config);
        ucx_lib.config_release(config);
    }
    if (status == UCS_OK)
        return 0;
    snprintf(why, TRANSPORT_TEXT_MAX,
             "UCX finds no usable network device (%s); see `ucx_info -d`%s",
             ucx_lib.status_string(status),
             ucx_config_user_has_set("TLS") || ucx_config_user_has_set("NET_DEVICES")
                 ? " and check UCX_TLS and UCX_NET_DEVICES"
                 : "");
    return ucx_errno(status);
}

/* ---- describe ---------------------------------------------------------------------- */

/* UCX lists its devices only as text, in lines that end with transport/device. */
static char *ucx_context_print(ucp_context_h context)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL)
        return NULL;
    ucx_lib.context_print_info(context, file);
    fclose(file);
    return text;
}

static void ucx_text_append(char *to, const char *what)
{
    size_t len = strlen(to);

    snprintf(to + len, TRANSPORT_TEXT_MAX - len, "%s", what);
}

/* Parse lines such as "... -- tcp/eth0". Devices of one transport are adjacent. */
static void ucx_text_append_devices(struct transport_net *net, char *text)
{
    const char *last = "";

    for (char *line, *rest = text; (line = strsep(&rest, "\n")) != NULL;) {
        char *name = strstr(line, "resource"), *device = strrchr(line, '/');
        if (name == NULL || device == NULL)
            continue;
        *device++ = '\0';
        name = strrchr(name, ' ') + 1;
        ucx_text_append(net->text, *last == '\0'             ? ""
                                   : strcmp(last, name) == 0 ? ", "
                                                             : "; ");
        if (strcmp(last, name) != 0) {
            ucx_text_append(net->text, name);
            ucx_text_append(net->text, " on ");
            last = name;
        }
        ucx_text_append(net->text, device);
    }
}

void ucx_context_describe(struct transport_net *net)
{
    char *text = ucx_context_print(net->context);
    char length[TRANSPORT_TEXT_MAX];

    if (text != NULL)
        ucx_text_append_devices(net, text);
    free(text);
    snprintf(length, sizeof length, "; worker address %zu bytes",
             net->worker_address_len);
    ucx_text_append(net->text, length);
}
