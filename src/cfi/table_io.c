/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/table_io.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cfi/compile.h"
#include "cfi/eh_frame.h"
#include "unwind/table_file.h"

#define PIECE_BYTES (64u << 10)

_Static_assert(UNWIND_FILE_BUILD_ID_MAX == BUILD_ID_MAX, "a build id fits the file's header");

/* Hashes the bytes of a section; sections that the compiler does not read count as empty. */
static uint64_t hash_content(struct elf_file *elf, const struct elf_section *section)
{
	SCOPED(mem) void *data = NULL;
	size_t size = 0;

	if (!section || section->size > CFI_MAX_SECTION_BYTES ||
	    !elf_section_is_readable(elf, section) ||
	    elf_section_read(elf, section, &data, &size, NULL) < 0)
		return 0;
	return XXH3_64bits(data, size);
}

static uint64_t layout_of(struct elf_file *elf)
{
	struct elf_section eh_frame;
	const struct elf_section *sections[] = {
		cfi_find_eh_frame(elf, &eh_frame) ? &eh_frame : NULL,
		elf_section_find(elf, ".debug_frame"), elf_section_find(elf, ".text")};
	bool is_image = elf_identity(elf).inode == 0;
	uint64_t hash = elf_entry(elf);

	for (size_t i = 0; i < elf_segment_count(elf); i++) {
		const struct elf_segment *segment = elf_segment_at(elf, i);
		uint64_t words[] = {hash, segment->offset, segment->vaddr, segment->file_bytes};

		hash = XXH3_64bits(words, sizeof(words));
	}
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct elf_section *section = sections[i];
		/* The kernel knows whether a file changed: its megabytes need not be read. */
		uint64_t words[] = {hash, section ? section->addr : 0, section ? section->size : 0,
				    is_image ? hash_content(elf, section) : 0};

		hash = XXH3_64bits(words, sizeof(words));
	}
	return hash;
}

struct table_identity table_identity_of(struct elf_file *elf)
{
	const struct build_id *id = elf_build_id(elf);
	struct table_identity identity = {
		.machine = elf_machine(elf),
		.build_id_size = id->size,
		.file = elf_identity(elf),
		.layout = layout_of(elf),
	};

	memcpy(identity.build_id, id->bytes, id->size);
	return identity;
}

uint64_t table_identity_hash(const struct table_identity *identity)
{
	return XXH3_64bits_withSeed(&identity->file, sizeof(identity->file), identity->layout);
}

static uint64_t checksum_of(struct unwind_file_header header, uint64_t payload)
{
	uint64_t parts[2];

	header.checksum = 0;
	parts[0] = XXH3_64bits(&header, sizeof(header));
	parts[1] = payload;
	return XXH3_64bits(parts, sizeof(parts));
}

void table_write(const struct cfi_table *table, const struct table_identity *identity,
		 struct bytes *out)
{
	struct unwind_file_header header = {
		.magic = UNWIND_FILE_MAGIC,
		.version = UNWIND_FILE_VERSION,
		.machine = identity->machine,
		.build_id_size = identity->build_id_size,
		.device = identity->file.device,
		.inode = identity->file.inode,
		.size_bytes = identity->file.size_bytes,
		.modified_ns = identity->file.modified_ns,
		.changed_ns = identity->file.changed_ns,
		.owner = identity->file.owner,
		.layout = identity->layout,
		.base = table->table.base,
		.row_count = table->table.row_count,
		.rule_count = table->table.rule_count,
	};
	size_t start = out->size + sizeof(header);
	size_t header_at = out->size;

	memcpy(header.build_id, identity->build_id, sizeof(header.build_id));
	bytes_put(out, &header, sizeof(header));
	bytes_put(out, table->table.rows, header.row_count * sizeof(*table->table.rows));
	bytes_put(out, table->table.rules, header.rule_count * sizeof(*table->table.rules));
	if (out->failed)
		return;
	header.checksum = checksum_of(header, XXH3_64bits(out->data + start, out->size - start));
	memcpy(out->data + header_at, &header, sizeof(header));
}

static int read_whole(int fd, void *place, size_t size, uint64_t offset)
{
	uint8_t *at = place;

	while (size > 0) {
		ssize_t n = pread(fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		at += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static bool is_of_file(const struct unwind_file_header *header, const struct file_identity *file)
{
	return header->device == file->device && header->inode == file->inode &&
	       header->size_bytes == file->size_bytes && header->modified_ns == file->modified_ns &&
	       header->changed_ns == file->changed_ns && header->owner == file->owner;
}

static bool is_for(const struct unwind_file_header *header, const struct table_identity *identity)
{
	return memcmp(header->magic, UNWIND_FILE_MAGIC, sizeof(header->magic)) == 0 &&
	       header->version == UNWIND_FILE_VERSION && header->machine == identity->machine &&
	       header->build_id_size == identity->build_id_size &&
	       memcmp(header->build_id, identity->build_id, sizeof(header->build_id)) == 0 &&
	       is_of_file(header, &identity->file) && header->layout == identity->layout;
}

/* Hashes the rest of a file piece by piece: in a mapping, all of it would become memory. */
static int hash_payload(int fd, uint64_t size, uint64_t *ret)
{
	SCOPED(mem) uint8_t *piece = malloc(PIECE_BYTES);
	XXH3_state_t *sum = XXH3_createState();
	int r = piece && sum && XXH3_64bits_reset(sum) != XXH_ERROR ? 0 : -ENOMEM;

	for (uint64_t at = 0; r == 0 && at < size; at += PIECE_BYTES) {
		size_t n = size - at < PIECE_BYTES ? (size_t)(size - at) : PIECE_BYTES;

		r = read_whole(fd, piece, n, sizeof(struct unwind_file_header) + at);
		if (r == 0)
			(void)XXH3_64bits_update(sum, piece, n); /* cannot fail: no NULL */
	}
	if (r == 0)
		*ret = XXH3_64bits_digest(sum);
	(void)XXH3_freeState(sum);
	return r;
}

/* Files of the cache are replaced and removed, never changed: a mapping keeps what was checked. */
static int map_table(int fd, uint64_t size, const struct unwind_file_header *header,
		     struct cfi_table *ret)
{
	uint8_t *memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	const uint8_t *rows = memory + sizeof(*header);
	const uint8_t *rules = rows + (uint64_t)header->row_count * sizeof(struct unwind_row);

	if (memory == MAP_FAILED)
		return -errno;
	*ret = (struct cfi_table){
		.table = {.rows = (const struct unwind_row *)(const void *)rows,
			  .rules = (const struct unwind_rule *)(const void *)rules,
			  .row_count = header->row_count,
			  .rule_count = header->rule_count,
			  .base = header->base,
			  .machine = header->machine},
		.memory = memory,
		.mapped_bytes = size,
	};
	return 0;
}

int table_read(int fd, uint64_t size, const struct table_identity *identity, struct cfi_table *ret)
{
	struct unwind_file_header header;
	uint64_t rows_bytes;
	uint64_t payload_bytes;
	uint64_t sum = 0;
	int r;

	if (size < sizeof(header))
		return -EBADMSG;
	r = read_whole(fd, &header, sizeof(header), 0);
	if (r < 0)
		return r;
	rows_bytes = (uint64_t)header.row_count * sizeof(struct unwind_row);
	payload_bytes = rows_bytes + (uint64_t)header.rule_count * sizeof(struct unwind_rule);
	if (!is_for(&header, identity) || header.rule_count == 0 ||
	    payload_bytes != size - sizeof(header))
		return -EBADMSG;
	r = hash_payload(fd, payload_bytes, &sum);
	if (r < 0)
		return r;
	if (checksum_of(header, sum) != header.checksum)
		return -EBADMSG;
	return map_table(fd, size, &header, ret);
}
