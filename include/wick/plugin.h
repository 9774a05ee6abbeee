/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PLUGIN_H
#define WICK_PLUGIN_H

/*
 * plugin: the interface for plug-ins, which add formats, names for addresses, views and analysers
 * to the wick program. A plug-in is a shared object with one symbol, wick_plugin, in a folder
 * listed in $WICK_PLUGINS:
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
 * A plug-in does not link against wick: the functions that it may call are in the host, which is
 * passed to each of its functions. wick calls a plug-in from one thread only.
 */

#include <stddef.h>
#include <stdint.h>

#include <wick/error.h>
#include <wick/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A plug-in with another number is not loaded. New members at the end of structs do not change it.
 */
#define WICK_PLUGIN_ABI 1u

#define WICK_PLUGIN_EXPORT __attribute__((visibility("default")))

struct wick_plugin_output;   /* what an exporter or a view writes to */
struct wick_plugin_builder;  /* what an importer fills */
struct wick_plugin_findings; /* what an analyser fills */

/* The functions of <wick/profile.h> that read a profile, and functions for output and input. */
struct wick_plugin_host {
	size_t size; /* sizeof(struct wick_plugin_host) in wick */
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
	/* Appends to the output file. Returns 0 or -ENOMEM, which the caller may ignore. */
	int (*write)(struct wick_plugin_output *out, const void *data, size_t size);
	/*
	 * Sets the name and unit of the value: "cpu", "nanoseconds". Call it once, before the first
	 * stack.
	 */
	int (*begin)(struct wick_plugin_builder *builder, const char *value, const char *unit,
		     struct wick_error *err);
	/*
	 * Adds a stack: its size must be set, the root is the first frame, and it has one value.
	 * `samples` is the number of samples it represents. Modules and addresses of frames are not
	 * kept. Texts are copied; NULL means "".
	 */
	int (*add)(struct wick_plugin_builder *builder, const struct wick_profile_stack *stack,
		   uint64_t samples, struct wick_error *err);
	/*
	 * Adds a finding: enum wick_plugin_severity and one line, which is copied. Returns 0 or
	 * -ENOMEM.
	 */
	int (*find)(struct wick_plugin_findings *findings, uint32_t severity, const char *text);
};

/* A format to write: wick export --format NAME. Names consist of a-z, 0-9, '-', '_' and '.'. */
struct wick_plugin_exporter {
	const char *name;
	const char *summary;   /* one line */
	const char *extension; /* without the dot */
	/* Returns 0, or a negative errno with the reason in err. */
	int (*write)(const struct wick_plugin_host *host, const struct wick_profile *profile,
		     struct wick_plugin_output *out, struct wick_error *err);
};

/*
 * A format to read, wherever wick accepts a recording. Importers of plug-ins come before wick's
 * own.
 */
struct wick_plugin_importer {
	const char *name;
	const char *summary;
	/* Returns 1 if data that begins with these bytes is in this format, else 0. */
	int (*recognise)(const void *data, size_t size);
	int (*read)(const struct wick_plugin_host *host, const void *data, size_t size,
		    struct wick_plugin_builder *builder, struct wick_error *err);
};

/* The address to resolve. Texts are valid during the call. */
struct wick_plugin_address {
	size_t size;          /* sizeof(struct wick_plugin_address) in wick */
	const char *module;   /* path of the program or library; "": in no module */
	const char *build_id; /* of the module, in hex; "": none */
	uint64_t vaddr; /* ELF virtual address in the module; without a module, the address in the
			   process */
	uint32_t pid;   /* of the process, for memory without a file; 0: unknown */
};

/* The answer. Texts must stay valid until the next call. */
struct wick_plugin_symbol {
	size_t size;          /* sizeof(struct wick_plugin_symbol) in wick */
	const char *function; /* linker names are demangled like those from files */
	const char *file;     /* NULL: unknown */
	uint32_t line;        /* 0: unknown */
};

/* Finds names for addresses that have none in files. Resolvers are called one after another. */
struct wick_plugin_resolver {
	const char *name;
	const char *summary;
	/*
	 * Returns 1 and fills *ret if it knows the address, else 0. A negative errno with the
	 * reason in err is reported once, and otherwise treated like 0.
	 */
	int (*resolve)(const struct wick_plugin_host *host,
		       const struct wick_plugin_address *address, struct wick_plugin_symbol *ret,
		       struct wick_error *err);
};

/* How to show a profile. */
struct wick_plugin_request {
	size_t size;    /* sizeof(struct wick_plugin_request) in wick */
	uint32_t value; /* the requested value; below value_count of the profile */
	uint32_t limit; /* maximum number of rows; 0: all */
	uint32_t json;  /* 1: --format json */
	uint32_t color; /* 1: use terminal escape sequences */
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

/* Examines a profile and reports findings: wick report --analyse NAME, or all. */
struct wick_plugin_analyser {
	const char *name;
	const char *summary;
	int (*analyse)(const struct wick_plugin_host *host, const struct wick_profile *profile,
		       struct wick_plugin_findings *findings, struct wick_error *err);
};

struct wick_plugin {
	uint32_t abi;     /* WICK_PLUGIN_ABI */
	uint32_t size;    /* sizeof(struct wick_plugin): members past it are ignored */
	const char *name; /* of the same characters as other names */
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
