/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_site.c - call sites of this PE, and their names.  Uses: profile_int.
 *
 * An address is named by the file that is mapped there and the address in that file: so
 * it is the same on all PEs, and addr2line knows the line.  The function comes from the
 * file's table of symbols, which has static functions too, unless it has been stripped.
 */
#include "config.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/coll/profile_int.h"

enum { HEADS = 256, GROW = 2, FIRST = 64 };

static struct site {
    const void *address;
    const char *routine;
    uint32_t next; /* row + 1 of the next one with this head */
} * sites;
static size_t nsites, room;
static uint32_t head[HEADS];

size_t profile_sites(void)
{
    return nsites;
}

void profile_site_fini(void)
{
    free(sites);
    sites = NULL;
    nsites = room = 0;
    memset(head, 0, sizeof head);
}

static bool grow(void)
{
    size_t wanted = room > 0 ? GROW * room : FIRST;
    struct site *more = nsites < room ? sites : realloc(sites, wanted * sizeof *sites);

    if (more == NULL)
        return false;
    room = nsites < room ? room : wanted;
    sites = more;
    return true;
}

int profile_site_of(const void *site, const char *routine)
{
    uint32_t *list = &head[profile_mix((uintptr_t)site, 0) / GROW % HEADS];

    for (uint32_t i = *list; i != 0; i = sites[i - 1].next)
        if (sites[i - 1].address == site && sites[i - 1].routine == routine)
            return (int)i - 1;
    if (!grow())
        return -1;
    sites[nsites++] = (struct site){site, routine, *list};
    *list = (uint32_t)nsites;
    return (int)nsites - 1;
}

/* ---- the symbols of a file ------------------------------------------------------- */

/* A file that is mapped to be read. */
struct image {
    const char *at;
    size_t len;
};

static struct image open_image(const char *name)
{
    struct image image = {NULL, 0};
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return image;
    if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(ElfW(Ehdr))) {
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            image = (struct image){at, (size_t)st.st_size};
    }
    close(fd);
    return image;
}

/* Is that a part of the file? */
static bool inside(const struct image *image, uint64_t offset, uint64_t len)
{
    return offset <= image->len && len <= image->len - offset;
}

/* The function around the address in a table of symbols, and where it begins. */
static const char *search(const struct image *image, const ElfW(Shdr) * table,
                          const ElfW(Shdr) * names, uint64_t address, uint64_t *begin)
{
    const ElfW(Sym) *symbol = (const void *)(image->at + table->sh_offset);
    size_t n = table->sh_size / sizeof *symbol;

    for (size_t i = 0; i < n; i++) {
        if ((symbol[i].st_info & 0xf) != STT_FUNC || symbol[i].st_shndx == SHN_UNDEF ||
            address - symbol[i].st_value >= symbol[i].st_size ||
            symbol[i].st_name >= names->sh_size)
            continue;
        *begin = symbol[i].st_value;
        return image->at + names->sh_offset + symbol[i].st_name;
    }
    return NULL;
}

/* The sections of a file of this kind of machine; NULL if it is none. */
static const ElfW(Shdr) * sections_of(const struct image *image, size_t *n)
{
    const ElfW(Ehdr) *header = (const void *)image->at;
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;

    if (image->at == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != class || header->e_shentsize != sizeof(ElfW(Shdr)) ||
        !inside(image, header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr))))
        return NULL;
    *n = header->e_shnum;
    return (const void *)(image->at + header->e_shoff);
}

static const char *find_symbol(const struct image *image, uint64_t address,
                               uint64_t *begin)
{
    size_t n = 0;
    const ElfW(Shdr) *section = sections_of(image, &n);

    for (size_t i = 0; section != NULL && i < n; i++) {
        const ElfW(Shdr) *table = &section[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= n)
            continue;
        const ElfW(Shdr) *names = &section[table->sh_link];
        if (inside(image, table->sh_offset, table->sh_size) &&
            inside(image, names->sh_offset, names->sh_size))
            return search(image, table, names, address, begin);
    }
    return NULL;
}

/* ---- names ----------------------------------------------------------------------- */

/* The end of a name that is too long says more than its beginning. */
static void set_module(struct profile_site *name, const char *file)
{
    size_t len = strlen(file), cut = 0;

    if (len >= sizeof name->module)
        cut = len - sizeof name->module + 1;
    snprintf(name->module, sizeof name->module, "%s", file + cut);
}

/* The program itself has no name in the list of what is mapped. */
static void name_module(struct profile_site *name, const char *mapped)
{
    char program[PROFILE_MODULE_MAX];
    ssize_t len;

    if (mapped[0] != '\0') {
        set_module(name, mapped);
        return;
    }
    len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    set_module(name, program);
}

static void set_symbol(struct profile_site *name, const char *symbol, uint64_t begin)
{
    snprintf(name->symbol, sizeof name->symbol, "%.100s+0x%llx", symbol,
             (unsigned long long)(name->address - begin));
}

/* The call is what lies before the address to which it returns. */
void profile_site_name(size_t row, struct profile_site *name)
{
    const struct site *site = &sites[row];
    const char *call = (const char *)site->address - 1;
    struct link_map *map = NULL;
    uint64_t begin = 0;
    Dl_info info;

    memset(name, 0, sizeof *name);
    snprintf(name->routine, sizeof name->routine, "%s", site->routine);
    name->address = (uintptr_t)call;
    if (dladdr1(call, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return;
    name->address = (uintptr_t)call - map->l_addr;
    name_module(name, map->l_name);
    struct image image = open_image(name->module);
    const char *symbol = find_symbol(&image, name->address, &begin);
    if (symbol != NULL)
        set_symbol(name, symbol, begin);
    else if (info.dli_sname != NULL)
        set_symbol(name, info.dli_sname, (uintptr_t)info.dli_saddr - map->l_addr);
    if (image.at != NULL)
        munmap((void *)(uintptr_t)image.at, image.len);
}
