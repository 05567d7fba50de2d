/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algorithms.c - reports the algorithms of the collectives and which of them this
 * machine would use.
 * Uses: emit, tune (processors), coll/select, coll/select_table, core/env,
 * datatype/pack/pack_file.  Used by: main.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/select/select_table.h"
#include "pgas/core/base/env.h"
#include "pgas/core/base/number.h"
#include "pgas/datatype/isa.h"
#include "pgas/datatype/pack/pack_file.h"
#include "tools/oshmem_info/info.h"
#include "tools/oshmem_info/tune.h"

enum { NAME_LEN = 64, PLAN_LEN = 512, NUMBER_LEN = 24, PES_MOST = 1 << 24 };

static int team_pes; /* 0: as many as there are processors */
static struct select_table table;
static struct env env;

bool algorithms_pes(const char *text)
{
    uint32_t pes;

    if (!number_parse_u32(text, 1, PES_MOST, &pes))
        return false;
    team_pes = (int)pes;
    return true;
}

/* ---- selection ------------------------------------------------------------------- */

/* The file with the kernels of strided copies, if one is named. */
static void algorithms_report_pack_table(struct emit *e)
{
    static const char *const states[] = {[PACK_FILE_ABSENT] = "none",
                                         [PACK_FILE_USED] = "used",
                                         [PACK_FILE_OTHER] = "of another machine",
                                         [PACK_FILE_BAD] = "bad"};
    char machine[PACK_FILE_MACHINE_MAX], model[SELECT_MACHINE_MAX];
    char note[PACK_FILE_NOTE_MAX];
    struct pack_rows rows;
    enum isa isa;

    if (env.pack_table[0] == '\0' || isa_read(env.isa, &isa, note, sizeof note) != 0)
        return;
    select_model(model, sizeof model);
    snprintf(machine, sizeof machine, "%s %s", isa_name(isa), model);
    enum pack_file_state state = pack_file_read(env.pack_table, machine, &rows, note);
    emit_text(e, "pack_table", "Kernels of copies", env.pack_table);
    emit_text(e, "pack_state", "their state", states[state]);
    if (note[0] != '\0')
        emit_text(e, "pack_note", "why", note);
    snprintf(note, sizeof note, "%zu", rows.n);
    emit_text(e, "pack_rows", "their rows", note);
    free(rows.row);
}

static void algorithms_report_selection(struct emit *e, int processors)
{
    static const char *const states[] = {[SELECT_TABLE_ABSENT] = "none",
                                         [SELECT_TABLE_USED] = "used",
                                         [SELECT_TABLE_OTHER] = "of another machine",
                                         [SELECT_TABLE_BAD] = "bad"};
    bool page = e->form == FORM_PAGE;
    char text[SELECT_MACHINE_MAX];

    emit_section(e, "selection");
    emit_text(e, "table", "Table of algorithms",
              table.path[0] != '\0' ? table.path : (page ? "none" : NULL));
    if (!page || table.state != SELECT_TABLE_ABSENT)
        emit_text(e, "state", "its state", states[table.state]);
    if (!page || table.note[0] != '\0')
        emit_text(e, "note", "why", table.note[0] != '\0' ? table.note : NULL);
    snprintf(text, sizeof text, "%zu", table.rows);
    if (!page || table.state == SELECT_TABLE_USED)
        emit_text(e, "rows", "its rows", text);
    select_machine((unsigned)processors, text, sizeof text);
    emit_text(e, "machine", "This machine", text);
    snprintf(text, sizeof text,
             page && team_pes > processors ? "%d, more than processors" : "%d", team_pes);
    emit_text(e, "pes", "PEs of the team", text);
    algorithms_report_pack_table(e);
    emit_end(e);
}

static bool algorithms_environment(struct emit *e)
{
    char error[ENV_ERROR_MAX];

    if (env_load(&env, error) == 0)
        return true;
    emit_section(e, "selection");
    emit_text(e, "note", "Not known", error);
    emit_end(e);
    return false;
}

/* ---- collectives ----------------------------------------------------------------- */

/* The plan with the variable and the table, or the built-in one. */
static const char *algorithms_plan_text(enum select_collective what, bool builtin,
                                        int processors, char *text, size_t size)
{
    struct select_case c = {.npes = team_pes,
                            .nodes = 1,
                            .oversubscribed = team_pes > processors,
                            .first = SELECT_ALGORITHMS_ALL};
    struct select_choice plan[SELECT_CHOICES];
    bool cut;

    if (!builtin) {
        const char *wish = select_requested(what, &env);
        c.first = select_algorithm_of(what, wish);
        if (c.first == SELECT_ALGORITHMS_ALL && strcmp(wish, "auto") != 0)
            return "none: the variable has an invalid value";
        c.reproducible = env.reproducible == REPRODUCIBLE_ANYWHERE;
        c.table = &table;
    }
    if (select_choose(what, &c, plan, &cut) == 0)
        return "none";
    return select_plan_text(plan, text, size);
}

static void algorithms_variable_name(enum select_collective what, char text[NAME_LEN])
{
#define X(NAME, name) "SHMEM_" #NAME "_ALGORITHM",
    static const char *const names[] = {SELECT_COLLECTIVES(X)};
#undef X

    snprintf(text, NAME_LEN, "%s", names[what]);
}

static void algorithms_report_collective(struct emit *e, enum select_collective what,
                                         int processors)
{
    char variable[NAME_LEN], label[NAME_LEN + 16], builtin[PLAN_LEN], now[PLAN_LEN];

    algorithms_variable_name(what, variable);
    algorithms_plan_text(what, true, processors, builtin, sizeof builtin);
    algorithms_plan_text(what, false, processors, now, sizeof now);
    if (e->form == FORM_PAGE) {
        snprintf(label, sizeof label, "%s, built-in", select_name(what));
        emit_text(e, "", label, builtin);
        if (strcmp(builtin, now) != 0)
            emit_text(e, "", "  used now", now);
        return;
    }
    emit_item(e, select_name(what));
    if (e->form == FORM_JSON)
        emit_text(e, "name", "", select_name(what));
    emit_text(e, "variable", "", variable);
    emit_text(e, "current", "", select_requested(what, &env));
    emit_text(e, "builtin", "", builtin);
    emit_text(e, "now", "", now);
    emit_end(e);
}

/* ---- algorithms ------------------------------------------------------------------ */

/* A number, or "any". */
static const char *algorithms_limit_text(size_t limit, size_t any, char text[NUMBER_LEN])
{
    if (limit >= any)
        return "any";
    snprintf(text, NUMBER_LEN, "%zu", limit);
    return text;
}

static void algorithms_report_algorithm(struct emit *e, const struct select_info *a)
{
    char bytes[NUMBER_LEN], pes[NUMBER_LEN], name[NAME_LEN];
    const char *most_bytes = algorithms_limit_text(a->bytes, SELECT_ANY_BYTES, bytes);
    const char *most_pes = algorithms_limit_text((size_t)a->pes, SELECT_ANY_PES, pes);

    if (e->form == FORM_PAGE) {
        fprintf(e->out, "%-16s %-13s %12s %8s  %s\n", select_name(a->what), a->name,
                most_bytes, most_pes, a->same ? "yes" : "no");
        return;
    }
    snprintf(name, sizeof name, "%s.%s", select_name(a->what), a->name);
    emit_item(e, name);
    if (e->form == FORM_JSON) {
        emit_text(e, "collective", "", select_name(a->what));
        emit_text(e, "name", "", a->name);
    }
    emit_text(e, "bytes", "", most_bytes);
    emit_text(e, "pes", "", most_pes);
    emit_bool(e, "reproducible", "", a->same);
    emit_end(e);
}

void report_algorithms(struct emit *e)
{
    int processors = tune_processors();

    if (!algorithms_environment(e))
        return;
    if (team_pes == 0)
        team_pes = processors > 1 ? processors : 2;
    select_table_find(env.coll_table, (unsigned)processors, &table);
    algorithms_report_selection(e, processors);
    emit_list(e, "collectives");
    for (int what = 0; what < SELECT_ALL; what++)
        algorithms_report_collective(e, (enum select_collective)what, processors);
    emit_end(e);
    emit_list(e, "algorithms");
    if (e->form == FORM_PAGE)
        fprintf(e->out, "\n%-16s %-13s %12s %8s  %s\n", "collective", "algorithm",
                "bytes <=", "PEs/nodes", "same bits in any order of arrival");
    for (int a = 0; a < SELECT_ALGORITHMS_ALL; a++)
        algorithms_report_algorithm(e, select_info((enum select_algorithm)a));
    emit_end(e);
    select_table_free(&table);
}
