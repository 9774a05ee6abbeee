/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file/regular_file.h"
#include "base/scope.h"
#include "base/vec.h"

/* Real files stay far below these; they bound what a hostile one can cost. */
#define MAX_SECTIONS (1u << 20)
#define MAX_SECTION_NAMES_BYTES (64u << 20)
#define MAX_SECTION_BYTES (1u << 30)
#define MAX_NOTE_BYTES (4u << 20)

#define NOT_REGULAR "not a regular file"

struct extent {
	uint64_t offset;
	uint64_t size;
	uint64_t align;
};

struct elf_file {
	int fd;               /* -1 when read from memory */
	bool has_owner;       /* not everybody can write to it */
	const uint8_t *image; /* borrowed; NULL when read from a file */
	uint64_t size;
	struct file_identity identity;
	char *name;
	Elf64_Ehdr header;
	VEC(struct elf_segment) segments;
	VEC(struct extent) notes;
	uint64_t eh_frame_table; /* 0: none */
	uint64_t eh_frame_table_bytes;
	struct elf_section *sections;
	size_t section_count;
	char *section_names;
	struct build_id build_id;
	bool build_id_known;
};

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

void elf_close(struct elf_file *elf)
{
	if (!elf)
		return;
	if (elf->fd >= 0)
		(void)close(elf->fd); /* read-only: nothing is lost */
	vec_fini(&elf->segments);
	vec_fini(&elf->notes);
	free(elf->sections);
	free(elf->section_names);
	free(elf->name);
	free(elf);
}

int elf_read_at(struct elf_file *elf, uint64_t offset, void *place, size_t n)
{
	uint8_t *at = place;

	if (offset > elf->size || n > elf->size - offset)
		return -ERANGE;
	if (elf->image) {
		memcpy(place, elf->image + offset, n);
		return 0;
	}
	while (n > 0) {
		ssize_t got = pread(elf->fd, at, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -ERANGE; /* the file shrank since it was opened */
		at += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

#define COPY_ANEW "it is damaged or truncated: copy or build it again"

static int refuse(struct error *err, int code, const char *name, const char *why)
{
	return error_advise(err, error_set(err, code, "%s: %s", name, why),
			    "name a 64-bit program or library; check what it is: file %s", name);
}

static int damaged(struct error *err, int code, const char *name, const char *what)
{
	return error_advise(err, error_set(err, code, "%s: %s", name, what), COPY_ANEW);
}

static int read_header(struct elf_file *elf, struct error *err)
{
	Elf64_Ehdr *header = &elf->header;
	uint8_t ident[EI_NIDENT];
	int r;

	r = elf_read_at(elf, 0, ident, sizeof(ident));
	if (r == -ERANGE || (r == 0 && memcmp(ident, ELFMAG, SELFMAG) != 0))
		return refuse(err, -ENOEXEC, elf->name, "not an ELF file");
	if (r < 0)
		return error_file(err, r, "%s", elf->name);
	if (ident[EI_CLASS] == ELFCLASS32)
		return refuse(err, -ENOTSUP, elf->name, "32-bit ELF files are not supported");
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return refuse(err, -ENOTSUP, elf->name, "not a 64-bit little-endian ELF file");
	r = elf_read_at(elf, 0, header, sizeof(*header));
	if (r < 0)
		return damaged(err, -ENOEXEC, elf->name, "the ELF header is truncated");
	return 0;
}

static bool range_overflows(uint64_t start, uint64_t size)
{
	return size > UINT64_MAX - start;
}

static int add_program_header(struct elf_file *elf, const Elf64_Phdr *phdr)
{
	if (phdr->p_type == PT_NOTE)
		return vec_push(&elf->notes,
				(struct extent){phdr->p_offset, phdr->p_filesz, phdr->p_align});
	if (phdr->p_type == PT_GNU_EH_FRAME) {
		elf->eh_frame_table = phdr->p_vaddr;
		elf->eh_frame_table_bytes = phdr->p_filesz;
	}
	/* Arithmetic on what is kept cannot overflow. */
	if (phdr->p_type != PT_LOAD || range_overflows(phdr->p_offset, phdr->p_filesz) ||
	    range_overflows(phdr->p_vaddr, phdr->p_filesz) ||
	    range_overflows(phdr->p_vaddr, phdr->p_memsz))
		return 0;
	return vec_push(&elf->segments, (struct elf_segment){
						.offset = phdr->p_offset,
						.vaddr = phdr->p_vaddr,
						.file_bytes = phdr->p_filesz,
						.memory_bytes = phdr->p_memsz,
						.align = phdr->p_align,
						.flags = phdr->p_flags,
					});
}

static int read_program_headers(struct elf_file *elf, struct error *err)
{
	size_t count = elf->header.e_phnum;
	SCOPED(mem) Elf64_Phdr *phdrs = NULL;
	int r;

	if (count == 0)
		return 0;
	if (elf->header.e_phentsize != sizeof(Elf64_Phdr))
		return damaged(err, -ENOEXEC, elf->name,
			       "the program headers have an unexpected size");
	phdrs = calloc(count, sizeof(*phdrs));
	if (!phdrs)
		return error_set(err, -ENOMEM, "%s: out of memory", elf->name);
	r = elf_read_at(elf, elf->header.e_phoff, phdrs, count * sizeof(*phdrs));
	if (r == -ERANGE)
		return damaged(err, -ENOEXEC, elf->name, "the program headers are truncated");
	if (r < 0)
		return error_file(err, r, "%s", elf->name);
	for (size_t i = 0; i < count; i++)
		if (add_program_header(elf, &phdrs[i]) < 0)
			return error_set(err, -ENOMEM, "%s: out of memory", elf->name);
	return 0;
}

/* Fills section_names with the table at index; names stay "" when it is unusable. */
static int read_section_names(struct elf_file *elf, const Elf64_Shdr *shdrs, size_t index)
{
	const Elf64_Shdr *table = index < elf->section_count ? &shdrs[index] : NULL;
	size_t size = 0;

	if (table && table->sh_type == SHT_STRTAB && table->sh_size <= MAX_SECTION_NAMES_BYTES &&
	    table->sh_offset <= elf->size && table->sh_size <= elf->size - table->sh_offset)
		size = table->sh_size;
	elf->section_names = malloc(size + 1);
	if (!elf->section_names)
		return -ENOMEM;
	if (size && elf_read_at(elf, table->sh_offset, elf->section_names, size) < 0)
		size = 0;
	elf->section_names[size] = '\0';
	for (size_t i = 0; i < elf->section_count; i++) {
		uint32_t at = shdrs[i].sh_name;

		elf->sections[i].name = elf->section_names + (at < size ? at : size);
	}
	return 0;
}

static int keep_sections(struct elf_file *elf, const Elf64_Shdr *shdrs, size_t count)
{
	elf->sections = calloc(count, sizeof(*elf->sections));
	if (!elf->sections)
		return -ENOMEM;
	elf->section_count = count;
	for (size_t i = 0; i < count; i++)
		elf->sections[i] = (struct elf_section){
			.type = shdrs[i].sh_type,
			.flags = shdrs[i].sh_flags,
			.addr = shdrs[i].sh_addr,
			.offset = shdrs[i].sh_offset,
			.size = shdrs[i].sh_size,
			.entry_bytes = shdrs[i].sh_entsize,
			.link = shdrs[i].sh_link,
			.info = shdrs[i].sh_info,
		};
	return read_section_names(elf, shdrs,
				  elf->header.e_shstrndx == SHN_XINDEX ? shdrs[0].sh_link
								       : elf->header.e_shstrndx);
}

/*
 * A file can run without section headers, and a truncated copy loses them first (they are at the
 * end): unreadable ones count as "no sections", and address arithmetic still works.
 */
static int read_section_headers(struct elf_file *elf, struct error *err)
{
	uint64_t count = elf->header.e_shnum;
	SCOPED(mem) Elf64_Shdr *shdrs = NULL;
	Elf64_Shdr first;
	int r;

	if (elf->header.e_shoff == 0 || elf->header.e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	if (count == 0) { /* 65280 sections or more: the first header has the count */
		if (elf_read_at(elf, elf->header.e_shoff, &first, sizeof(first)) < 0)
			return 0;
		count = first.sh_size;
	}
	if (count == 0 || count > MAX_SECTIONS || elf->header.e_shoff > elf->size ||
	    count * sizeof(*shdrs) > elf->size - elf->header.e_shoff)
		return 0;
	shdrs = malloc(count * sizeof(*shdrs));
	if (!shdrs)
		return error_set(err, -ENOMEM, "%s: out of memory", elf->name);
	if (elf_read_at(elf, elf->header.e_shoff, shdrs, count * sizeof(*shdrs)) < 0)
		return 0;
	r = keep_sections(elf, shdrs, count);
	if (r < 0)
		return error_set(err, r, "%s: out of memory", elf->name);
	return 0;
}

static struct elf_file *elf_new(const char *name)
{
	SCOPED(elf) struct elf_file *elf = calloc(1, sizeof(*elf));

	if (!elf)
		return NULL;
	elf->fd = -1;
	elf->name = strdup(name);
	if (!elf->name)
		return NULL;
	return scope_take(&elf);
}

static int read_headers(struct elf_file *elf, struct error *err)
{
	int r;

	r = read_header(elf, err);
	if (r < 0)
		return r;
	r = read_program_headers(elf, err);
	if (r < 0)
		return r;
	return read_section_headers(elf, err);
}

int elf_open_memory(const void *image, size_t size, const char *name, struct elf_file **ret,
		    struct error *err)
{
	SCOPED(elf) struct elf_file *elf = elf_new(name);
	int r;

	if (!elf)
		return error_set(err, -ENOMEM, "%s: out of memory", name);
	elf->image = image;
	elf->size = size;
	elf->identity.size_bytes = size;
	r = read_headers(elf, err);
	if (r < 0)
		return r;
	*ret = scope_take(&elf);
	return 0;
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SEC + (uint64_t)time->tv_nsec;
}

int elf_open_fd(int fd, const char *name, struct elf_file **ret, struct error *err)
{
	SCOPED(elf) struct elf_file *elf = elf_new(name);
	struct stat status;
	int r;

	if (!elf)
		return error_set(err, -ENOMEM, "%s: out of memory", name);
	if (fstat(fd, &status) < 0)
		return error_file(err, -errno, "%s", name);
	if (!S_ISREG(status.st_mode))
		return refuse(err, -EINVAL, name, NOT_REGULAR);
	elf->fd = fd;
	elf->size = (uint64_t)status.st_size;
	elf->identity = file_identity_of(&status);
	elf->has_owner = !(status.st_mode & S_IWOTH);
	r = read_headers(elf, err);
	if (r < 0) {
		elf->fd = -1; /* stays with the caller */
		return r;
	}
	*ret = scope_take(&elf);
	return 0;
}

int elf_open(const char *path, struct elf_file **ret, struct error *err)
{
	struct stat status;
	SCOPED(fd) int fd = regular_file_open(path, &status);
	int r;

	if (fd == -EINVAL)
		return refuse(err, fd, path, NOT_REGULAR);
	if (fd < 0)
		return error_file(err, fd, "%s", path);
	r = elf_open_fd(fd, path, ret, err);
	if (r < 0)
		return r;
	(void)scope_take_fd(&fd); /* belongs to *ret now */
	return 0;
}

bool elf_owner(const struct elf_file *elf, uint32_t *ret_uid)
{
	*ret_uid = (uint32_t)elf->identity.owner;
	return elf->has_owner;
}

uint16_t elf_machine(const struct elf_file *elf)
{
	return elf->header.e_machine;
}

bool elf_is_cut(const struct elf_file *elf)
{
	uint64_t bytes = (uint64_t)elf->header.e_shnum * sizeof(Elf64_Shdr);

	return elf->header.e_shoff > elf->size || bytes > elf->size - elf->header.e_shoff;
}

uint16_t elf_type(const struct elf_file *elf)
{
	return elf->header.e_type;
}

uint64_t elf_entry(const struct elf_file *elf)
{
	return elf->header.e_entry;
}

struct file_identity file_identity_of(const struct stat *status)
{
	return (struct file_identity){
		.device = status->st_dev,
		.inode = status->st_ino,
		.size_bytes = (uint64_t)status->st_size,
		.modified_ns = ns_of(&status->st_mtim),
		.changed_ns = ns_of(&status->st_ctim),
		.owner = status->st_uid,
	};
}

struct file_identity elf_identity(const struct elf_file *elf)
{
	return elf->identity;
}

bool elf_eh_frame_table(const struct elf_file *elf, uint64_t *ret_vaddr, uint64_t *ret_size)
{
	*ret_vaddr = elf->eh_frame_table;
	*ret_size = elf->eh_frame_table_bytes;
	return elf->eh_frame_table != 0;
}

size_t elf_segment_count(const struct elf_file *elf)
{
	return elf->segments.count;
}

const struct elf_segment *elf_segment_at(const struct elf_file *elf, size_t i)
{
	return i < elf->segments.count ? &elf->segments.items[i] : NULL;
}

size_t elf_section_count(const struct elf_file *elf)
{
	return elf->section_count;
}

const struct elf_section *elf_section_at(const struct elf_file *elf, size_t i)
{
	return i < elf->section_count ? &elf->sections[i] : NULL;
}

const struct elf_section *elf_section_find(const struct elf_file *elf, const char *name)
{
	for (size_t i = 0; i < elf->section_count; i++)
		if (strcmp(elf->sections[i].name, name) == 0)
			return &elf->sections[i];
	return NULL;
}

bool elf_section_is_readable(const struct elf_file *elf, const struct elf_section *section)
{
	return section->type != SHT_NOBITS && section->size <= MAX_SECTION_BYTES &&
	       section->offset <= elf->size && section->size <= elf->size - section->offset;
}

int elf_section_read(struct elf_file *elf, const struct elf_section *section, void **ret_data,
		     size_t *ret_size, struct error *err)
{
	SCOPED(mem) void *data = NULL;
	int r;

	if (section->type == SHT_NOBITS)
		return error_advise(err,
				    error_set(err, -ENODATA,
					      "%s: section %s has no data in this file", elf->name,
					      section->name),
				    "name the program itself, not its debug file");
	if (section->size > MAX_SECTION_BYTES)
		return error_advise(
			err,
			error_set(err, -EFBIG, "%s: section %s is larger than %u MB", elf->name,
				  section->name, (unsigned int)(MAX_SECTION_BYTES >> 20)),
			"build it with less debug information, or split it: -gsplit-dwarf");
	if (section->offset > elf->size || section->size > elf->size - section->offset)
		return error_advise(err,
				    error_set(err, -ERANGE,
					      "%s: section %s ends past the end of the file",
					      elf->name, section->name),
				    COPY_ANEW);
	data = malloc(section->size ? section->size : 1);
	if (!data)
		return error_set(err, -ENOMEM, "%s: out of memory", elf->name);
	r = elf_read_at(elf, section->offset, data, section->size);
	if (r < 0)
		return error_file(err, r, "%s: section %s", elf->name, section->name);
	*ret_data = scope_take(&data);
	*ret_size = section->size;
	return 0;
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

bool build_id_of_notes(const uint8_t *notes, uint64_t size, uint64_t align, struct build_id *ret)
{
	Elf64_Nhdr note;
	uint64_t at = 0;

	while (size - at >= sizeof(note)) {
		uint64_t name_at = at + sizeof(note);
		uint64_t data_at;

		memcpy(&note, notes + at, sizeof(note));
		data_at = round_up(name_at + note.n_namesz, align);
		if (data_at > size || note.n_descsz > size - data_at)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(notes + name_at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
			/* A longer id is always represented by its first bytes. */
			ret->size = (uint8_t)(note.n_descsz < BUILD_ID_MAX ? note.n_descsz
									   : BUILD_ID_MAX);
			memcpy(ret->bytes, notes + data_at, ret->size);
			return ret->size > 0;
		}
		at = round_up(data_at + note.n_descsz, align);
		if (at > size)
			return false;
	}
	return false;
}

/* Subtracts what it reads from *budget, so that many notes cost no more than a few. */
static bool read_build_id(struct elf_file *elf, struct extent extent, uint64_t *budget)
{
	SCOPED(mem) uint8_t *notes = NULL;

	if (extent.size > *budget || extent.offset > elf->size ||
	    extent.size > elf->size - extent.offset)
		return false;
	*budget -= extent.size;
	notes = malloc(extent.size + 1);
	if (!notes || elf_read_at(elf, extent.offset, notes, extent.size) < 0)
		return false;
	return build_id_of_notes(notes, extent.size, extent.align == 8 ? 8 : 4, &elf->build_id);
}

const struct build_id *elf_build_id(struct elf_file *elf)
{
	uint64_t budget = MAX_NOTE_BYTES;

	if (elf->build_id_known)
		return &elf->build_id;
	elf->build_id_known = true;
	for (size_t i = 0; i < elf->notes.count; i++)
		if (read_build_id(elf, elf->notes.items[i], &budget))
			return &elf->build_id;
	/* Separate debug files keep the section, but their segments have no data. */
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct elf_section *section = &elf->sections[i];
		struct extent extent = {section->offset, section->size, 4};

		if (section->type == SHT_NOTE && read_build_id(elf, extent, &budget))
			return &elf->build_id;
	}
	elf->build_id = (struct build_id){0};
	return &elf->build_id;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* -1: not a digit. */
static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool build_id_parse(const char *text, struct build_id *ret)
{
	*ret = (struct build_id){0};
	for (; *text && ret->size < BUILD_ID_MAX; text += 2) {
		int high = digit_of(text[0]);
		int low = high < 0 ? -1 : digit_of(text[1]);

		if (low < 0)
			return false;
		ret->bytes[ret->size++] = (uint8_t)(high << 4 | low);
	}
	return *text == '\0' && ret->size > 0;
}

void build_id_format(const struct build_id *id, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < id->size && i < BUILD_ID_MAX; i++) {
		*text++ = digits[id->bytes[i] >> 4];
		*text++ = digits[id->bytes[i] & 15];
	}
	*text = '\0';
}
