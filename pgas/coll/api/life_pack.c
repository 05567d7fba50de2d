/* SPDX-License-Identifier: BSD-3-Clause */
/* life_pack.c - see life_pack.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/api/life_pack.h"
#include "pgas/coll/select/select_table.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/datatype/pack/pack_file.h"

/* "ISA MODEL" */
static void life_pack_machine(enum isa isa, char text[PACK_FILE_MACHINE_MAX])
{
    char model[SELECT_MACHINE_MAX];

    select_model(model, sizeof model);
    snprintf(text, PACK_FILE_MACHINE_MAX, "%s %s", isa_name(isa), model);
}

static enum pack_file_state life_pack_read(enum isa isa, struct pack_rows *rows)
{
    char machine[PACK_FILE_MACHINE_MAX], note[PACK_FILE_NOTE_MAX];
    const char *path = pgas_self.env.pack_table;

    life_pack_machine(isa, machine);
    enum pack_file_state state = pack_file_read(path, machine, rows, note);
    if (note[0] != '\0' && pgas_self.me == 0)
        log_warn("SHMEM_PACK_TABLE=%s is ignored and not changed: %s", path, note);
    return state;
}

void life_pack_load(enum isa isa)
{
    struct pack_rows rows;

    if (pgas_self.env.pack_table[0] == '\0' || pgas_self.generation > 1)
        return;
    if (life_pack_read(isa, &rows) != PACK_FILE_USED)
        return;
    log_debug("SHMEM_PACK_TABLE=%s has the kernels of %zu shapes",
              pgas_self.env.pack_table, rows.n);
    if (!pack_choice_know(&rows))
        free(rows.row);
}

/* The file is read again, because another job may have written it. */
void life_pack_save(enum isa isa)
{
    char machine[PACK_FILE_MACHINE_MAX];
    const char *path = pgas_self.env.pack_table;
    struct pack_row row[PACK_TUNE_CELLS];
    struct pack_rows old, added = {.row = row};
    int error = 0;

    if (path[0] == '\0' || pgas_self.me != 0)
        return;
    added.n = pack_choice_new(row);
    if (added.n == 0)
        return;
    enum pack_file_state state = life_pack_read(isa, &old);
    life_pack_machine(isa, machine);
    if (state == PACK_FILE_ABSENT || state == PACK_FILE_USED)
        error = pack_file_write(path, machine, &old, &added);
    if (error != 0)
        log_warn("SHMEM_PACK_TABLE=%s cannot be written: %s", path, strerror(-error));
    free(old.row);
}
