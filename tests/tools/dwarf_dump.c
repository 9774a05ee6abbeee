/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * dwarf_dump [-d] [-q] [-l BYTES] ELF [ADDRESS...]: prints what the debug information says
 * of addresses, given as arguments or one a line on standard input.
 *
 *	0xADDRESS
 *	  NAME FILE:LINE:COLUMN		innermost first
 *
 * -d adds details, -q prints nothing but times, -l limits memory, -m leaves names mangled.
 * Separate files are looked for as gdb does: dwz files by name, ELF.dwp, .dwo files by
 * their directory.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/number.h"
#include "dwarf/dwarf.h"
#include "elf/elf.h"
#include "symbol/demangle.h"

struct readable {
	const char *mangled;
	char *text;
};

struct dump {
	const char *path;
	bool details, quiet, mangled;
	struct dwarf *dwarf;
	struct dwarf_frames frames;
	struct id_index index; /* demangled names by the pointer of the mangled one */
	struct readable *names;
	size_t name_count;
	uint64_t frame_count;
};

static int open_beside(const char *path, const char *name, struct elf_file **ret)
{
	const char *slash = strrchr(path, '/');
	char place[PATH_MAX];

	if (name[0] == '/')
		return elf_open(name, ret, NULL);
	(void)snprintf(place, sizeof(place), "%.*s%s", slash ? (int)(slash - path + 1) : 0, path,
		       name);
	return elf_open(place, ret, NULL);
}

static int open_alt(void *self, const char *name, const struct build_id *id, struct elf_file **ret)
{
	const struct dump *dump = self;
	int r = open_beside(dump->path, name, ret);

	if (r == 0 && !build_id_equal(elf_build_id(*ret), id)) {
		elf_close(*ret);
		return -ENOENT;
	}
	return r;
}

static int open_dwo(void *self, const char *comp_dir, const char *name, uint64_t id,
		    struct elf_file **ret)
{
	char place[PATH_MAX];

	if (name[0] == '/')
		return elf_open(name, ret, NULL);
	(void)snprintf(place, sizeof(place), "%s/%s", comp_dir, name);
	return elf_open(place, ret, NULL);
}

static int open_dwp(void *self, struct elf_file **ret)
{
	const struct dump *dump = self;
	char place[PATH_MAX];

	(void)snprintf(place, sizeof(place), "%s.dwp", dump->path);
	return elf_open(place, ret, NULL);
}

/* Each name is demangled once, as every user of the reader does. */
static const char *readable(struct dump *dump, const struct dwarf_frame *frame)
{
	uint64_t hash = hash_pair((uintptr_t)frame->name, 0);
	struct id_probe probe = id_index_probe(&dump->index, hash);
	uint32_t i;

	if (!frame->name)
		return "??";
	if (!frame->mangled || dump->mangled)
		return frame->name;
	while ((i = id_probe_next(&dump->index, &probe)) != ID_NONE)
		if (dump->names[i].mangled == frame->name)
			return dump->names[i].text ? dump->names[i].text : frame->name;
	if ((dump->name_count & (dump->name_count - 1)) == 0)
		dump->names =
			realloc(dump->names, 2 * (dump->name_count + 1) * sizeof(*dump->names));
	dump->names[dump->name_count] = (struct readable){frame->name, demangle(frame->name)};
	if (id_index_add(&dump->index, hash, (uint32_t)dump->name_count) < 0)
		return frame->name;
	i = (uint32_t)dump->name_count++;
	return dump->names[i].text ? dump->names[i].text : frame->name;
}

static void print_details(struct dump *dump, uint64_t address)
{
	struct dwarf_details details;

	if (dwarf_find_details(dump->dwarf, address, &details) < 0)
		return;
	printf("  unit %s\n  signature %s\n  row %#" PRIx64 "-%#" PRIx64 "%s%s%s\n",
	       details.unit ? details.unit : "??", details.signature ? details.signature : "??",
	       details.row_low, details.row_high, details.is_statement ? " statement" : "",
	       details.prologue_end ? " prologue-end" : "",
	       details.epilogue_begin ? " epilogue-begin" : "");
}

/* Names of C++ are long: most of the time would go into printf(). */
static void print_frame(const char *name, const struct dwarf_frame *frame)
{
	fputs_unlocked("  ", stdout);
	fputs_unlocked(name, stdout);
	fputc_unlocked('\t', stdout); /* names and paths have spaces */
	fputs_unlocked(frame->file ? frame->file : "??", stdout);
	printf(":%u:%u\n", frame->line, frame->column);
}

static int look_up(struct dump *dump, uint64_t address)
{
	int r = dwarf_find(dump->dwarf, address, &dump->frames);

	if (r < 0) {
		fprintf(stderr, "dwarf_dump: %s\n", strerror(-r));
		return 1;
	}
	dump->frame_count += (uint64_t)r;
	if (!dump->quiet)
		printf("0x%" PRIx64 "\n", address);
	for (size_t i = 0; i < dump->frames.count; i++) {
		const struct dwarf_frame *frame = &dump->frames.items[i];
		const char *name = readable(dump, frame);

		if (!dump->quiet)
			print_frame(name, frame);
	}
	if (dump->details)
		print_details(dump, address);
	return 0;
}

static int look_up_all(struct dump *dump, char **arguments)
{
	uint64_t address;
	int status = 0;

	for (; *arguments && !status; arguments++) {
		if (number_parse_u64(*arguments, &address) < 0)
			return 2;
		status = look_up(dump, address);
	}
	return status;
}

static int look_up_lines(struct dump *dump)
{
	uint64_t address;
	char line[128];
	int status = 0;

	while (!status && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (number_parse_u64(line, &address) < 0)
			return 2;
		status = look_up(dump, address);
	}
	return status;
}

static void print_costs(const struct dump *dump)
{
	struct dwarf_stats stats = dwarf_stats(dump->dwarf);
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	printf("cpu_us %lld peak_kb %ld frames %" PRIu64 " names %zu units %" PRIu32 " bad %" PRIu32
	       " missing_dwo %" PRIu32 "\n",
	       (long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
	       usage.ru_maxrss, dump->frame_count, dump->name_count, stats.units, stats.bad_units,
	       stats.missing_dwo);
}

static void dump_fini(struct dump *dump)
{
	dwarf_close(dump->dwarf);
	for (size_t i = 0; i < dump->name_count; i++)
		free(dump->names[i].text);
	free(dump->names);
	id_index_fini(&dump->index);
}

static int usage(void)
{
	fprintf(stderr, "usage: dwarf_dump [-d] [-m] [-q] [-l BYTES] ELF [ADDRESS...]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct dump dump;
	struct dwarf_hooks hooks = {&dump, open_alt, open_dwo, open_dwp};
	struct elf_file *elf = NULL;
	struct error err = {0};
	uint64_t limit = 0;
	int option, status;

	(void)setvbuf(stdout, NULL, _IOFBF, 1u << 18); /* slower without */
	while ((option = getopt(argc, argv, "dl:mq")) != -1) {
		dump.details |= option == 'd';
		dump.mangled |= option == 'm';
		dump.quiet |= option == 'q';
		if (option == '?' || (option == 'l' && number_parse_u64(optarg, &limit) < 0))
			return usage();
	}
	if (optind >= argc)
		return usage();
	dump.path = argv[optind];
	if (elf_open(dump.path, &elf, &err) < 0 || dwarf_open(elf, &hooks, &dump.dwarf, &err) < 0) {
		fprintf(stderr, "dwarf_dump: %s: %s\n", dump.path, err.text);
		elf_close(elf);
		return 1;
	}
	if (limit)
		dwarf_set_limit(dump.dwarf, limit);
	status = optind + 1 < argc ? look_up_all(&dump, argv + optind + 1) : look_up_lines(&dump);
	if (dump.quiet)
		print_costs(&dump);
	dump_fini(&dump);
	return status;
}
