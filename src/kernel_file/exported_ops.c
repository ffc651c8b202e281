/* CHOOSES. The symbols of a shared library, read without loading it. The file is a user's: nothing in it is taken to be
 * in range before it was compared. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "kernel_file/kernel_file.h"
#include "kernel_file/source_uses.h"

typedef struct image {
    const unsigned char *data;
    size_t bytes;
} image;

static bool within(const image *i, uint64_t offset, uint64_t bytes)
{
    return offset <= i->bytes && bytes <= i->bytes - offset;
}

/* Copied, since nothing in the file need be aligned. */
static bool take(const image *i, uint64_t offset, void *to, size_t bytes)
{
    if (!within(i, offset, bytes))
        return false;
    memcpy(to, i->data + offset, bytes);
    return true;
}

static bool read_header(const image *i, Elf64_Ehdr *header)
{
    return take(i, 0, header, sizeof *header) && !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_type == ET_DYN && header->e_shentsize == sizeof(Elf64_Shdr);
}

static bool read_section(const image *i, const Elf64_Ehdr *header, uint64_t number, Elf64_Shdr *section)
{
    return number < header->e_shnum && header->e_shoff <= i->bytes &&
           take(i, header->e_shoff + number * sizeof *section, section, sizeof *section);
}

/* "gelu_fwd " behind the others, if it is the function of an op, of either version. */
static void add_name(const char *name, char *ops, size_t size)
{
    static const char prefix[] = "tokitai_";
    const size_t length = strlen(name), used = strlen(ops);
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || used + length + 2 > size)
        return;
    snprintf(ops + used, size - used, "%s ", name + sizeof prefix - 1);
}

bool tki_exports_op(const char *ops, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = ops; (at = strstr(at, name)); at += length)
        if ((at == ops || at[-1] == ' ') &&
            (at[length] == ' ' || !strncmp(at + length, "_v2 ", 4) || !strncmp(at + length, "_v3 ", 4)))
            return true;
    return false;
}

typedef void (*visitor)(const Elf64_Sym *symbol, const char *name, void *data);

/* Each symbol of the sections of that type. False if there is none, or one is no such section. */
static bool visit_symbols(const image *i, uint32_t type, visitor visit, void *data)
{
    Elf64_Ehdr header;
    Elf64_Shdr symbols;
    Elf64_Shdr names;
    if (!read_header(i, &header))
        return false;
    for (uint64_t s = 0; read_section(i, &header, s, &symbols); s++) {
        if (symbols.sh_type != type)
            continue;
        if (symbols.sh_entsize != sizeof(Elf64_Sym) || !within(i, symbols.sh_offset, symbols.sh_size) ||
            !read_section(i, &header, symbols.sh_link, &names) || !within(i, names.sh_offset, names.sh_size))
            return false;
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, i->data + symbols.sh_offset + at, sizeof symbol);
            const char *name = (const char *)i->data + names.sh_offset + symbol.st_name;
            if (symbol.st_name < names.sh_size && memchr(name, 0, (size_t)(names.sh_size - symbol.st_name)))
                visit(&symbol, name, data);
        }
        return true;
    }
    return false;
}

typedef struct op_list {
    char *text;
    size_t size;
} op_list;

static void add_op(const Elf64_Sym *symbol, const char *name, void *data)
{
    const op_list *list = data;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF)
        add_name(name, list->text, list->size);
}

bool tki_exported_ops(const void *data, size_t bytes, char *ops, size_t size)
{
    ops[0] = 0;
    return visit_symbols(&(image){data, bytes}, SHT_DYNSYM, add_op, &(op_list){ops, size});
}

static void add_use(const Elf64_Sym *symbol, const char *name, void *data)
{
    tki_uses_of_symbol(name, symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK, data);
}

/* Number `index` of the symbols; empty beyond them. */
static const char *take_symbol(const image *i, const Elf64_Shdr *symbols, const Elf64_Shdr *names, uint64_t index,
                               Elf64_Sym *symbol)
{
    const uint64_t most = symbols->sh_size / sizeof *symbol;
    if (index >= most || !take(i, symbols->sh_offset + index * sizeof *symbol, symbol, sizeof *symbol) ||
        !within(i, names->sh_offset, names->sh_size) || symbol->st_name >= names->sh_size)
        return "";
    const char *name = (const char *)i->data + names->sh_offset + symbol->st_name;
    return memchr(name, 0, (size_t)(names->sh_size - symbol->st_name)) ? name : "";
}

/* Does it reach a symbol of its own as it would one of another library? The program's of that name comes first then. */
static bool reaches_its_own(const image *i, const Elf64_Ehdr *header)
{
    Elf64_Shdr table, symbols, names;
    for (uint64_t s = 0; read_section(i, header, s, &table); s++) {
        if (table.sh_type != SHT_RELA || !within(i, table.sh_offset, table.sh_size) ||
            !read_section(i, header, table.sh_link, &symbols) || symbols.sh_type != SHT_DYNSYM ||
            !within(i, symbols.sh_offset, symbols.sh_size) || !read_section(i, header, symbols.sh_link, &names))
            continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.sh_size; at += sizeof(Elf64_Rela)) {
            Elf64_Rela relocation;
            Elf64_Sym symbol;
            if (!take(i, table.sh_offset + at, &relocation, sizeof relocation))
                break;
            const uint64_t index = ELF64_R_SYM(relocation.r_info);
            const char *name = index ? take_symbol(i, &symbols, &names, index, &symbol) : "";
            if (*name && symbol.st_shndx != SHN_UNDEF && tki_symbol_is_own(name))
                return true;
        }
    }
    return false;
}

void tki_uses_of_library(const void *data, size_t bytes, unsigned *uses)
{
    const image i = {data, bytes};
    Elf64_Ehdr header;
    (void)visit_symbols(&i, SHT_DYNSYM, add_use, uses);
    (void)visit_symbols(&i, SHT_SYMTAB, add_use, uses);
    if (read_header(&i, &header) && reaches_its_own(&i, &header))
        *uses |= 1u << TKI_USE_EXPORTS;
}
