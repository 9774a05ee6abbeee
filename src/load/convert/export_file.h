/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_CONVERT_EXPORT_FILE_H
#define WICK_LOAD_CONVERT_EXPORT_FILE_H

/* export_file: converts a recording to a file in another format. */

struct error;
struct export_config;
struct exporter_ops;
struct load_options;

struct export_job {
	const struct exporter_ops *exporter;
	const struct export_config *config;
	const struct load_options *load;
	const char *input;  /* "-": standard input */
	const char *output; /* "-": standard output */
	const char *option; /* the option that sets the output, for remedies; NULL: unknown */
};

/*
 * Reads the input and writes the output, completely or not at all. Formats that list samples do not
 * hold them in memory.
 */
int export_file(const struct export_job *job, struct error *err);

#endif
