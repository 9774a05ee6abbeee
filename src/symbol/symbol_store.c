/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/file/cache_dir.h"
#include "base/hash_seed.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "symbol/summed_file.h"
#include "symbol/symboliser.h"

#define MAGIC "WICKSYM\n"
#define VERSION 5
/* Fewer new results are cheaper to find again than to write. */
#define WORTH_KEEPING 128
#define MAX_ADDRESSES 1000000u
#define MAX_FILE_BYTES (256u << 20)
#define NO_TEXT UINT32_MAX
#define HUGE_PAGE_BYTES (2ull << 20)

struct header {
	char magic[8];
	uint32_t version;
	uint32_t form;
	uint8_t id_size;
	uint8_t id[BUILD_ID_MAX];
	uint8_t pad[7];
	struct file_identity file;
	uint32_t addresses;
	uint32_t frames;
	uint32_t names;
	uint32_t text_bytes;
	uint64_t checksum;
};
_Static_assert(sizeof(struct header) == 128, "the header is on disk");

#define FRAME_INLINED 1u
#define FRAME_TREE_SHIFT 4 /* the bits above are the size of symbol_frame.tree */
#define FRAME_TREE_MAX (UINT16_MAX >> FRAME_TREE_SHIFT)

struct kept_frame {
	uint32_t name;
	uint32_t file; /* offset in the text; NO_TEXT */
	uint32_t line;
	uint16_t column;
	uint16_t flags;
};
_Static_assert(sizeof(struct kept_frame) == 16, "frames are on disk");

struct kept_address {
	uint64_t vaddr;
	uint64_t start; /* of the function, which is the last frame's */
	uint32_t first; /* of its frames */
	uint32_t count;
};
_Static_assert(sizeof(struct kept_address) == 24, "addresses are on disk");

struct kept_name {
	uint32_t function;    /* offsets in the text */
	uint32_t linker;      /* NO_TEXT */
	uint32_t plain_bytes; /* of the function, see symbol_frame */
};
_Static_assert(sizeof(struct kept_name) == 12, "names are on disk");

/* The content of the file, checked to be within it. */
struct kept {
	uint8_t *data;
	const struct header *header;
	const struct kept_address *addresses;
	const struct kept_frame *frames;
	const struct kept_name *names;
	const char *text;
	/*
	 * A search index: the addresses whose distance from the first, shifted, is i are
	 * addresses[starts[i] .. starts[i + 1]).
	 */
	uint32_t *starts;
	unsigned int shift;
};

/* A text by its pointer: most texts have one pointer. */
struct known_text {
	const char *text; /* borrowed */
	uint32_t at;      /* in the new text */
	bool is_first;    /* the first with this content: the one that is written */
};

struct known_name {
	const char *function;
	const char *linker;
	uint32_t id;
};

struct symbol_store {
	struct cache_dir *dir;
	char name[CACHE_NAME_MAX];
	struct header key; /* its counts are not set */
	struct kept kept;
	VEC(struct kept_address) fresh; /* frames are in order of arrival */
	VEC(struct kept_frame) frames;  /* offsets are into text, which follows the kept text */
	VEC(struct kept_name) names;
	VEC(struct known_text) known_texts;
	uint32_t text_bytes;
	struct id_index text_index;    /* by pointer */
	struct id_index content_index; /* one for each distinct text */
	VEC(struct known_name) known_names;
	struct id_index name_index;
	bool failed; /* out of memory: nothing more is kept */
};

static int read_all(int fd, uint8_t *data, size_t size)
{
	size_t at = 0;

	while (at < size) {
		ssize_t n = pread(fd, data + at, size - at, (off_t)at);

		if (n <= 0)
			return -EIO;
		at += (size_t)n;
	}
	return 0;
}

static bool is_of_key(const struct header *header, const struct header *key)
{
	return memcmp(header->magic, key->magic, sizeof(header->magic)) == 0 &&
	       header->version == key->version && header->form == key->form &&
	       header->id_size == key->id_size &&
	       memcmp(header->id, key->id, sizeof(header->id)) == 0 &&
	       memcmp(&header->file, &key->file, sizeof(header->file)) == 0;
}

static uint64_t body_bytes(const struct header *header)
{
	return (uint64_t)header->addresses * sizeof(struct kept_address) +
	       (uint64_t)header->frames * sizeof(struct kept_frame) +
	       (uint64_t)header->names * sizeof(struct kept_name) + header->text_bytes;
}

/* Whether addresses are sorted and their frames consecutive. */
static bool is_sane(const struct kept *kept)
{
	uint32_t frames = 0;

	for (uint32_t i = 0; i < kept->header->addresses; i++) {
		const struct kept_address *item = &kept->addresses[i];

		if ((i > 0 && item->vaddr <= item[-1].vaddr) || item->first != frames ||
		    item->count > kept->header->frames - frames)
			return false;
		frames += item->count;
	}
	return frames == kept->header->frames;
}

/* Locates the parts of a file and checks that it is complete. */
static int lay_out(struct kept *kept, size_t size, const struct header *key)
{
	const struct header *header = (const struct header *)kept->data;
	const uint8_t *at = kept->data + sizeof(*header);

	if (!is_of_key(header, key) || header->addresses > MAX_ADDRESSES ||
	    body_bytes(header) != size - sizeof(*header) || header->text_bytes == 0 ||
	    kept->data[size - 1] != '\0' || header->addresses == 0 ||
	    XXH3_64bits(at, size - sizeof(*header)) != header->checksum)
		return -EBADMSG;
	kept->addresses = (const struct kept_address *)at;
	at += (uint64_t)header->addresses * sizeof(struct kept_address);
	kept->frames = (const struct kept_frame *)at;
	at += (uint64_t)header->frames * sizeof(struct kept_frame);
	kept->names = (const struct kept_name *)at;
	at += (uint64_t)header->names * sizeof(struct kept_name);
	kept->text = (const char *)at;
	kept->header = header;
	return is_sane(kept) ? 0 : -EBADMSG;
}

/* Addresses are distributed evenly enough that most searches end where they begin. */
static int make_starts(struct kept *kept)
{
	uint32_t count = kept->header->addresses;
	uint64_t range =
		count > 0 ? kept->addresses[count - 1].vaddr - kept->addresses[0].vaddr : 0;
	uint32_t at = 0;

	while (range >> kept->shift > count)
		kept->shift++;
	range >>= kept->shift;
	kept->starts = malloc((range + 2) * sizeof(*kept->starts));
	if (!kept->starts)
		return -ENOMEM;
	for (uint64_t i = 0; i <= range; i++) {
		kept->starts[i] = at;
		while (at < count &&
		       (kept->addresses[at].vaddr - kept->addresses[0].vaddr) >> kept->shift <= i)
			at++;
	}
	kept->starts[range + 1] = count;
	return 0;
}

static void forget(struct kept *kept)
{
	free(kept->data);
	free(kept->starts);
	*kept = (struct kept){0};
}

/* Memory for a file. Huge pages, if available, halve the cost of filling it. */
static void *make_room(uint64_t size)
{
	uint64_t rounded = (size + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
	void *room;

	if (size < HUGE_PAGE_BYTES)
		return malloc(size);
	room = aligned_alloc(HUGE_PAGE_BYTES, rounded);
	if (room)
		(void)madvise(room, rounded, MADV_HUGEPAGE); /* only a hint */
	return room;
}

static void load(struct symbol_store *store)
{
	uint64_t size;

	SCOPED(fd) int fd = cache_dir_open(store->dir, store->name, &size);
	if (fd < 0 || size <= sizeof(struct header) || size > MAX_FILE_BYTES)
		return;
	store->kept.data = make_room(size);
	if (!store->kept.data)
		return;
	if (read_all(fd, store->kept.data, size) < 0 ||
	    lay_out(&store->kept, size, &store->key) < 0 || make_starts(&store->kept) < 0)
		forget(&store->kept);
}

struct symbol_store *symbol_store_open(struct cache_dir *dir, const struct build_id *id,
				       const struct file_identity *file, uint32_t form)
{
	char hex[2 * BUILD_ID_MAX + 1];
	struct symbol_store *store;

	if (dir->fd < 0 || id->size == 0 || file->inode == 0)
		return NULL;
	store = calloc(1, sizeof(*store));
	if (!store)
		return NULL;
	store->dir = dir;
	build_id_format(id, hex);
	/*
	 * Modules with the same build id have separate files, so that they do not evict each other.
	 */
	(void)snprintf(store->name, sizeof(store->name),
		       "%s-%" PRIu32 "-%016" PRIx64 SYMBOL_STORE_SUFFIX, hex, form,
		       (uint64_t)XXH3_64bits(file, sizeof(*file))); /* it fits */
	store->key = (struct header){
		.version = VERSION, .form = form, .id_size = id->size, .file = *file};
	memcpy(store->key.magic, MAGIC, sizeof(store->key.magic));
	memcpy(store->key.id, id->bytes, id->size);
	load(store);
	return store;
}

/* Turns an offset in the kept text into a pointer; NULL for none and if it is invalid. */
static const char *text_at(const struct kept *kept, uint32_t at)
{
	return at < kept->header->text_bytes ? kept->text + at : NULL;
}

/* Whether a name with all its bytes is within the text. */
static bool is_name_sane(const struct kept *kept, const struct kept_name *name)
{
	return name->function < kept->header->text_bytes &&
	       name->plain_bytes < kept->header->text_bytes - name->function;
}

/* NULL if the address is not kept. */
static const struct kept_address *find_kept(const struct kept *kept, uint64_t vaddr)
{
	const struct kept_address *addresses = kept->addresses;
	uint32_t count = kept->header ? kept->header->addresses : 0;
	uint32_t low, high;
	uint64_t bucket;

	if (count == 0 || vaddr < addresses[0].vaddr || vaddr > addresses[count - 1].vaddr)
		return NULL;
	bucket = (vaddr - addresses[0].vaddr) >> kept->shift;
	low = kept->starts[bucket];
	high = kept->starts[bucket + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (addresses[middle].vaddr == vaddr)
			return &addresses[middle];
		if (addresses[middle].vaddr < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* At most the length of the path. */
static uint32_t tree_of(const struct kept *kept, const struct kept_frame *frame)
{
	const char *file = text_at(kept, frame->file);
	uint32_t tree = frame->flags >> FRAME_TREE_SHIFT;

	return file && tree > 0 && strnlen(file, tree + 1ull) > tree ? tree : 0;
}

int symbol_store_find(const struct symbol_store *store, uint64_t vaddr, struct symbol_frame *frames,
		      size_t max)
{
	const struct kept *kept = &store->kept;
	const struct kept_address *found = find_kept(kept, vaddr);
	size_t count = found ? found->count : 0;

	if (!found || count > max)
		return -ENOENT;
	/* Names are scattered: their cache misses overlap. */
	for (size_t k = 0; k < count; k++)
		__builtin_prefetch(&kept->names[kept->frames[found->first + k].name]);
	for (size_t k = 0; k < count; k++) {
		const struct kept_frame *frame = &kept->frames[found->first + k];
		const struct kept_name *name = &kept->names[frame->name];

		if (frame->name >= kept->header->names || !is_name_sane(kept, name))
			return -ENOENT;
		frames[k] = (struct symbol_frame){
			.function = kept->text + name->function,
			.linker = text_at(kept, name->linker),
			.file = text_at(kept, frame->file),
			.line = frame->line,
			.column = frame->column,
			.inlined = frame->flags & FRAME_INLINED,
			.tree = tree_of(kept, frame),
			.plain_bytes = name->plain_bytes,
		};
	}
	if (count > 0)
		frames[count - 1].start = found->start;
	return (int)count;
}

/* The offset of an equal text under any pointer; else NO_TEXT. */
static uint32_t find_content(const struct symbol_store *store, const char *text, uint64_t hash)
{
	struct id_probe probe = id_index_probe(&store->content_index, hash);
	uint32_t i;

	while ((i = id_probe_next(&store->content_index, &probe)) != ID_NONE)
		if (strcmp(store->known_texts.items[i].text, text) == 0)
			return store->known_texts.items[i].at;
	return NO_TEXT;
}

static uint32_t add_text(struct symbol_store *store, const char *text)
{
	uint64_t hash = hash_pair((uintptr_t)text, 0);
	struct id_probe probe = id_index_probe(&store->text_index, hash);
	struct known_text known = {.text = text};
	uint64_t content;
	uint32_t i;

	if (!text)
		return NO_TEXT;
	while ((i = id_probe_next(&store->text_index, &probe)) != ID_NONE)
		if (store->known_texts.items[i].text == text)
			return store->known_texts.items[i].at;
	content = XXH3_64bits_withSeed(text, strlen(text), hash_seed.first);
	known.at = find_content(store, text, content);
	i = (uint32_t)store->known_texts.count;
	if (known.at == NO_TEXT) {
		known.at = store->text_bytes;
		known.is_first = true;
		store->text_bytes += (uint32_t)strlen(text) + 1;
		if (id_index_add(&store->content_index, content, i) < 0)
			store->failed = true;
	}
	if (store->text_bytes > MAX_FILE_BYTES / 2 || vec_push(&store->known_texts, known) < 0 ||
	    id_index_add(&store->text_index, hash, i) < 0)
		store->failed = true;
	return known.at;
}

static uint32_t add_name(struct symbol_store *store, const struct symbol_frame *frame)
{
	uint64_t hash = hash_pair((uintptr_t)frame->function, (uintptr_t)frame->linker);
	struct id_probe probe = id_index_probe(&store->name_index, hash);
	struct known_name known = {frame->function, frame->linker, (uint32_t)store->names.count};
	struct kept_name name = {.plain_bytes = frame->plain_bytes};
	uint32_t i;

	while ((i = id_probe_next(&store->name_index, &probe)) != ID_NONE)
		if (store->known_names.items[i].function == frame->function &&
		    store->known_names.items[i].linker == frame->linker)
			return store->known_names.items[i].id;
	name.function = add_text(store, frame->function);
	name.linker = add_text(store, frame->linker);
	if (vec_push(&store->names, name) < 0 || vec_push(&store->known_names, known) < 0 ||
	    id_index_add(&store->name_index, hash, (uint32_t)store->known_names.count - 1) < 0)
		store->failed = true;
	return known.id;
}

static uint16_t flags_of(const struct symbol_frame *frame)
{
	uint32_t tree = frame->tree <= FRAME_TREE_MAX ? frame->tree : 0;

	return (uint16_t)(tree << FRAME_TREE_SHIFT | (frame->inlined ? FRAME_INLINED : 0));
}

void symbol_store_add(struct symbol_store *store, uint64_t vaddr, const struct symbol_frame *frames,
		      size_t count)
{
	struct kept_address fresh = {vaddr, count > 0 ? frames[count - 1].start : 0,
				     (uint32_t)store->frames.count, (uint32_t)count};
	uint32_t kept = store->kept.header ? store->kept.header->addresses : 0;

	if (store->failed || store->fresh.count + kept >= MAX_ADDRESSES)
		return;
	for (size_t i = 0; i < count; i++) {
		struct kept_frame frame = {
			.name = add_name(store, &frames[i]),
			.file = add_text(store, frames[i].file),
			.line = frames[i].line,
			.column = frames[i].column > UINT16_MAX ? 0 : (uint16_t)frames[i].column,
			.flags = flags_of(&frames[i]),
		};

		if (vec_push(&store->frames, frame) < 0)
			store->failed = true;
	}
	if (vec_push(&store->fresh, fresh) < 0)
		store->failed = true;
}

static int compare_fresh(const void *a, const void *b)
{
	const struct kept_address *x = a;
	const struct kept_address *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Merges old and new results in order; new frames follow the old ones. */
static struct kept_address *merge(struct symbol_store *store, uint32_t *ret_count)
{
	const struct kept *kept = &store->kept;
	size_t old_count = kept->header ? kept->header->addresses : 0;
	uint32_t old_frames = kept->header ? kept->header->frames : 0;
	struct kept_address *all = calloc(old_count + store->fresh.count, sizeof(*all));
	size_t old = 0;
	size_t new = 0;
	uint32_t n = 0;

	if (!all)
		return NULL;
	qsort(store->fresh.items, store->fresh.count, sizeof(*store->fresh.items), compare_fresh);
	while (old < old_count || new < store->fresh.count) {
		const struct kept_address *fresh = &store->fresh.items[new];
		bool is_old = new == store->fresh.count ||
			      (old < old_count && kept->addresses[old].vaddr <= fresh->vaddr);
		struct kept_address item =
			is_old ? kept->addresses[old]
			       : (struct kept_address){fresh->vaddr, fresh->start,
						       old_frames + fresh->first, fresh->count};

		old += is_old;
		new += !is_old;
		/* A result that was evicted from memory and looked up again may occur twice. */
		if (n == 0 || all[n - 1].vaddr != item.vaddr)
			all[n++] = item;
	}
	*ret_count = n;
	return all;
}

static struct kept_frame frame_at(const struct symbol_store *store, uint32_t i)
{
	const struct header *old = store->kept.header;
	struct kept_frame frame;

	if (old && i < old->frames)
		return store->kept.frames[i];
	frame = store->frames.items[i - (old ? old->frames : 0)];
	if (old) {
		frame.name += old->names;
		frame.file += frame.file == NO_TEXT ? 0 : old->text_bytes;
	}
	return frame;
}

static void put_frames(const struct symbol_store *store, const struct kept_address *all,
		       uint32_t count, struct summed_file *out)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct kept_address item = {all[i].vaddr, all[i].start, first, all[i].count};

		summed_file_put(out, &item, sizeof(item));
		first += all[i].count;
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < all[i].count; k++) {
			struct kept_frame frame = frame_at(store, all[i].first + k);

			summed_file_put(out, &frame, sizeof(frame));
		}
	}
}

static void put_names(const struct symbol_store *store, struct summed_file *out)
{
	const struct header *old = store->kept.header;

	if (old)
		summed_file_put(out, store->kept.names,
				(size_t)old->names * sizeof(struct kept_name));
	for (size_t i = 0; i < store->names.count; i++) {
		struct kept_name name = store->names.items[i];

		name.function += old ? old->text_bytes : 0;
		name.linker += old && name.linker != NO_TEXT ? old->text_bytes : 0;
		summed_file_put(out, &name, sizeof(name));
	}
	if (old)
		summed_file_put(out, store->kept.text, old->text_bytes);
	for (size_t i = 0; i < store->known_texts.count; i++) {
		const struct known_text *known = &store->known_texts.items[i];

		if (known->is_first)
			summed_file_put(out, known->text, strlen(known->text) + 1);
	}
}

static void write_file(struct symbol_store *store)
{
	const struct header *old = store->kept.header;
	struct header header = store->key;
	struct summed_file out;
	uint32_t count;
	SCOPED(mem) struct kept_address *all = merge(store, &count);

	if (!all)
		return;
	header.addresses = count;
	for (uint32_t i = 0; i < count; i++)
		header.frames += all[i].count;
	header.names = (old ? old->names : 0) + (uint32_t)store->names.count;
	header.text_bytes = (old ? old->text_bytes : 0) + store->text_bytes;
	/* Without any text, nothing was found at all. */
	if (header.text_bytes == 0 || sizeof(header) + body_bytes(&header) > MAX_FILE_BYTES ||
	    !summed_file_begin(&out, store->dir, &header, sizeof(header)))
		return;
	put_frames(store, all, count, &out);
	put_names(store, &out);
	header.checksum = summed_file_checksum(&out);
	summed_file_finish(&out, store->name, &header, sizeof(header));
}

void symbol_store_close(struct symbol_store *store, bool is_partial)
{
	if (!store)
		return;
	if (store->fresh.count >= WORTH_KEEPING && !store->failed && !is_partial)
		write_file(store);
	forget(&store->kept);
	vec_fini(&store->fresh);
	vec_fini(&store->frames);
	vec_fini(&store->names);
	vec_fini(&store->known_texts);
	id_index_fini(&store->text_index);
	id_index_fini(&store->content_index);
	vec_fini(&store->known_names);
	id_index_fini(&store->name_index);
	free(store);
}
