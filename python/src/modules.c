/* SPDX-License-Identifier: BSD-2-Clause */
#include "modules.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "known_walks.h"

struct module {
	uint64_t low;
	uint64_t high;
	uint64_t base;  /* what was added to the addresses of the file */
	uint32_t path;  /* place of its text */
	uint32_t round; /* of the last scan that saw it */
	bool is_gone;
};

static struct {
	pthread_mutex_t lock;
	struct trace_array items;
	uint32_t count;
	struct trace_array texts;
	size_t text_bytes;
	uint32_t round;
	uint64_t loads; /* as the dynamic linker counts them, at the last scan */
	uint64_t unloads;
	bool is_scanned;
	uint32_t gone;                   /* modules that are gone */
	uint32_t gone_seen[TABLE_COUNT]; /* of these, those whose frames in a table have ended */
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER,
	     .items = {.item_bytes = sizeof(struct module)},
	     .texts = {.item_bytes = 1}};

void modules_lock(void)
{
	tracer_thread.locks++;
	pthread_mutex_lock(&modules.lock);
}

void modules_unlock(void)
{
	pthread_mutex_unlock(&modules.lock);
	tracer_thread.locks--;
}

static struct module *module_at(uint32_t id)
{
	return (struct module *)modules.items.items + id;
}

/* Copies a text; returns false without memory. */
static bool keep_text(const char *text, uint32_t *ret)
{
	size_t bytes = strlen(text) + 1;

	if (modules.text_bytes + bytes >= UINT32_MAX ||
	    trace_array_reserve(&tracer.memory, &modules.texts, modules.text_bytes + bytes) < 0)
		return false;
	memcpy((char *)modules.texts.items + modules.text_bytes, text, bytes);
	*ret = (uint32_t)modules.text_bytes;
	modules.text_bytes += bytes;
	return true;
}

static const char *text_at(uint32_t place)
{
	return (const char *)modules.texts.items + place;
}

static bool find_bounds(const struct dl_phdr_info *info, struct module *module)
{
	module->low = UINT64_MAX;
	module->high = 0;
	for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		module->low = low < module->low ? low : module->low;
		module->high =
			low + header->p_memsz > module->high ? low + header->p_memsz : module->high;
	}
	return module->low < module->high;
}

/* The program itself has no name in the linker's list. */
static const char *path_of(const struct dl_phdr_info *info, char *room, size_t room_bytes)
{
	ssize_t bytes;

	if (info->dlpi_name && info->dlpi_name[0])
		return info->dlpi_name;
	bytes = readlink("/proc/self/exe", room, room_bytes - 1);
	room[bytes > 0 ? bytes : 0] = '\0';
	return room;
}

static void add_module(const struct dl_phdr_info *info)
{
	struct module module = {.base = info->dlpi_addr, .round = modules.round};
	char room[1024];
	const char *path = path_of(info, room, sizeof(room));

	if (!find_bounds(info, &module))
		return;
	for (uint32_t id = 0; id < modules.count; id++) {
		struct module *known = module_at(id);

		if (known->is_gone || known->low != module.low || known->high != module.high ||
		    strcmp(text_at(known->path), path) != 0)
			continue;
		known->round = modules.round;
		return;
	}
	if (trace_array_reserve(&tracer.memory, &modules.items, (size_t)modules.count + 1) == 0 &&
	    keep_text(path, &module.path))
		*module_at(modules.count++) = module;
}

/* Another thread cannot be scanning: the dynamic linker has its list locked. */
static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
	bool *is_first = data;
	bool is_known;

	(void)size;
	modules_lock();
	is_known = *is_first && modules.is_scanned && modules.loads == info->dlpi_adds &&
		   modules.unloads == info->dlpi_subs;
	if (*is_first && !is_known) {
		modules.round++;
		modules.loads = info->dlpi_adds;
		modules.unloads = info->dlpi_subs;
		modules.is_scanned = true;
	}
	if (!is_known)
		add_module(info);
	modules_unlock();
	*is_first = false;
	return is_known;
}

/* Brings the list up to date. Returns whether it has changed. */
static bool scan(void)
{
	bool is_first = true;

	if (dl_iterate_phdr(look_at_module, &is_first) != 0)
		return false;
	modules_lock();
	for (uint32_t id = 0; id < modules.count; id++) {
		struct module *module = module_at(id);

		if (module->is_gone || module->round == modules.round)
			continue;
		module->is_gone = true;
		known_walks_forget();
		modules.gone++;
	}
	modules_unlock();
	return true;
}

/* The number of the module at an address + 1; 0: none. */
static uint32_t find(uint64_t address)
{
	for (uint32_t id = 0; id < modules.count; id++) {
		const struct module *module = module_at(id);

		if (!module->is_gone && address - module->low < module->high - module->low)
			return id + 1;
	}
	return 0;
}

/* Notes the modules of new frames. */
static void name_frames(const struct trace_tree *tree, uint32_t first)
{
	for (uint32_t id = first; id < tree->frame_count; id++)
		if (trace_frame(tree, id)->is_native)
			trace_frame(tree, id)->code = find(trace_frame(tree, id)->word - 1);
}

/* Other code may be at the addresses of modules that are gone. */
static void end_frames(struct trace_tree *tree)
{
	for (uint32_t id = 0; id < tree->frame_count; id++) {
		uint32_t module = trace_frame(tree, id)->code;

		if (trace_frame(tree, id)->is_native && module != 0 &&
		    module_at(module - 1)->is_gone)
			trace_frame_end(tree, id);
	}
}

bool modules_name_stacks(enum tracer_table_id id)
{
	struct tracer_table *table = &tracer.tables[id];
	struct trace_tree *tree = &table->sites.tree;
	bool is_changed = scan();

	tracer_lock(&tracer.tables[id]);
	modules_lock();
	name_frames(tree, table->frames_named);
	table->frames_named = tree->frame_count;
	table->stacks_named = table->sites.stack_count;
	if (modules.gone_seen[id] != modules.gone)
		end_frames(tree);
	modules.gone_seen[id] = modules.gone;
	modules_unlock();
	tracer_unlock(&tracer.tables[id]);
	return is_changed;
}

PyObject *modules_place(enum tracer_table_id id, uint32_t frame)
{
	struct trace_tree *tree = &tracer.tables[id].sites.tree;
	struct module module = {0};
	char path[1024] = "";
	uint64_t address;
	uint32_t number;

	tracer_lock(&tracer.tables[id]);
	modules_lock();
	address = trace_frame(tree, frame)->word;
	number = trace_frame(tree, frame)->code;
	if (number != 0) {
		module = *module_at(number - 1);
		strncpy(path, text_at(module.path), sizeof(path) - 1);
	}
	modules_unlock();
	tracer_unlock(&tracer.tables[id]);
	if (number == 0)
		return Py_BuildValue("(OK)", Py_None, (unsigned long long)address);
	return Py_BuildValue("(NK)", PyUnicode_DecodeFSDefault(path),
			     (unsigned long long)(address - module.base));
}
