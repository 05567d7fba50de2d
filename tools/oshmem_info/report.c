/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - reports versions, transports, build, directories and variables.
 * Uses: emit, check (usable transports), core/env (the table), datatype/isa,
 * shmem.h (the level).
 * Used by: main.
 */
#include "config.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <shmem.h>

#include "pgas/core/base/env.h"
#include "pgas/datatype/isa.h"
#include "tools/oshmem_info/info.h"

#define NOTE_MAX_LEN 512
#define TEXT(x)      TEXT_(x)
#define TEXT_(x)     #x

#define SPECIFICATION TEXT(SHMEM_MAJOR_VERSION) "." TEXT(SHMEM_MINOR_VERSION)

#ifdef PGAS_SANITIZED
static const char *const sanitizers = "address, undefined";
#else
static const char *const sanitizers = "none";
#endif
#ifndef PGAS_CXX
#define PGAS_CXX ""
#endif
#ifndef PGAS_CFLAGS
#define PGAS_CFLAGS ""
#endif

struct variable {
    const char *name, *kind, *def, *help;
};

static const struct variable variables[] = {
#define E(NAME, kind, field, def, help) {#NAME, #kind, def, help},
    PGAS_ENV_TABLE(E)
#undef E
};
#define VARIABLES (sizeof variables / sizeof variables[0])

static const struct {
    const char *what, *dir;
} dirs[] = {
    {"prefix", INFO_PREFIX},         {"bindir", INFO_BINDIR}, {"libdir", INFO_LIBDIR},
    {"includedir", INFO_INCLUDEDIR}, {"mandir", INFO_MANDIR},
};
#define DIRS (sizeof dirs / sizeof dirs[0])

/* The prefix after relocation: this program's directory without the path from prefix to
 * bindir. */
static void report_prefix_now(char *prefix, size_t len)
{
    const char *tail = INFO_BINDIR;
    size_t old = strlen(INFO_PREFIX);
    char self[PATH_MAX];

    snprintf(prefix, len, "%s", INFO_PREFIX);
    if (strncmp(tail, INFO_PREFIX, old) != 0 || !find_beside("", self, sizeof self))
        return;
    tail += old;
    size_t n = strlen(self) - 1, m = strlen(tail); /* find_beside ends in a slash */
    if (n > m && strncmp(self + n - m, tail, m) == 0)
        snprintf(prefix, len, "%.*s", (int)(n - m), self);
}

bool report_path(const char *what, char *dir, size_t len)
{
    char prefix[PATH_MAX];
    size_t old = strlen(INFO_PREFIX);

    report_prefix_now(prefix, sizeof prefix);
    for (size_t i = 0; i < DIRS; i++) {
        if (strcmp(dirs[i].what, what) != 0)
            continue;
        if (strncmp(dirs[i].dir, INFO_PREFIX, old) == 0)
            snprintf(dir, len, "%s%s", prefix, dirs[i].dir + old);
        else
            snprintf(dir, len, "%s", dirs[i].dir);
        return true;
    }
    return false;
}

void report_paths(struct emit *e)
{
    char dir[PATH_MAX];

    emit_section(e, "paths");
    for (size_t i = 0; i < DIRS; i++)
        if (report_path(dirs[i].what, dir, sizeof dir))
            emit_text(e, dirs[i].what, dirs[i].what, dir);
    emit_end(e);
}

static const struct variable *report_variable_find(const char *name)
{
    for (size_t i = 0; i < VARIABLES; i++)
        if (strcmp(variables[i].name, name) == 0)
            return &variables[i];
    return NULL;
}

/* The symmetric heap size: the default, and the value from the environment. */
static void report_heap(struct emit *e)
{
    const struct variable *v = report_variable_find("SYMMETRIC_SIZE");
    const char *now = env_value("SYMMETRIC_SIZE");
    char text[NOTE_MAX_LEN];

    if (v == NULL)
        return;
    if (e->form != FORM_PAGE)
        snprintf(text, sizeof text, "%s", v->def);
    else if (now != NULL)
        snprintf(text, sizeof text, "%s per PE; SHMEM_SYMMETRIC_SIZE is set to %.100s",
                 v->def, now);
    else
        snprintf(text, sizeof text, "%s per PE (SHMEM_SYMMETRIC_SIZE)", v->def);
    emit_text(e, "heap_default", "Default heap", text);
}

static void report_launcher(struct emit *e)
{
    static const char *const foreign[] = {"mpirun", "prterun", "srun"};
    char path[PATH_MAX], others[NOTE_MAX_LEN] = "";

    bool ours = find_beside("oshrun", path, sizeof path);
    emit_text(e, "launcher", "Launcher", ours ? path : NULL);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        size_t used = strlen(others);
        if (find_in_path(foreign[i], path, sizeof path))
            snprintf(others + used, sizeof others - used, "%s%.100s",
                     used > 0 ? ", " : "", path);
    }
    emit_text(e, "other_launchers", "Other launchers",
              others[0] != '\0' || e->form != FORM_PAGE ? others : "none found");
}

/* The instruction set of the copy and reduction kernels, or the error. */
static void report_isa(struct emit *e)
{
    const char *now = env_value("ISA");
    char text[NOTE_MAX_LEN];
    enum isa isa;

    if (isa_read(now != NULL ? now : "auto", &isa, text, sizeof text) == 0)
        snprintf(text, sizeof text, "%s", isa_name(isa));
    emit_text(e, "isa", "Instruction set", text);
}

void report_package(struct emit *e)
{
    emit_section(e, "package");
    emit_text(e, "name", "Package", PACKAGE_NAME);
    emit_text(e, "version", "Version", PACKAGE_VERSION);
    emit_text(e, "specification", "OpenSHMEM level", SPECIFICATION);
    report_heap(e);
    report_isa(e);
    report_launcher(e);
    emit_end(e);
}

/* f: the finding of the transport's check. */
static void report_transport(struct emit *e, const char *name, bool built,
                             const struct finding *f)
{
    bool usable = built && f->status == CHECK_OK;
    char line[CHECK_LINE_MAX];

    if (e->form == FORM_PAGE) {
        fprintf(e->out, "Transport %-12s %s; %s\n", name,
                !built   ? "not built"
                : usable ? "built, usable here"
                         : "built, not usable here",
                check_line(f, line));
        return;
    }
    emit_item(e, name);
    if (e->form == FORM_JSON)
        emit_text(e, "name", "", name);
    emit_bool(e, "built", "", built);
    emit_bool(e, "usable", "", usable);
    emit_text(e, "library", "", f->subject[0] != '\0' ? f->subject : NULL);
    emit_text(e, "note", "", f->reason);
    emit_end(e);
}

static void report_memory(struct emit *e)
{
    struct finding memory, peer;

    check_run("memfd", &memory);
    check_run("procfd", &peer);
    if (peer.status == CHECK_OK)
        check_ok(&peer, "PEs of one node");
    report_transport(e, "shm", true, memory.status != CHECK_OK ? &memory : &peer);
}

/* Which transport a job on several nodes would use. */
static void report_network(struct emit *e, const struct finding *const found[NETWORKS])
{
    struct finding f;
    char line[CHECK_LINE_MAX];

    network_choose(found, &f);
    emit_section(e, "network");
    if (e->form == FORM_PAGE) {
        emit_text(e, "", "PEs of other nodes", check_line(&f, line));
    } else {
        emit_text(e, "transport", "", f.subject[0] != '\0' ? f.subject : NULL);
        emit_text(e, "reason", "", f.reason);
    }
    emit_end(e);
}

void report_transports(struct emit *e)
{
    struct finding ofi, ucx, tcp;

    check_run("libfabric", &ofi);
    check_run("ucx", &ucx);
    check_run("tcp", &tcp);
    emit_list(e, "transports");
    report_memory(e);
    report_transport(e, "ofi", network_built("ofi"), &ofi);
    report_transport(e, "ucx", network_built("ucx"), &ucx);
    report_transport(e, "tcp", network_built("tcp"), &tcp);
    emit_end(e);
    report_network(e, (const struct finding *[]){&ofi, &ucx, &tcp});
}

void report_config(struct emit *e)
{
    emit_section(e, "config");
    emit_text(e, "configure", "Configure line", "./configure " PGAS_CONFIGURE_ARGS);
    emit_text(e, "cc", "C compiler", PGAS_CC);
    emit_text(e, "cc_version", "its version", __VERSION__);
    emit_text(e, "cxx", "C++ compiler", PGAS_CXX);
    emit_text(e, "cflags", "CFLAGS", PGAS_CFLAGS);
    emit_text(e, "sanitizers", "Sanitizers", sanitizers);
    emit_end(e);
}

static void report_env_page_row(struct emit *e, const struct variable *v)
{
    const char *now = env_value(v->name);

    fprintf(e->out, "SHMEM_%-28s %-8s %-10s %-12.40s %s\n", v->name, v->kind,
            v->def[0] != '\0'                ? v->def
            : strcmp(v->kind, "string") == 0 ? "-"
                                             : "off",
            now != NULL ? now : "-", v->help);
}

static void report_env_item(struct emit *e, const struct variable *v)
{
    char name[64];

    snprintf(name, sizeof name, "SHMEM_%s", v->name);
    emit_item(e, name);
    if (e->form == FORM_JSON)
        emit_text(e, "name", "", name);
    emit_text(e, "kind", "", v->kind);
    emit_text(e, "default", "", v->def);
    emit_text(e, "current", "", env_value(v->name));
    emit_text(e, "help", "", v->help);
    emit_end(e);
}

void report_env(struct emit *e)
{
    emit_list(e, "env");
    if (e->form == FORM_PAGE)
        fprintf(e->out, "%-34s %-8s %-10s %-12s %s\n", "variable", "kind", "default",
                "current", "meaning");
    for (size_t i = 0; i < VARIABLES; i++) {
        if (e->form == FORM_PAGE)
            report_env_page_row(e, &variables[i]);
        else
            report_env_item(e, &variables[i]);
    }
    emit_end(e);
}
