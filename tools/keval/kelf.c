/* SPDX-License-Identifier: Apache-2.0 */
/* kelf: see kelf.h. Supports only 64-bit objects of this machine's byte order. */
#include "kelf.h"

#include <elf.h>

/* The object that is being read; one at a time. */
static struct image {
	const unsigned char *data;
	size_t len;
	Elf64_Ehdr head;
	Elf64_Phdr *segments; /* copied: the file may not be aligned */
	Elf64_Shdr *sections;
} image;

/* Its dynamic entries, indexed by tag; of the string and symbol tables, the offsets in the file. */
static struct dynamic {
	uint64_t value[DT_NUM];
	bool given[DT_NUM];
	bool hooks;
} dynamic;

enum { MAX_TABLE = 1 << 16, MAX_IMPORTS = 4096 };

static const void *
at(uint64_t offset, uint64_t size)
{
	return offset <= image.len && size <= image.len - offset ? image.data + offset : NULL;
}

/* File offset of a virtual address, or UINT64_MAX. */
static uint64_t
offset_of(uint64_t address)
{
	kforeach_of(p, image.segments, image.head.e_phnum)
		if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
		    address - p->p_vaddr < p->p_filesz)
			return p->p_offset + (address - p->p_vaddr);
	return UINT64_MAX;
}

/* The string at OFFSET in a table, if it ends within the table. */
static const char *
string_at(uint64_t table, uint64_t size, uint64_t offset)
{
	const char *s = offset < size ? at(table, size) : NULL;

	return s && memchr(s + offset, '\0', size - offset) ? s + offset : NULL;
}

static const char *
dynamic_string(uint64_t offset)
{
	return string_at(dynamic.value[DT_STRTAB], dynamic.value[DT_STRSZ], offset);
}

static void
add_name(json_t **names, const char *name)
{
	if (!*names)
		*names = json_object();
	json_object_set_new_nocheck(*names, name, json_true());
}

static void *
copy_table(uint64_t offset, size_t count, size_t entry)
{
	const void *from = count <= MAX_TABLE ? at(offset, (uint64_t)count * entry) : NULL;
	void *to = from ? kmalloc(count * entry + 1) : NULL;

	return to ? memcpy(to, from, count * entry) : NULL;
}

static const char *
open_image(const void *so, size_t len)
{
	const void *head;

	image = (struct image){ .data = so, .len = len };
	dynamic = (struct dynamic){ 0 };
	head = at(0, sizeof image.head);
	if (!head)
		return "shorter than an ELF header";
	memcpy(&image.head, head, sizeof image.head);
	if (memcmp(image.head.e_ident, ELFMAG, SELFMAG) ||
	    image.head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    image.head.e_ident[EI_DATA] !=
	        (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return "not a 64-bit ELF file of this byte order";
	if (image.head.e_type != ET_DYN || image.head.e_phentsize != sizeof *image.segments ||
	    (image.head.e_shnum && image.head.e_shentsize != sizeof *image.sections))
		return "not a shared object";
	image.segments = copy_table(image.head.e_phoff, image.head.e_phnum, sizeof *image.segments);
	image.sections = copy_table(image.head.e_shoff, image.head.e_shnum, sizeof *image.sections);
	return image.segments && image.sections ? NULL : "its header tables are out of bounds";
}

static void
note_entry(const Elf64_Dyn *entry)
{
	if (entry->d_tag >= 0 && entry->d_tag < DT_NUM) {
		dynamic.value[entry->d_tag] = entry->d_un.d_val;
		dynamic.given[entry->d_tag] = true;
	}
	switch (entry->d_tag) {
	case DT_AUDIT:
	case DT_DEPAUDIT:
	case DT_FILTER:
	case DT_AUXILIARY:
	/*
	 * Tables that this reader does not support, and that today's tools do not generate for this
	 * machine.
	 */
	case DT_REL:
		dynamic.hooks = true;
		break;
	}
}

static const char *
read_dynamic(struct kelf *f)
{
	size_t count = 0;
	auto_free Elf64_Dyn *table = NULL;

	kforeach_of(p, image.segments, image.head.e_phnum)
		if (p->p_type == PT_DYNAMIC && !table) {
			count = p->p_filesz / sizeof *table;
			table = copy_table(p->p_offset, count, sizeof *table);
		}
	if (!table)
		return "no dynamic segment";
	for (size_t i = 0; i < count && table[i].d_tag != DT_NULL; i++)
		note_entry(&table[i]);
	dynamic.value[DT_STRTAB] = offset_of(dynamic.value[DT_STRTAB]);
	dynamic.value[DT_SYMTAB] = offset_of(dynamic.value[DT_SYMTAB]);
	for (size_t i = 0; i < count && table[i].d_tag != DT_NULL; i++) {
		const char *name = dynamic_string(table[i].d_un.d_val);

		if (table[i].d_tag != DT_NEEDED)
			continue;
		if (!name)
			return "a library name is out of bounds";
		add_name(&f->needed, name);
	}
	return NULL;
}

/* Symbol number I of the table at OFFSET; false when it is out of bounds. */
static bool
read_symbol(uint64_t offset, uint64_t i, Elf64_Sym *s)
{
	const void *entry = at(offset + i * sizeof *s, sizeof *s);

	if (entry)
		memcpy(s, entry, sizeof *s);
	return entry != NULL;
}

static bool
is_irelative(uint64_t type)
{
	return (image.head.e_machine == EM_X86_64 && type == R_X86_64_IRELATIVE) ||
	    (image.head.e_machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE);
}

/* Every relocation that names a symbol defined elsewhere is an import. */
static const char *
read_relocations(int table, int table_size, struct kelf *f)
{
	uint64_t size = dynamic.value[table_size],
	         offset = size ? offset_of(dynamic.value[table]) : 0,
	         symbols = dynamic.value[DT_SYMTAB];

	for (uint64_t i = 0; i + sizeof(Elf64_Rela) <= size; i += sizeof(Elf64_Rela)) {
		const void *entry = at(offset + i, sizeof(Elf64_Rela));
		const char *name;
		Elf64_Rela r;
		Elf64_Sym s;

		if (offset == UINT64_MAX || !entry)
			return "its relocations are out of bounds";
		memcpy(&r, entry, sizeof r);
		f->ifunc |= is_irelative(ELF64_R_TYPE(r.r_info));
		if (!ELF64_R_SYM(r.r_info))
			continue;
		if (symbols == UINT64_MAX || !read_symbol(symbols, ELF64_R_SYM(r.r_info), &s))
			return "a relocation has no symbol";
		f->ifunc |= ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC;
		name = dynamic_string(s.st_name);
		if (!name)
			return "a symbol name is out of bounds";
		if (s.st_shndx == SHN_UNDEF)
			add_name(&f->imports, name);
		if (json_object_size(f->imports) > MAX_IMPORTS)
			return "it imports too many symbols";
	}
	return NULL;
}

static const char *
read_symbols(const Elf64_Shdr *section, struct kelf *f)
{
	for (uint64_t i = 0; i < section->sh_size / sizeof(Elf64_Sym); i++) {
		const char *name;
		Elf64_Sym s;

		if (!read_symbol(section->sh_offset, i, &s))
			return "its symbol table is out of bounds";
		f->ifunc |= ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC;
		name = dynamic_string(s.st_name);
		if (name && s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) == STT_FUNC)
			add_name(&f->functions, name);
	}
	return NULL;
}

/* Whether a function of that name was linked in, exported or not. */
static bool
holds_function(const Elf64_Shdr *section, const char *wanted)
{
	const Elf64_Shdr *names =
	    section->sh_link < image.head.e_shnum ? &image.sections[section->sh_link] : NULL;
	size_t count = names ? section->sh_size / sizeof(Elf64_Sym) : 0;

	for (size_t i = 0; i < count; i++) {
		const char *name;
		Elf64_Sym s;

		if (!read_symbol(section->sh_offset, i, &s))
			return false;
		name = ELF64_ST_TYPE(s.st_info) == STT_FUNC
		    ? string_at(names->sh_offset, names->sh_size, s.st_name)
		    : NULL;
		if (name && !strcmp(name, wanted))
			return true;
	}
	return false;
}

static const char *
read_sections(struct kelf *f)
{
	static const char *const usual[] = { ".init", ".plt", ".plt.got", ".plt.sec", ".text",
		".fini" };
	const Elf64_Shdr *names = image.head.e_shstrndx < image.head.e_shnum
	    ? &image.sections[image.head.e_shstrndx]
	    : NULL;
	const char *fault = NULL;

	if (!names)
		return "no section names";
	for (int i = 0; i < image.head.e_shnum && !fault; i++) {
		const Elf64_Shdr *s = &image.sections[i];
		const char *name = string_at(names->sh_offset, names->sh_size, s->sh_name);

		if (s->sh_type == SHT_DYNSYM)
			fault = read_symbols(s, f);
		if (s->sh_type == SHT_SYMTAB)
			f->cpu_detection |= holds_function(s, "__cpu_indicator_init");
		if (!(s->sh_flags & SHF_EXECINSTR))
			continue;
		name = name ?: "(without a name)";
		if (kindex_of(name, usual, LEN(usual)) == LEN(usual))
			add_name(&f->odd_sections, name);
		if (!strcmp(name, ".init"))
			f->init_bytes = s->sh_size;
	}
	return fault;
}

/* rdtsc, rdpmc, rdtscp, rdpru; xbegin; rdfsbase, rdgsbase, wrfsbase, wrgsbase. */
static bool
may_pry(const unsigned char *code, uint64_t len)
{
	if (len > 1 && code[0] == 0xc7)
		return code[1] == 0xf8;
	return len > 1 && code[0] == 0x0f &&
	    (code[1] == 0x31 || code[1] == 0x33 ||
	        (len > 2 && code[1] == 0x01 && (code[2] == 0xf9 || code[2] == 0xfd)) ||
	        (len > 2 && code[1] == 0xae && code[2] >= 0xc0 && code[2] < 0xe0));
}

/*
 * syscall, sysenter and int 0x80 of x86, at any offset; on other machines only the source patterns
 * apply.
 */
static void
find_system_calls(const Elf64_Phdr *p, struct kelf *f)
{
	static const unsigned char calls[][2] = { { 0x0f, 0x05 }, { 0x0f, 0x34 }, { 0xcd, 0x80 } };
	const unsigned char *code = at(p->p_offset, p->p_filesz);

	for (uint64_t i = 0; code && image.head.e_machine == EM_X86_64 && i + 1 < p->p_filesz;
	     i++) {
		kforeach(call, calls)
			if (!memcmp(code + i, *call, 2) && f->call_count < KELF_CALLS)
				f->calls[f->call_count++] = p->p_vaddr + i;
		f->may_pry |= may_pry(code + i, p->p_filesz - i);
	}
}

static void
read_segments(struct kelf *f)
{
	bool stack = false;

	kforeach_of(p, image.segments, image.head.e_phnum) {
		if (p->p_type == PT_GNU_STACK) {
			stack = true;
			f->exec_stack |= (p->p_flags & PF_X) != 0;
		}
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X))
			find_system_calls(p, f);
		if (p->p_type == PT_LOAD && (p->p_flags & PF_W) && (p->p_flags & PF_X))
			f->writable_code = true;
	}
	f->exec_stack |= !stack;
}

const char *
kelf_read(const void *so, size_t len, struct kelf *f)
{
	const char *fault;

	*f = (struct kelf){ 0 };
	fault = open_image(so, len)
	    ?: read_dynamic(f)
	    ?: read_relocations(DT_RELA, DT_RELASZ, f)
	    ?: read_relocations(DT_JMPREL, DT_PLTRELSZ, f)
	    ?: read_sections(f);
	if (!fault) {
		read_segments(f);
		f->constructors =
		    (dynamic.value[DT_INIT_ARRAYSZ] + dynamic.value[DT_PREINIT_ARRAYSZ]) /
		    sizeof(uint64_t);
		f->destructors = dynamic.value[DT_FINI_ARRAYSZ] / sizeof(uint64_t);
		f->writable_code |=
		    dynamic.given[DT_TEXTREL] || (dynamic.value[DT_FLAGS] & DF_TEXTREL);
		f->search_path = dynamic.given[DT_RPATH] || dynamic.given[DT_RUNPATH];
		f->loader_hooks = dynamic.hooks;
	}
	free(image.segments);
	free(image.sections);
	if (fault)
		kelf_free(f);
	return fault;
}

void
kelf_free(struct kelf *f)
{
	json_decref(f->imports);
	json_decref(f->functions);
	json_decref(f->needed);
	json_decref(f->odd_sections);
	*f = (struct kelf){ 0 };
}

void
kelf_hash(const void *so, size_t len, char hex[17])
{
	auto_buf struct kbuf all = { 0 };
	bool known = !open_image(so, len);

	kforeach_of(s, image.sections, known ? image.head.e_shnum : 0) {
		const void *bytes = at(s->sh_offset, s->sh_size);

		if (s->sh_flags & SHF_ALLOC && s->sh_type != SHT_NOTE && s->sh_type != SHT_NOBITS &&
		    bytes)
			kbuf_add(&all, bytes, s->sh_size);
	}
	snprintf(hex, 17, "%.16s", ksha256(all.len ? all.data : so, all.len ?: len));
	free(image.segments);
	free(image.sections);
}
