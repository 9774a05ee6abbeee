/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PLUGIN_H
#define WICK_PLUGIN_H

/*
 * plugin: formats of others for the wick program. A plug-in is a shared object with one
 * symbol, wick_plugin, in a folder that $WICK_PLUGINS names:
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

struct wick_plugin_output;  /* where an exporter writes to */
struct wick_plugin_builder; /* what an importer fills */

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

struct wick_plugin {
	uint32_t abi; /* WICK_PLUGIN_ABI */
	uint32_t size;
	const char *name;                                    /* of the same letters */
	const struct wick_plugin_exporter *const *exporters; /* NULL last; NULL: none */
	const struct wick_plugin_importer *const *importers;
};

#ifdef __cplusplus
}
#endif

#endif
