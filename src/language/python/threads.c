/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/threads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "language/python/layout.h"
#include "language/python/text.h"
#include "unwind/python_thread.h"
#include "unwind/python_walk.h"

/* Of all objects, of modules, of classes and of dictionaries: the same in all versions. */
#define OBJECT_CLASS 8u
#define MODULE_DICT 16u
#define CLASS_INSTANCE_BYTES 32u
#define CLASS_FLAGS 168u
#define CLASS_DICT_OFFSET 288u
#define DICT_KEYS 32u
#define DICT_VALUES 40u
#define INTEGER_SIZE 16u
#define INTEGER_DIGIT 24u

#define FLAG_INSIDE (1ull << 2)  /* attributes are in the object */
#define FLAG_MANAGED (1ull << 4) /* the pointer to its dictionary is before the object */
#define FLAG_INTEGER (1ull << 24)
#define FLAG_TEXT (1ull << 28)
#define FLAG_DICT (1ull << 29)

/* Before an object: */
#define BEFORE_DICT 24u
#define BEFORE_VALUES 32u

#define ENTRIES_MAX (1u << 16)
#define THREADS_MAX 4096u
#define ATTRIBUTES_MAX 256u
#define NAME_CHARACTERS_MAX 128u

struct objects {
	const struct python_structs *structs;
	const struct python_reader *reader;
};

/* The entries of a dictionary. */
struct entries {
	uint64_t first;
	uint64_t values; /* of an array with their values; 0: they are in the entries */
	uint32_t count;
	uint32_t bytes;     /* of one entry */
	uint32_t key_place; /* in an entry; a value without an array follows it */
};

static bool word_at(const struct objects *objects, uint64_t address, uint64_t *ret)
{
	return python_read_word(objects->reader, address, ret);
}

/* Whether the class of an object has this flag. 0 is no object. */
static bool has_flag(const struct objects *objects, uint64_t object, uint64_t flag)
{
	uint64_t class;
	uint64_t flags;

	return object != 0 && word_at(objects, object + OBJECT_CLASS, &class) &&
	       word_at(objects, class + CLASS_FLAGS, &flags) && (flags & flag) != 0;
}

/* Until 3.10: the number of slots, of which each has an index of 1 to 8 bytes. */
static bool open_large_keys(const uint64_t *head, uint64_t keys, struct entries *ret)
{
	uint64_t slots = head[1];
	uint64_t index_bytes = slots <= 0xff ? 1 : slots <= 0xffff ? 2 : 4;

	ret->first = keys + 5 * sizeof(uint64_t) + slots * index_bytes;
	ret->bytes = 3 * sizeof(uint64_t);
	ret->key_place = sizeof(uint64_t);
	ret->count = (uint32_t)head[4];
	return slots <= ENTRIES_MAX * 2 && head[4] <= slots;
}

/* Since 3.11: logarithms of the number of slots and of the bytes of their indexes, and a kind. */
static bool open_small_keys(const uint64_t *head, uint64_t keys, struct entries *ret)
{
	uint8_t slots = (uint8_t)head[1];
	uint8_t index_bytes = (uint8_t)(head[1] >> 8);
	bool has_hashes = (uint8_t)(head[1] >> 16) == 0;

	if (slots > 17 || index_bytes > 20)
		return false;
	ret->first = keys + 4 * sizeof(uint64_t) + (1ull << index_bytes);
	ret->bytes = (has_hashes ? 3 : 2) * sizeof(uint64_t);
	ret->key_place = has_hashes ? sizeof(uint64_t) : 0;
	ret->count = (uint32_t)head[3];
	return head[3] <= 1ull << slots;
}

static bool open_keys(const struct objects *objects, uint64_t keys, uint64_t values,
		      struct entries *ret)
{
	uint64_t head[5];

	ret->values = values;
	if (keys == 0 || !objects->reader->read(objects->reader->context, keys, head, sizeof(head)))
		return false;
	return (objects->structs->objects.small_keys ? open_small_keys(head, keys, ret)
						     : open_large_keys(head, keys, ret)) &&
	       ret->count <= ENTRIES_MAX;
}

static bool open_dict(const struct objects *objects, uint64_t dict, struct entries *ret)
{
	uint64_t keys;
	uint64_t values;

	if (!has_flag(objects, dict, FLAG_DICT) || !word_at(objects, dict + DICT_KEYS, &keys) ||
	    !word_at(objects, dict + DICT_VALUES, &values))
		return false;
	return open_keys(objects, keys, values != 0 ? values + objects->structs->objects.values : 0,
			 ret);
}

/* The value of an entry; 0: it has none, or cannot be read. */
static uint64_t value_of(const struct objects *objects, const struct entries *entries, uint32_t i)
{
	uint64_t place = entries->values != 0 ? entries->values + (uint64_t)i * sizeof(uint64_t)
					      : entries->first + (uint64_t)i * entries->bytes +
							entries->key_place + sizeof(uint64_t);
	uint64_t value;

	return word_at(objects, place, &value) ? value : 0;
}

/* The value of a name; 0: there is none. */
static uint64_t find_value(const struct objects *objects, const struct entries *entries,
			   const char *name)
{
	const struct python_code_layout *texts = &objects->structs->code;
	uint64_t key;

	for (uint32_t i = 0; i < entries->count; i++) {
		if (!word_at(objects,
			     entries->first + (uint64_t)i * entries->bytes + entries->key_place,
			     &key))
			return 0;
		if (has_flag(objects, key, FLAG_TEXT) &&
		    python_text_equals(texts, objects->reader, key, name))
			return value_of(objects, entries, i);
	}
	return 0;
}

static bool open_class_keys(const struct objects *objects, uint64_t class, uint64_t values,
			    struct entries *ret)
{
	uint64_t keys;

	return word_at(objects, class + objects->structs->objects.class_keys, &keys) &&
	       open_keys(objects, keys, values, ret);
}

/* Attributes to which pointers before the object lead. */
static bool open_managed(const struct objects *objects, uint64_t object, uint64_t class,
			 struct entries *ret)
{
	uint64_t values;
	uint64_t dict;

	if (objects->structs->objects.attributes == PYTHON_ATTRIBUTES_BEFORE) {
		if (!word_at(objects, object - BEFORE_VALUES, &values))
			return false;
		if (values != 0)
			return open_class_keys(objects, class, values, ret);
	}
	if (!word_at(objects, object - BEFORE_DICT, &dict))
		return false;
	if (objects->structs->objects.attributes == PYTHON_ATTRIBUTES_TAGGED && (dict & 1))
		return open_class_keys(objects, class, dict + 1, ret);
	return open_dict(objects, dict, ret);
}

/* Attributes in the object: a word that ends with a flag, which says whether they still count. */
static bool open_inside(const struct objects *objects, uint64_t object, uint64_t class,
			struct entries *ret)
{
	uint64_t instance_bytes;
	uint64_t head;

	if (!word_at(objects, class + CLASS_INSTANCE_BYTES, &instance_bytes) ||
	    instance_bytes > 0x10000 || !word_at(objects, object + instance_bytes, &head))
		return false;
	if ((head >> 24 & 0xff) != 1)
		return open_managed(objects, object, class, ret);
	return open_class_keys(objects, class,
			       object + instance_bytes + objects->structs->objects.values, ret);
}

static bool open_attributes(const struct objects *objects, uint64_t object, struct entries *ret)
{
	enum python_attributes kind = objects->structs->objects.attributes;
	uint64_t offset;
	uint64_t class;
	uint64_t flags;
	uint64_t dict;

	if (object == 0 || !word_at(objects, object + OBJECT_CLASS, &class) ||
	    !word_at(objects, class + CLASS_FLAGS, &flags))
		return false;
	if (kind == PYTHON_ATTRIBUTES_INSIDE && (flags & FLAG_INSIDE))
		return open_inside(objects, object, class, ret);
	if (kind != PYTHON_ATTRIBUTES_DICT && (flags & FLAG_MANAGED))
		return open_managed(objects, object, class, ret);
	return word_at(objects, class + CLASS_DICT_OFFSET, &offset) && offset != 0 &&
	       offset <= 0x10000 && word_at(objects, object + offset, &dict) &&
	       open_dict(objects, dict, ret);
}

/* The value of an integer of one digit; 0: it has none or more. */
static uint32_t integer_of(const struct objects *objects, uint64_t object)
{
	uint64_t size;
	uint64_t digit;

	if (!has_flag(objects, object, FLAG_INTEGER) ||
	    !word_at(objects, object + INTEGER_SIZE, &size) ||
	    !word_at(objects, object + INTEGER_DIGIT, &digit))
		return 0;
	return size == 1ull << objects->structs->objects.digit_shift ? (uint32_t)digit : 0;
}

/* Names that Python made up for threads that the program did not start. */
static bool is_made_up(const char *name)
{
	return strcmp(name, "MainThread") == 0 || strncmp(name, "Dummy-", strlen("Dummy-")) == 0;
}

static void tell_thread(const struct objects *objects, uint64_t thread, language_thread_fn *name,
			void *self)
{
	struct entries attributes;
	uint64_t text;
	uint32_t tid;
	char *copy;

	if (!open_attributes(objects, thread, &attributes) || attributes.count > ATTRIBUTES_MAX)
		return;
	tid = integer_of(objects, find_value(objects, &attributes, "_native_id"));
	text = find_value(objects, &attributes, "_name");
	if (tid == 0 || !has_flag(objects, text, FLAG_TEXT) ||
	    python_text_read(&objects->structs->code, objects->reader, text, NAME_CHARACTERS_MAX,
			     &copy) < 0)
		return;
	if (copy[0] != '\0' && !is_made_up(copy))
		name(self, tid, copy);
	free(copy);
}

/* The dictionary threading._active; 0: the program has not imported threading. */
static uint64_t find_active(const struct objects *objects, uint64_t modules)
{
	struct entries entries;
	uint64_t module;
	uint64_t dict;

	if (!open_dict(objects, modules, &entries))
		return 0;
	module = find_value(objects, &entries, "threading");
	if (module == 0 || !word_at(objects, module + MODULE_DICT, &dict) ||
	    !open_dict(objects, dict, &entries))
		return 0;
	return find_value(objects, &entries, "_active");
}

/* Interpreters are listed newest first; 0: there is none yet. */
static uint64_t main_interpreter(const struct objects *objects)
{
	const struct python_layout *frames = &objects->structs->frames;
	uint64_t next = frames->runtime + frames->interpreters - frames->interpreter_next;
	uint64_t found = 0;

	for (uint32_t i = 0; i < PYTHON_MAX_INTERPRETERS; i++) {
		if (!word_at(objects, next + frames->interpreter_next, &next) || next == 0)
			break;
		found = next;
	}
	return found;
}

void python_threads_names(const struct python_structs *structs, const struct python_reader *reader,
			  struct python_thread_list *list, language_thread_fn *name, void *self)
{
	struct objects objects = {structs, reader};
	struct entries threads;
	uint64_t interpreter;
	uint64_t modules;

	if (structs->objects.modules == 0)
		return;
	interpreter = main_interpreter(&objects);
	if (interpreter == 0 ||
	    !word_at(&objects, interpreter + structs->objects.modules, &modules))
		return;
	if (list->active == 0 || list->modules != modules)
		*list = (struct python_thread_list){modules, find_active(&objects, modules)};
	if (list->active == 0 || !open_dict(&objects, list->active, &threads) ||
	    threads.count > THREADS_MAX)
		return;
	for (uint32_t i = 0; i < threads.count; i++)
		tell_thread(&objects, value_of(&objects, &threads, i), name, self);
}
