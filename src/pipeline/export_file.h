/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_EXPORT_FILE_H
#define WICK_PIPELINE_EXPORT_FILE_H

/* export_file: from a recording to a file of another format, whichever way that is made. */

struct error;
struct export_config;
struct exporter_ops;
struct load_options;

/*
 * Reads input ("-": standard input) and writes output ("-": standard output), whole or not at
 * all. Formats that list samples need no memory for them.
 */
int export_file(const struct exporter_ops *exporter, const char *input,
		const struct load_options *load, const struct export_config *config,
		const char *output, struct error *err);

#endif
