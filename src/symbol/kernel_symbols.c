/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/kernel_symbols.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash_seed.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "symbol/address_sort.h"

/*
 * A line of /proc/kallsyms: address, type, name, and the module if any:
 *
 *	ffff800080010000 T _stext
 *	ffff80007a5c1000 t ext4_init_fs\t[ext4]
 */

#define READ_BYTES (256u << 10)
#define MAX_NAMES_BYTES (1u << 30)
#define KERNEL_PAGE_BYTES 4096u

/* Order of preference among names of one address: the lower value wins. */
enum binding_rank { RANK_GLOBAL, RANK_WEAK, RANK_LOCAL };

struct entry {
	uint32_t name;
	uint32_t module;
	uint32_t size; /* 0: up to the next symbol */
};

struct candidate {
	uint64_t start;
	struct entry entry;
	uint32_t rank;
};

struct span {
	const char *text;
	size_t size;
};

struct kernel_symbols {
	struct bytes names;    /* names and module names, NUL-terminated */
	struct id_index index; /* of module names */
	VEC(uint32_t) modules; /* offsets in names; 0 is "", the kernel itself */
	uint32_t last_module;
	VEC(struct candidate) candidates; /* until finished */
	VEC(uint64_t) starts;
	VEC(struct entry) entries;
	bool finished;
};

static void scope_release_kernel_symbols(struct kernel_symbols **symbols)
{
	kernel_symbols_free(*symbols);
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	bytes_fini(&symbols->names);
	id_index_fini(&symbols->index);
	vec_fini(&symbols->modules);
	vec_fini(&symbols->candidates);
	vec_fini(&symbols->starts);
	vec_fini(&symbols->entries);
	free(symbols);
}

static const char *name_at(const struct kernel_symbols *symbols, uint32_t offset)
{
	return (const char *)symbols->names.data + offset;
}

static int put_name(struct kernel_symbols *symbols, struct span name, uint32_t *ret)
{
	uint8_t *place;

	if (name.size >= MAX_NAMES_BYTES || symbols->names.size > MAX_NAMES_BYTES)
		return -EFBIG;
	place = bytes_reserve(&symbols->names, name.size + 1);
	if (!place)
		return -ENOMEM;
	memcpy(place, name.text, name.size);
	place[name.size] = '\0';
	*ret = (uint32_t)symbols->names.size;
	symbols->names.size += name.size + 1;
	return 0;
}

static bool is_module(const struct kernel_symbols *symbols, uint32_t module, struct span name)
{
	const char *known = name_at(symbols, symbols->modules.items[module]);

	return strncmp(known, name.text, name.size) == 0 && known[name.size] == '\0';
}

static int intern_module(struct kernel_symbols *symbols, struct span name, uint32_t *ret)
{
	struct id_probe probe;
	uint64_t hash;
	uint32_t offset, id;
	int r;

	/* Symbols of a module are adjacent. */
	if (is_module(symbols, symbols->last_module, name)) {
		*ret = symbols->last_module;
		return 0;
	}
	hash = XXH3_64bits_withSeed(name.text, name.size, hash_seed.first);
	probe = id_index_probe(&symbols->index, hash);
	while ((id = id_probe_next(&symbols->index, &probe)) != ID_NONE)
		if (is_module(symbols, id, name))
			break;
	if (id == ID_NONE) {
		id = (uint32_t)symbols->modules.count;
		r = put_name(symbols, name, &offset);
		if (r < 0)
			return r;
		if (vec_push(&symbols->modules, offset) < 0 ||
		    id_index_add(&symbols->index, hash, id) < 0)
			return -ENOMEM;
	}
	*ret = symbols->last_module = id;
	return 0;
}

static int add(struct kernel_symbols *symbols, uint64_t start, uint32_t rank, struct span name,
	       struct span module)
{
	struct candidate candidate = {.start = start, .rank = rank};
	int r;

	if (name.size == 0 || name.text[0] == '$')
		return 0; /* $x, $d: marks for disassemblers */
	r = put_name(symbols, name, &candidate.entry.name);
	if (r < 0)
		return r;
	if (module.size || symbols->last_module != 0) {
		r = intern_module(symbols, module, &candidate.entry.module);
		if (r < 0)
			return r;
	}
	return vec_push(&symbols->candidates, candidate);
}

struct kernel_symbols *kernel_symbols_new(void)
{
	SCOPED(kernel_symbols) struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	uint32_t offset = 0;

	if (!symbols || put_name(symbols, (struct span){"", 0}, &offset) < 0 ||
	    vec_push(&symbols->modules, offset) < 0 ||
	    id_index_add(&symbols->index, XXH3_64bits_withSeed("", 0, hash_seed.first), 0) < 0)
		return NULL;
	return scope_take(&symbols);
}

int kernel_symbols_add(struct kernel_symbols *symbols, uint64_t start, uint64_t size,
		       const char *name, const char *module)
{
	size_t before = symbols->candidates.count;
	int r;

	assert(!symbols->finished);
	if (!module)
		module = "";
	r = add(symbols, start, RANK_GLOBAL, (struct span){name, strlen(name)},
		(struct span){module, strlen(module)});
	if (r == 0 && symbols->candidates.count > before)
		symbols->candidates.items[before].entry.size =
			size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	return r;
}

static bool is_better(const struct kernel_symbols *symbols, const struct candidate *a,
		      const struct candidate *b)
{
	const char *name_a = name_at(symbols, a->entry.name);
	const char *name_b = name_at(symbols, b->entry.name);
	size_t size_a, size_b;

	if (a->rank != b->rank)
		return a->rank < b->rank;
	size_a = strspn(name_a, "_");
	size_b = strspn(name_b, "_");
	if (size_a != size_b)
		return size_a < size_b;
	size_a = strlen(name_a);
	size_b = strlen(name_b);
	if (size_a != size_b)
		return size_a < size_b;
	return strcmp(name_a, name_b) < 0;
}

/* Moves the best candidate of each address into the table. */
static int keep_best(struct kernel_symbols *symbols, const struct address_ref *refs, size_t count)
{
	if (vec_reserve(&symbols->starts, count) < 0 || vec_reserve(&symbols->entries, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count;) {
		const struct candidate *best = &symbols->candidates.items[refs[i].index];

		while (++i < count && refs[i].address == best->start) {
			const struct candidate *other = &symbols->candidates.items[refs[i].index];

			if (is_better(symbols, other, best))
				best = other;
		}
		symbols->starts.items[symbols->starts.count++] = best->start;
		symbols->entries.items[symbols->entries.count++] = best->entry;
	}
	return 0;
}

int kernel_symbols_finish(struct kernel_symbols *symbols)
{
	size_t count = symbols->candidates.count;
	SCOPED(mem) struct address_ref *refs = malloc(count * sizeof(*refs) + 1);

	assert(!symbols->finished);
	if (!refs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		refs[i] = (struct address_ref){symbols->candidates.items[i].start, (uint32_t)i};
	if (address_sort(refs, count) < 0 || keep_best(symbols, refs, count) < 0)
		return -ENOMEM;
	vec_fini(&symbols->candidates);
	symbols->finished = true;
	return 0;
}

size_t kernel_symbols_count(const struct kernel_symbols *symbols)
{
	return symbols->starts.count;
}

struct kernel_symbol kernel_symbols_at(const struct kernel_symbols *symbols, size_t i)
{
	struct entry entry = symbols->entries.items[i];
	uint64_t start = symbols->starts.items[i];
	bool is_last = i + 1 == symbols->starts.count;
	uint64_t room = is_last ? UINT64_MAX - start : symbols->starts.items[i + 1] - start;

	if (is_last || symbols->entries.items[i + 1].module != entry.module) {
		uint64_t page_end = 2 * KERNEL_PAGE_BYTES - start % KERNEL_PAGE_BYTES;

		room = room < page_end ? room : page_end;
	}
	if (entry.size > 0)
		room = entry.size;
	return (struct kernel_symbol){
		.start = start,
		.size = room,
		.name = name_at(symbols, entry.name),
		.module = name_at(symbols, symbols->modules.items[entry.module]),
	};
}

bool kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
			 struct kernel_symbol *ret)
{
	size_t i = address_upper_bound(symbols->starts.items, symbols->starts.count, address);
	struct kernel_symbol symbol;

	if (i == 0)
		return false;
	symbol = kernel_symbols_at(symbols, i - 1);
	if (address - symbol.start >= symbol.size)
		return false;
	*ret = symbol;
	return true;
}

/* The text up to either delimiter; *at is left on the delimiter or at end. */
static struct span take_word(const char **at, const char *end)
{
	const char *start = *at;

	while (*at < end && **at != ' ' && **at != '\t')
		++*at;
	return (struct span){start, (size_t)(*at - start)};
}

static bool take_address(const char **at, const char *end, uint64_t *ret)
{
	const char *start = *at;
	uint64_t value = 0;

	for (; *at < end && **at != ' '; ++*at) {
		unsigned int c = (unsigned char)**at;

		if (c - '0' < 10)
			value = value << 4 | (c - '0');
		else if ((c | 32) - 'a' < 6)
			value = value << 4 | ((c | 32) - 'a' + 10);
		else
			return false;
	}
	*ret = value;
	return *at > start && *at - start <= 16;
}

static int text_rank(char type)
{
	switch (type) {
	case 'T':
		return RANK_GLOBAL;
	case 'W':
	case 'w':
		return RANK_WEAK;
	case 't':
		return RANK_LOCAL;
	default:
		return -1;
	}
}

struct reading {
	struct kernel_symbols *symbols;
	bool saw_address; /* one that is not zero */
	bool saw_line;
};

/* Parses one line without its newline. Lines in another format are ignored. */
static int parse_line(struct reading *reading, const char *at, const char *end)
{
	struct span module = {"", 0};
	struct span name;
	uint64_t start;
	int rank;

	if (!take_address(&at, end, &start) || end - at < 4 || at[2] != ' ')
		return 0;
	reading->saw_line = true;
	reading->saw_address |= start != 0;
	rank = text_rank(at[1]);
	if (rank < 0 || start == 0)
		return 0;
	at += 3;
	name = take_word(&at, end);
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (end - at > 2 && *at == '[' && end[-1] == ']')
		module = (struct span){at + 1, (size_t)(end - at) - 2};
	return add(reading->symbols, start, (uint32_t)rank, name, module);
}

/* Parses the whole lines of text. Returns the number of bytes used. */
static ssize_t parse_lines(struct reading *reading, const char *text, size_t size)
{
	const char *at = text;
	const char *end = text + size;
	const char *newline;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		int r = parse_line(reading, at, newline);

		if (r < 0)
			return r;
		at = newline + 1;
	}
	return at - text;
}

static int parse_file(struct reading *reading, int fd)
{
	SCOPED(mem) char *buffer = malloc(READ_BYTES);
	size_t kept = 0;

	if (!buffer)
		return -ENOMEM;
	for (;;) {
		ssize_t got = read(fd, buffer + kept, READ_BYTES - kept);
		ssize_t used;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return parse_line(reading, buffer, buffer + kept);
		kept += (size_t)got;
		used = parse_lines(reading, buffer, kept);
		if (used < 0)
			return (int)used;
		kept -= (size_t)used;
		memmove(buffer, buffer + used, kept);
		if (kept == READ_BYTES)
			return -EINVAL; /* no line is that long */
	}
}

int kernel_symbols_read(const char *path, struct kernel_symbols **ret, struct error *err)
{
	SCOPED(kernel_symbols) struct kernel_symbols *symbols = kernel_symbols_new();
	struct reading reading = {.symbols = symbols};
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int r;

	if (fd < 0)
		return error_file(err, -errno, "%s", path);
	if (!symbols)
		return error_set(err, -ENOMEM, "%s: out of memory", path);
	r = parse_file(&reading, fd);
	if (r < 0)
		return error_file(err, r, "%s", path);
	if (reading.saw_line && !reading.saw_address) {
		r = error_set(err, -EPERM, "%s: the kernel hides its addresses (kptr_restrict)",
			      path);
		error_remedy(err, "run as root, or: sysctl kernel.kptr_restrict=0 "
				  "kernel.perf_event_paranoid=1");
		return r;
	}
	if (symbols->candidates.count == 0)
		return error_advise(err, error_set(err, -ENODATA, "%s: no kernel symbols", path),
				    "name a file like /proc/kallsyms; a kernel without "
				    "CONFIG_KALLSYMS has no symbols");
	r = kernel_symbols_finish(symbols);
	if (r < 0)
		return error_file(err, r, "%s", path);
	*ret = scope_take(&symbols);
	return 0;
}
