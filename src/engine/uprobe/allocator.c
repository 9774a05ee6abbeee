/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/uprobe/allocator.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cfi/probe_place.h"
#include "elf/elf.h"
#include "elf/elf_function.h"
#include "model/heap_event.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "proc/process_info.h"

#define PRELOAD_NAME "libwick-preload"
#define NAME_BYTES 64u
/* Assumed length of a function without a size. */
#define USUAL_BYTES 256u
/* A function that is larger is probed at its first byte. */
#define MOST_CODE_BYTES 16384u
/* Functions further apart are not one piece of code. */
#define WHOLE_BYTES 65536u

struct function {
	const char *name;
	uint8_t shape; /* enum bpf_heap_shape */
	uint8_t call;  /* enum heap_call */
};

/* An allocator must have the first two. */
#define NEEDED 2u
static const struct function functions[] = {
	{"malloc", BPF_HEAP_SIZE, HEAP_MALLOC},
	{"free", BPF_HEAP_FREE, HEAP_MALLOC},
	{"calloc", BPF_HEAP_COUNT_SIZE, HEAP_CALLOC},
	{"realloc", BPF_HEAP_RESIZE, HEAP_REALLOC},
	{"reallocarray", BPF_HEAP_RESIZE_MANY, HEAP_REALLOC},
	{"posix_memalign", BPF_HEAP_OUT, HEAP_ALIGNED},
	{"aligned_alloc", BPF_HEAP_ALIGN_SIZE, HEAP_ALIGNED},
	{"memalign", BPF_HEAP_ALIGN_SIZE, HEAP_ALIGNED},
	{"valloc", BPF_HEAP_SIZE, HEAP_ALIGNED},
	{"pvalloc", BPF_HEAP_SIZE, HEAP_ALIGNED},
	{"cfree", BPF_HEAP_FREE, HEAP_MALLOC},
	{"free_sized", BPF_HEAP_FREE, HEAP_MALLOC},
	{"free_aligned_sized", BPF_HEAP_FREE, HEAP_ALIGNED},
	/* operator new, new[], delete, delete[] with all parameters. */
	{"_Znwm", BPF_HEAP_SIZE, HEAP_NEW},
	{"_ZnwmRKSt9nothrow_t", BPF_HEAP_SIZE, HEAP_NEW},
	{"_ZnwmSt11align_val_t", BPF_HEAP_SIZE, HEAP_NEW},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t", BPF_HEAP_SIZE, HEAP_NEW},
	{"_Znam", BPF_HEAP_SIZE, HEAP_NEW_ARRAY},
	{"_ZnamRKSt9nothrow_t", BPF_HEAP_SIZE, HEAP_NEW_ARRAY},
	{"_ZnamSt11align_val_t", BPF_HEAP_SIZE, HEAP_NEW_ARRAY},
	{"_ZnamSt11align_val_tRKSt9nothrow_t", BPF_HEAP_SIZE, HEAP_NEW_ARRAY},
	{"_ZdlPv", BPF_HEAP_FREE, HEAP_NEW},
	{"_ZdlPvm", BPF_HEAP_FREE, HEAP_NEW},
	{"_ZdlPvRKSt9nothrow_t", BPF_HEAP_FREE, HEAP_NEW},
	{"_ZdlPvSt11align_val_t", BPF_HEAP_FREE, HEAP_NEW},
	{"_ZdlPvmSt11align_val_t", BPF_HEAP_FREE, HEAP_NEW},
	{"_ZdlPvSt11align_val_tRKSt9nothrow_t", BPF_HEAP_FREE, HEAP_NEW},
	{"_ZdaPv", BPF_HEAP_FREE, HEAP_NEW_ARRAY},
	{"_ZdaPvm", BPF_HEAP_FREE, HEAP_NEW_ARRAY},
	{"_ZdaPvRKSt9nothrow_t", BPF_HEAP_FREE, HEAP_NEW_ARRAY},
	{"_ZdaPvSt11align_val_t", BPF_HEAP_FREE, HEAP_NEW_ARRAY},
	{"_ZdaPvmSt11align_val_t", BPF_HEAP_FREE, HEAP_NEW_ARRAY},
	{"_ZdaPvSt11align_val_tRKSt9nothrow_t", BPF_HEAP_FREE, HEAP_NEW_ARRAY},
};

#define FUNCTIONS ARRAY_SIZE(functions)
_Static_assert(FUNCTIONS <= BPF_HEAP_FUNCTIONS, "all can be probed");

/* Prefixes that allocators inside a program may put before the C names. */
static const char *const prefixes[] = {"", "je_", "tc_", "mi_"};

struct search {
	pid_t pid;
	const char *wish;
	struct stat program;
	struct module_files *files;
	struct maps maps;
	const struct map_region *best;
	enum allocator_rank best_rank;
	const char *best_prefix;
	uint32_t with_malloc; /* number of modules, without the loader */
	bool is_recorded;     /* by our library */
	bool is_named;        /* a module is the requested one */
	char looked_at[512];
};

bool allocator_function(uint32_t i, const char **ret_name, uint32_t *ret_shape, uint32_t *ret_call)
{
	if (i >= FUNCTIONS)
		return false;
	*ret_name = functions[i].name;
	*ret_shape = functions[i].shape;
	*ret_call = functions[i].call;
	return true;
}

enum allocator_rank allocator_rank(const char *path, bool is_program)
{
	const char *name = path_base_name(path);

	if (is_program)
		return ALLOCATOR_PROGRAM;
	if (strncmp(name, "libc.", 5) == 0 || strncmp(name, "libc-", 5) == 0 ||
	    strncmp(name, "ld-musl", 7) == 0)
		return ALLOCATOR_LIBC;
	return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.", 3) == 0 ? ALLOCATOR_NEVER
									    : ALLOCATOR_LIBRARY;
}

bool allocator_is_named(const char *wish, const char *path)
{
	struct stat wished;
	struct stat file;

	if (!strchr(wish, '/'))
		return strstr(path_base_name(path), wish) != NULL;
	if (strcmp(wish, path) == 0)
		return true;
	return stat(wish, &wished) == 0 && stat(path, &file) == 0 && wished.st_ino == file.st_ino &&
	       wished.st_dev == file.st_dev;
}

/* The prefix of a module's functions; NULL: it has none of them. */
static const char *prefix_of(struct elf_file *elf, bool any)
{
	char names[ARRAY_SIZE(prefixes)][NEEDED][NAME_BYTES];
	const char *list[ARRAY_SIZE(prefixes) * NEEDED];
	struct elf_function found[ARRAY_SIZE(prefixes) * NEEDED];
	size_t count = any ? ARRAY_SIZE(prefixes) : 1;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < NEEDED; j++) {
			(void)snprintf(names[i][j], NAME_BYTES, "%s%s", prefixes[i],
				       functions[j].name);
			list[i * 2 + j] = names[i][j];
		}
	elf_functions_find(elf, list, count * 2, found);
	for (size_t i = 0; i < count; i++)
		if (found[i * 2].found && found[i * 2 + 1].found)
			return prefixes[i];
	return NULL;
}

static void note_looked_at(struct search *search, const char *path)
{
	size_t used = strlen(search->looked_at);

	if (used + 1 < sizeof(search->looked_at))
		(void)snprintf(search->looked_at + used, sizeof(search->looked_at) - used, "%s%s",
			       used > 0 ? ", " : "", path_base_name(path));
}

static bool is_program(const struct search *search, const struct map_region *region)
{
	return region->inode == search->program.st_ino &&
	       (search->program.st_dev == region->device ||
		minor(search->program.st_dev) == minor(region->device));
}

/* Checks one module. */
static void consider(struct search *search, const struct map_region *region)
{
	enum allocator_rank rank = allocator_rank(region->path, is_program(search, region));
	struct elf_file *elf;
	const char *prefix;

	if (search->wish && !allocator_is_named(search->wish, region->path))
		return;
	if (!search->wish && rank == ALLOCATOR_NEVER)
		return;
	search->is_named = true;
	note_looked_at(search, region->path);
	if (module_files_open(search->files, search->pid, region, &elf, NULL) < 0)
		return;
	prefix = prefix_of(elf, search->wish != NULL);
	elf_close(elf);
	if (!prefix)
		return;
	search->with_malloc++;
	if (!search->best || rank > search->best_rank) {
		search->best = region;
		search->best_rank = rank;
		search->best_prefix = prefix;
	}
}

/* A file is mapped in several pieces, but checked once. */
static bool is_repeated(const struct maps *maps, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (maps->items[i].inode == maps->items[at].inode &&
		    maps->items[i].device == maps->items[at].device)
			return true;
	return false;
}

static void consider_all(struct search *search)
{
	for (size_t i = 0; i < search->maps.count; i++) {
		const struct map_region *region = &search->maps.items[i];

		if ((region->kind != REGION_FILE && region->kind != REGION_DELETED) ||
		    is_repeated(&search->maps, i))
			continue;
		if (strstr(path_base_name(region->path), PRELOAD_NAME))
			search->is_recorded = true;
		else
			consider(search, region);
	}
}

/* The cheapest place for a probe at a function's beginning. */
static struct probe_place place_in(struct elf_file *elf, uint64_t offset, uint64_t size)
{
	SCOPED(mem) uint8_t *code = NULL;

	if (size > 0 && size <= MOST_CODE_BYTES)
		code = malloc(size);
	if (!code || elf_read_at(elf, offset, code, size) < 0)
		return (struct probe_place){0};
	return probe_place_choose(elf_machine(elf), code, size);
}

/* Adds a function unless it is already there under another name. */
static void add(struct allocator *allocator, struct elf_file *elf, uint32_t number,
		const struct elf_function *found)
{
	uint64_t address = allocator->base + found->vaddr;
	struct probe_place place;
	uint64_t offset;

	if (elf_vaddr_to_offset(elf, found->vaddr, &offset) < 0)
		return;
	for (uint32_t i = 0; i < allocator->count; i++)
		if (allocator->ranges[i].start == address)
			return;
	place = place_in(elf, offset, found->size);
	allocator->stepped += number < NEEDED && !place.emulated;
	allocator->probes[allocator->count] = (struct heap_probe){
		offset + place.offset,
		BPF_HEAP_COOKIE(functions[number].shape, functions[number].call, number + 1)};
	allocator->ranges[allocator->count] = (struct bpf_heap_range){
		address, address + (found->size > 0 ? found->size : USUAL_BYTES)};
	allocator->range_count = ++allocator->count;
}

/*
 * glibc has the whole allocator in one piece of code, in which an ending thread frees its cache
 * again.
 */
static void add_whole(struct elf_file *elf, struct allocator *allocator)
{
	static const char *const names[] = {"__libc_memalign", "malloc",  "free",
					    "calloc",          "realloc", "posix_memalign"};
	struct elf_function found[ARRAY_SIZE(names)];
	struct bpf_heap_range whole = {UINT64_MAX, 0};

	elf_functions_find(elf, names, ARRAY_SIZE(names), found);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint64_t start = allocator->base + found[i].vaddr;

		if (!found[i].found)
			return; /* another library */
		whole.start = start < whole.start ? start : whole.start;
		whole.end = start + found[i].size > whole.end ? start + found[i].size : whole.end;
	}
	if (whole.end - whole.start < WHOLE_BYTES && allocator->range_count < BPF_HEAP_FUNCTIONS)
		allocator->ranges[allocator->range_count++] = whole;
}

/* Finds the functions of the chosen module. */
static int place_functions(struct search *search, struct allocator *ret, struct error *err)
{
	char names[FUNCTIONS][NAME_BYTES];
	const char *list[FUNCTIONS];
	struct elf_function found[FUNCTIONS];
	struct elf_file *elf;
	int r = module_files_open(search->files, search->pid, search->best, &elf, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		(void)snprintf(names[i], NAME_BYTES, "%s%s",
			       functions[i].name[0] == '_' ? "" : search->best_prefix,
			       functions[i].name);
		list[i] = names[i];
	}
	elf_functions_find(elf, list, FUNCTIONS, found);
	r = elf_load_bias(elf, search->best->start, search->best->file_offset, &ret->base);
	for (size_t i = 0; i < FUNCTIONS && r == 0; i++)
		if (found[i].found && !found[i].chosen_at_run_time)
			add(ret, elf, (uint32_t)i, &found[i]);
	if (r == 0)
		add_whole(elf, ret);
	elf_close(elf);
	return r < 0 ? error_errno(err, r, "cannot locate the functions of %s", search->best->path)
		     : 0;
}

/* No module has a malloc: explains why. */
static int explain(const struct search *search, struct error *err)
{
	if (search->wish && !search->is_named) {
		(void)error_set(err, -EINVAL, "process %d has not mapped a file named %s",
				(int)search->pid, search->wish);
		error_remedy(err, "list its files: grep r-xp /proc/%d/maps", (int)search->pid);
	} else if (search->wish) {
		(void)error_set(err, -EINVAL, "%s has no symbols malloc and free",
				search->looked_at);
		error_remedy(err, "leave out --allocator to search for the allocator");
	} else if (!strchr(search->looked_at, ',')) {
		(void)error_set(
			err, -EOPNOTSUPP,
			"cannot find malloc in %s: it is linked statically and has no symbols",
			search->looked_at);
		error_remedy(err, "run a build that is not stripped");
	} else {
		(void)error_set(err, -EOPNOTSUPP, "process %d has no malloc; searched: %s",
				(int)search->pid, search->looked_at);
		error_remedy(err, "give the module that has it: --allocator LIB|PATH");
	}
	return err ? err->code : -EINVAL;
}

/* 32-bit programs have other registers and other files. */
static int check_program(struct search *search, struct error *err)
{
	char path[64];
	unsigned char head[EI_NIDENT] = {0};
	SCOPED(fd) int fd = -1;

	process_path(path, sizeof(path), search->pid, "exe");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &search->program) < 0 || read(fd, head, sizeof(head)) < 0)
		return process_error(err, -errno, search->pid, "program");
	if (head[EI_CLASS] == ELFCLASS64)
		return 0;
	(void)error_set(err, -EOPNOTSUPP, "process %d is a 32-bit program", (int)search->pid);
	error_remedy(err, "only the heap of 64-bit programs can be recorded");
	return -EOPNOTSUPP;
}

static int choose(struct search *search, struct allocator *ret, struct error *err)
{
	int r = check_program(search, err);

	if (r == 0)
		r = maps_read(&search->maps, search->pid, MAPS_EXECUTABLE_ONLY, err);
	if (r < 0)
		return r;
	consider_all(search);
	if (search->is_recorded) {
		(void)error_set(err, -EBUSY,
				"process %d has already loaded wick's library, which records its "
				"heap from inside",
				(int)search->pid);
		error_remedy(err, "use the recording that it writes, or start the program without "
				  "the library");
		return -EBUSY;
	}
	if (!search->best)
		return explain(search, err);
	(void)snprintf(ret->name, sizeof(ret->name), "%s", search->best->path);
	ret->preferred = search->with_malloc > 1;
	r = module_files_locate(search->files, search->pid, search->best, ret->path,
				sizeof(ret->path));
	return r < 0 ? error_file(err, r, "cannot open %s", search->best->path)
		     : place_functions(search, ret, err);
}

int allocator_find(pid_t pid, const char *wish, struct allocator *ret, struct error *err)
{
	struct search search = {.pid = pid, .wish = wish, .files = module_files_new()};
	int r;

	memset(ret, 0, sizeof(*ret));
	r = search.files ? choose(&search, ret, err) : error_set(err, -ENOMEM, "out of memory");
	maps_fini(&search.maps);
	module_files_free(search.files);
	return r;
}

bool allocator_is_in(const struct allocator *allocator, pid_t pid)
{
	struct maps maps = {0};
	const struct map_region *region = NULL;
	bool same;

	if (maps_read(&maps, pid, MAPS_EXECUTABLE_ONLY, NULL) == 0 && allocator->count > 0)
		region = maps_find(&maps, allocator->ranges[0].start);
	same = region && strcmp(region->path, allocator->name) == 0;
	maps_fini(&maps);
	return same;
}
