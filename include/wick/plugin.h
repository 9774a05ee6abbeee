/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PLUGIN_H
#define WICK_PLUGIN_H

/*
 * plugin: what others add to the wick program: formats, names of addresses, views, analysers.
 * A plug-in is a shared object with one symbol, wick_plugin, in a folder that $WICK_PLUGINS
 * names:
 *
 *	static int csv_write(const struct wick_plugin_host *host, …)
 *
 *	static const struct wick_plugin_exporter csv = {
 *		.name = "csv", .summary = "…", .extension = "csv", .write = csv_write};
 *
 *	WICK_PLUGIN_EXPORT const struct wick_plugin wick_plugin = {
 *		.abi = WICK_PLUGIN_ABI, .size = sizeof(wick_plugin), .name = "example",
 *		.exporters = (const struct wick_plugin_exporter *const[]){&csv, NULL}};
 *
 * It links nothing of wick: what it may call is in the host, which its functions are
 * given. All of it is called by one thread.
 */

#include <stddef.h>
#include <stdint.h>

#include <wick/error.h>
#include <wick/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Another number is not loaded. New members at the ends of structs do not change it. */
#define WICK_PLUGIN_ABI 1u

#define WICK_PLUGIN_EXPORT __attribute__((visibility("default")))

struct wick_plugin_output;   /* where an exporter or a view writes to */
struct wick_plugin_builder;  /* what an importer fills */
struct wick_plugin_findings; /* what an analyser fills */

/* The functions of <wick/profile.h> that read a profile, and those for output and input. */
struct wick_plugin_host {
	size_t size; /* sizeof(struct wick_plugin_host), as wick knows it */
	int (*profile_describe)(const struct wick_profile *profile, struct wick_profile_info *ret,
				struct wick_error *err);
	const char *(*profile_value_name)(const struct wick_profile *profile, uint32_t value);
	const char *(*profile_value_unit)(const struct wick_profile *profile, uint32_t value);
	int (*stacks_new)(const struct wick_profile *profile, struct wick_stacks **ret,
			  struct wick_error *err);
	int (*stacks_next)(struct wick_stacks *stacks, struct wick_profile_stack *ret);
	void (*stacks_free)(struct wick_stacks *stacks);
	int (*functions_new)(const struct wick_profile *profile, uint32_t value,
			     struct wick_functions **ret, struct wick_error *err);
	size_t (*functions_count)(const struct wick_functions *functions);
	int (*functions_get)(const struct wick_functions *functions, size_t i,
			     struct wick_profile_function *ret);
	void (*functions_free)(struct wick_functions *functions);
	/* Appends to the file that is written. 0 or -ENOMEM, which need not be looked at. */
	int (*write)(struct wick_plugin_output *out, const void *data, size_t size);
	/* What the values of stacks are: "cpu", "nanoseconds". Once, before the first stack. */
	int (*begin)(struct wick_plugin_builder *builder, const char *value, const char *unit,
		     struct wick_error *err);
	/*
	 * Adds a stack with its size set, frames from the root, one value, and the samples that
	 * it stands for. Of frames, modules and addresses are not kept. Texts are copied;
	 * NULL is "".
	 */
	int (*add)(struct wick_plugin_builder *builder, const struct wick_profile_stack *stack,
		   uint64_t samples, struct wick_error *err);
	/* Adds a finding: enum wick_plugin_severity, and a line that is copied. 0 or -ENOMEM. */
	int (*find)(struct wick_plugin_findings *findings, uint32_t severity, const char *text);
};

/* A format to write: wick export --format NAME. Names are of a-z, 0-9, '-', '_' and '.'. */
struct wick_plugin_exporter {
	const char *name;
	const char *summary;   /* one line */
	const char *extension; /* without the dot */
	/* 0, or a negative errno and why in err. */
	int (*write)(const struct wick_plugin_host *host, const struct wick_profile *profile,
		     struct wick_plugin_output *out, struct wick_error *err);
};

/* A format to read, wherever wick takes a recording. It is asked before those of wick. */
struct wick_plugin_importer {
	const char *name;
	const char *summary;
	/* 1 when the data, of which these are the first bytes, is of this format; else 0. */
	int (*recognise)(const void *data, size_t size);
	int (*read)(const struct wick_plugin_host *host, const void *data, size_t size,
		    struct wick_plugin_builder *builder, struct wick_error *err);
};

/* What a resolver is asked for. Texts stay as they are during the call. */
struct wick_plugin_address {
	size_t size;          /* sizeof(struct wick_plugin_address), as wick knows it */
	const char *module;   /* path of the program or library; "": it is in none */
	const char *build_id; /* of the module, in hex; "": it has none */
	uint64_t vaddr;       /* ELF virtual address in the module; without one, in the process */
	uint32_t pid;         /* of the process, for memory without a file; 0: not known */
};

/* What it answers. Texts must stay as they are until the next call. */
struct wick_plugin_symbol {
	size_t size;          /* sizeof(struct wick_plugin_symbol), as wick knows it */
	const char *function; /* names of linkers are shown as those of files are */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
};

/* Knows names of addresses that files have none for. They are asked one after the other. */
struct wick_plugin_resolver {
	const char *name;
	const char *summary;
	/*
	 * 1 when it knows the address and has filled *ret, 0 when not. A negative errno and why in
	 * err is told once, and counts as 0.
	 */
	int (*resolve)(const struct wick_plugin_host *host,
		       const struct wick_plugin_address *address, struct wick_plugin_symbol *ret,
		       struct wick_error *err);
};

/* How a profile is to be shown. */
struct wick_plugin_request {
	size_t size;    /* sizeof(struct wick_plugin_request), as wick knows it */
	uint32_t value; /* that was asked for; below value_count of the profile */
	uint32_t limit; /* rows; 0: all */
	uint32_t json;  /* 1: --format json */
	uint32_t color; /* 1: escapes of terminals are wanted */
};

/* A way to show a profile: wick report --by NAME. */
struct wick_plugin_view {
	const char *name;
	const char *summary;
	int (*write)(const struct wick_plugin_host *host, const struct wick_profile *profile,
		     const struct wick_plugin_request *request, struct wick_plugin_output *out,
		     struct wick_error *err);
};

enum wick_plugin_severity {
	WICK_PLUGIN_NOTE = 0,
	WICK_PLUGIN_WARNING = 1,
	WICK_PLUGIN_ERROR = 2,
};

/* Looks at a profile and tells what it finds: wick report --analyse NAME, or all. */
struct wick_plugin_analyser {
	const char *name;
	const char *summary;
	int (*analyse)(const struct wick_plugin_host *host, const struct wick_profile *profile,
		       struct wick_plugin_findings *findings, struct wick_error *err);
};

struct wick_plugin {
	uint32_t abi;     /* WICK_PLUGIN_ABI */
	uint32_t size;    /* sizeof(struct wick_plugin): members behind it are not looked at */
	const char *name; /* of the same letters */
	const struct wick_plugin_exporter *const *exporters; /* NULL last; NULL: none */
	const struct wick_plugin_importer *const *importers;
	const struct wick_plugin_resolver *const *resolvers;
	const struct wick_plugin_view *const *views;
	const struct wick_plugin_analyser *const *analysers;
};

#ifdef __cplusplus
}
#endif

#endif
