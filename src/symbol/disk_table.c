/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/disk_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/file/cache_dir.h"
#include "base/scope.h"
#include "symbol/address_sort.h"
#include "symbol/summed_file.h"
#include "symbol/symbol_index.h"

/*
 *	header | starts of pieces | owners of pieces | symbols | names
 *
 * One start of each block is in memory, so a search reads one block.
 */

#define MAGIC "WICKTAB\n"
#define VERSION 1
#define BLOCK_STARTS 256u
#define FOUND_PIECES 32u
#define READ_BYTES (64u << 10)
#define NAME_STEP_BYTES 256u
#define NAME_MAX_BYTES (1u << 20)

struct header {
	char magic[8];
	uint32_t version;
	uint32_t named;
	struct file_identity file;
	uint64_t pieces;
	uint64_t symbols;
	uint64_t names_bytes;
	uint64_t checksum; /* of all that follows */
};
_Static_assert(sizeof(struct header) == 96, "the header is on disk");

struct kept_symbol {
	uint64_t start;
	uint64_t size;
	uint64_t name; /* offset in the names */
};
_Static_assert(sizeof(struct kept_symbol) == 24, "symbols are on disk");

/* Addresses with the same answer: those of a function, or a part of one. */
struct found_piece {
	uint64_t start;
	uint64_t end;
	uint32_t symbol;
};

struct disk_table {
	int fd;
	struct header header;
	uint64_t *block_starts; /* the first start of each block */
	size_t block_count;
	struct bytes name; /* the last one */
	/* Those found last: an address is often in a function that has just been looked up. */
	struct found_piece found[FOUND_PIECES];
	size_t next_found;
};

static void scope_release_table(struct disk_table **table)
{
	disk_table_close(*table);
}

static uint64_t owners_at(const struct header *header)
{
	return sizeof(*header) + header->pieces * sizeof(uint64_t);
}

static uint64_t symbols_at(const struct header *header)
{
	return owners_at(header) + header->pieces * sizeof(uint32_t);
}

static uint64_t names_at(const struct header *header)
{
	return symbols_at(header) + header->symbols * sizeof(struct kept_symbol);
}

static bool read_at(const struct disk_table *table, uint64_t at, void *data, size_t size)
{
	return pread(table->fd, data, size, (off_t)at) == (ssize_t)size;
}

static void name_file(const struct file_identity *file, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%016" PRIx64 DISK_TABLE_SUFFIX,
		       (uint64_t)XXH3_64bits(file, sizeof(*file))); /* it fits */
}

static bool is_header_good(const struct header *header, const struct file_identity *file,
			   uint64_t size)
{
	return memcmp(header->magic, MAGIC, sizeof(header->magic)) == 0 &&
	       header->version == VERSION && memcmp(&header->file, file, sizeof(*file)) == 0 &&
	       header->symbols > 0 && header->symbols < UINT32_MAX && header->pieces > 0 &&
	       header->pieces <= size / sizeof(uint64_t) && header->names_bytes > 0 &&
	       header->symbols <= size / sizeof(struct kept_symbol) &&
	       header->names_bytes <= size && names_at(header) + header->names_bytes == size;
}

/* Whether the content is what was written. */
static bool is_content_good(const struct disk_table *table, uint64_t size)
{
	SCOPED(mem) uint8_t *block = malloc(READ_BYTES);
	XXH3_state_t *sum = XXH3_createState();
	bool good = block && sum && XXH3_64bits_reset(sum) != XXH_ERROR;
	uint64_t at = sizeof(struct header);

	while (good && at < size) {
		size_t n = size - at < READ_BYTES ? (size_t)(size - at) : READ_BYTES;

		good = read_at(table, at, block, n);
		if (good)
			(void)XXH3_64bits_update(sum, block, n); /* cannot fail: no NULL */
		at += n;
	}
	good = good && XXH3_64bits_digest(sum) == table->header.checksum;
	(void)XXH3_freeState(sum);
	return good;
}

static bool read_block_starts(struct disk_table *table)
{
	table->block_count = (size_t)((table->header.pieces + BLOCK_STARTS - 1) / BLOCK_STARTS);
	table->block_starts = calloc(table->block_count, sizeof(*table->block_starts));
	for (size_t i = 0; table->block_starts && i < table->block_count; i++)
		if (!read_at(table, sizeof(struct header) + i * BLOCK_STARTS * sizeof(uint64_t),
			     &table->block_starts[i], sizeof(*table->block_starts)))
			return false;
	return table->block_starts;
}

struct disk_table *disk_table_open(struct cache_dir *dir, const struct file_identity *file)
{
	SCOPED(table) struct disk_table *table = NULL;
	char name[CACHE_NAME_MAX];
	uint64_t size;
	int fd;

	if (dir->fd < 0 || file->inode == 0)
		return NULL;
	name_file(file, name, sizeof(name));
	fd = cache_dir_open(dir, name, &size);
	if (fd < 0)
		return NULL;
	table = calloc(1, sizeof(*table));
	if (!table) {
		(void)close(fd); /* only read from */
		return NULL;
	}
	table->fd = fd;
	if (!read_at(table, 0, &table->header, sizeof(table->header)) ||
	    !is_header_good(&table->header, file, size) || !is_content_good(table, size) ||
	    !read_block_starts(table))
		return NULL;
	return scope_take(&table);
}

bool disk_table_exists(struct cache_dir *dir, const struct file_identity *file)
{
	char name[CACHE_NAME_MAX];

	name_file(file, name, sizeof(name));
	return dir->fd >= 0 && faccessat(dir->fd, name, F_OK, 0) == 0;
}

void disk_table_close(struct disk_table *table)
{
	if (!table)
		return;
	(void)close(table->fd); /* only read from */
	free(table->block_starts);
	bytes_fini(&table->name);
	free(table);
}

static void put_content(struct summed_file *out, const struct disk_table_content *content)
{
	const struct symbol_index *index = content->index;

	summed_file_put(out, index->piece_starts,
			index->piece_count * sizeof(*index->piece_starts));
	summed_file_put(out, index->piece_owners,
			index->piece_count * sizeof(*index->piece_owners));
	for (uint32_t i = 0; i < index->symbol_count; i++) {
		struct kept_symbol symbol = {index->symbols[i].start, index->symbols[i].size,
					     index->symbols[i].name};

		summed_file_put(out, &symbol, sizeof(symbol));
	}
	summed_file_put(out, content->names, content->names_bytes);
}

void disk_table_keep(struct cache_dir *dir, const struct file_identity *file,
		     const struct disk_table_content *content)
{
	struct summed_file out;
	struct header header = {
		.version = VERSION,
		.named = content->named,
		.file = *file,
		.pieces = content->index->piece_count,
		.symbols = content->index->symbol_count,
		.names_bytes = content->names_bytes,
	};
	char name[CACHE_NAME_MAX];

	if (dir->fd < 0 || file->inode == 0 || header.symbols == 0)
		return;
	memcpy(header.magic, MAGIC, sizeof(header.magic));
	name_file(file, name, sizeof(name));
	if (!summed_file_begin(&out, dir, &header, sizeof(header)))
		return;
	put_content(&out, content);
	header.checksum = summed_file_checksum(&out);
	summed_file_finish(&out, name, &header, sizeof(header));
}

uint32_t disk_table_count(const struct disk_table *table)
{
	return (uint32_t)table->header.symbols;
}

bool disk_table_is_named(const struct disk_table *table)
{
	return table->header.named;
}

/* The piece that contains vaddr or ends before it. */
static bool find_piece(const struct disk_table *table, uint64_t vaddr, uint64_t *ret,
		       struct found_piece *ret_found)
{
	uint64_t starts[BLOCK_STARTS];
	size_t block = address_upper_bound(table->block_starts, table->block_count, vaddr);
	uint64_t first;
	uint64_t count;
	size_t at;

	if (block == 0)
		return false;
	first = (uint64_t)(block - 1) * BLOCK_STARTS;
	count = table->header.pieces - first;
	if (count > BLOCK_STARTS)
		count = BLOCK_STARTS;
	if (!read_at(table, sizeof(struct header) + first * sizeof(*starts), starts,
		     count * sizeof(*starts)))
		return false;
	/* The first one of the block is not above vaddr. */
	at = address_upper_bound(starts, count, vaddr) - 1;
	*ret = first + at;
	/* Of the last one in a block the end is in another block. */
	*ret_found = (struct found_piece){starts[at], at + 1 < count ? starts[at + 1] : vaddr + 1,
					  UINT32_MAX};
	return true;
}

static bool read_symbol(const struct disk_table *table, uint32_t symbol, struct kept_symbol *ret)
{
	return symbol < table->header.symbols &&
	       read_at(table, symbols_at(&table->header) + symbol * sizeof(*ret), ret,
		       sizeof(*ret));
}

/* Where the symbol that owns a piece ends, or begins, the answer is another one. */
static void keep_found(struct disk_table *table, struct found_piece found,
		       const struct kept_symbol *symbol, uint32_t owner)
{
	if (found.start < symbol->start)
		found.start = symbol->start;
	if (found.end - symbol->start > symbol->size)
		found.end = symbol->start + symbol->size;
	found.symbol = owner;
	table->found[table->next_found++ % FOUND_PIECES] = found;
}

uint32_t disk_table_find(struct disk_table *table, uint64_t vaddr)
{
	struct kept_symbol symbol;
	struct found_piece found;
	uint64_t piece;
	uint32_t owner;

	for (size_t i = 0; i < FOUND_PIECES; i++)
		if (vaddr >= table->found[i].start && vaddr < table->found[i].end)
			return table->found[i].symbol;
	if (!find_piece(table, vaddr, &piece, &found) ||
	    !read_at(table, owners_at(&table->header) + piece * sizeof(owner), &owner,
		     sizeof(owner)) ||
	    !read_symbol(table, owner, &symbol))
		return UINT32_MAX;
	if (vaddr - symbol.start >= symbol.size)
		return UINT32_MAX;
	keep_found(table, found, &symbol, owner);
	return owner;
}

/* Reads a text up to its NUL into table->name. */
static bool read_name(struct disk_table *table, uint64_t at)
{
	bytes_clear(&table->name);
	while (at < table->header.names_bytes && table->name.size < NAME_MAX_BYTES) {
		uint64_t left = table->header.names_bytes - at;
		size_t n = left < NAME_STEP_BYTES ? (size_t)left : NAME_STEP_BYTES;
		uint8_t *place = bytes_reserve(&table->name, n);

		if (!place || !read_at(table, names_at(&table->header) + at, place, n))
			return false;
		table->name.size += n;
		if (memchr(place, '\0', n))
			return true;
		at += n;
	}
	return false;
}

const char *disk_table_at(struct disk_table *table, uint32_t symbol, uint64_t *ret_start,
			  uint64_t *ret_size)
{
	struct kept_symbol found = {0};

	*ret_start = *ret_size = 0;
	if (!read_symbol(table, symbol, &found))
		return "";
	*ret_start = found.start;
	*ret_size = found.size;
	return read_name(table, found.name) ? (const char *)table->name.data : "";
}
