/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds the file of kept answers with whatever comes. The key and the checksum are made
 * right first, or nothing of the file would be looked at; the counts are the input's.
 */

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/file/cache_dir.h"
#include "elf/elf.h"
#include "symbol/symbol_store.h"
#include "symbol/symboliser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where things stand in the header, see symbol_store.c. */
#define HEADER_BYTES 128
#define FILE_AT 56
#define COUNTS_AT 104
#define CHECKSUM_AT 120
#define ADDRESS_BYTES 24
#define FORM 5

static const struct build_id id = {.size = 2, .bytes = {1, 2}};
static const struct file_identity identity = {1, 2, 3, 4, 5, 6};

static char path[] = "/tmp/wick-fuzz-XXXXXX";

/* The name is by what the kernel says of the binary. */
static const char *file_name(void)
{
	static char name[CACHE_NAME_MAX];

	(void)snprintf(name, sizeof(name), "0102-%d-%016llx" SYMBOL_STORE_SUFFIX, FORM,
		       (unsigned long long)XXH3_64bits(&identity, sizeof(identity)));
	return name;
}

static void clean_up(void)
{
	char name[sizeof(path) + CACHE_NAME_MAX];

	(void)snprintf(name, sizeof(name), "%s/%s", path, file_name());
	(void)unlink(name);
	(void)rmdir(path);
}

static struct cache_dir *get_dir(void)
{
	static struct cache_dir dir = {.fd = -1};

	if (dir.fd >= 0)
		return &dir;
	if (!mkdtemp(path) || cache_dir_init(&dir, path, "x", SYMBOL_STORE_SUFFIX, 1u << 30) < 0)
		abort();
	(void)atexit(clean_up);
	return &dir;
}

/* The key comes first; counts and body are the input's. */
static void write_file(struct cache_dir *dir, const uint8_t *data, size_t size)
{
	struct bytes file = {0};
	uint64_t sum;

	bytes_put(&file, "WICKSYM\n", 8);
	bytes_put_u32(&file, 3);
	bytes_put_u32(&file, FORM);
	bytes_put_u8(&file, id.size);
	bytes_put(&file, id.bytes, sizeof(id.bytes));
	while (file.size < FILE_AT)
		bytes_put_u8(&file, 0);
	bytes_put(&file, &identity, sizeof(identity));
	bytes_put(&file, data, CHECKSUM_AT - COUNTS_AT);
	sum = XXH3_64bits(data + (CHECKSUM_AT - COUNTS_AT), size - (CHECKSUM_AT - COUNTS_AT));
	bytes_put_u64(&file, sum);
	if (file.size != HEADER_BYTES)
		abort();
	bytes_put(&file, data + (CHECKSUM_AT - COUNTS_AT), size - (CHECKSUM_AT - COUNTS_AT));
	cache_dir_keep(dir, file_name(), &file);
	bytes_fini(&file);
}

static size_t measure(const char *text)
{
	return text ? strlen(text) : 0;
}

/* Reads what is said of an address, to its last byte. */
static void look_at(const struct symbol_store *store, uint64_t vaddr)
{
	struct symbol_frame frames[16];
	int count = symbol_store_find(store, vaddr, frames, 16);
	size_t all = 0;

	for (int i = 0; i < count; i++) {
		all += measure(frames[i].function) + measure(frames[i].linker) +
		       measure(frames[i].file);
		all += (size_t)frames[i].function[frames[i].plain_bytes];
	}
	if (all > SIZE_MAX / 2)
		abort();
}

static struct symbol_store *open_store(struct cache_dir *dir)
{
	struct symbol_store *store = symbol_store_open(dir, &id, &identity, FORM);

	if (!store)
		abort();
	return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_frame frame = {.function = "new", .file = "new.c", .line = 3};
	struct cache_dir *dir = get_dir();
	struct symbol_store *store;

	if (size <= CHECKSUM_AT - COUNTS_AT)
		return 0;
	write_file(dir, data, size);
	store = open_store(dir);
	for (size_t at = CHECKSUM_AT - COUNTS_AT; at + 8 <= size && at < 64 * ADDRESS_BYTES;
	     at += ADDRESS_BYTES) {
		uint64_t vaddr;

		memcpy(&vaddr, data + at, sizeof(vaddr));
		look_at(store, vaddr);
		look_at(store, vaddr + 1);
	}
	/* Enough that all is written anew, with what was there. */
	for (uint64_t i = 0; i < 200; i++)
		symbol_store_add(store, i << 8, &frame, 1);
	symbol_store_close(store, false);
	store = open_store(dir);
	if (symbol_store_find(store, 199 << 8, &frame, 1) > 1)
		abort();
	symbol_store_close(store, true);
	return 0;
}
