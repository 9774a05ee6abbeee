/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/export_file.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/outfile.h"
#include "export/export.h"
#include "model/profile.h"
#include "pipeline/load.h"

#define WRITE_BYTES (1u << 20)

/* Where the lines of samples go. */
struct sample_lines {
	struct export_list list;
	struct outfile file;
	struct bytes text; /* what waits to be written */
};

static int write_lines(struct sample_lines *lines, size_t least, struct error *err)
{
	int r;

	if (lines->text.failed)
		return error_set(err, -ENOMEM, "out of memory");
	if (lines->text.size < least)
		return 0;
	r = outfile_append(&lines->file, lines->text.data, lines->text.size, err);
	bytes_clear(&lines->text);
	return r;
}

static int take_sample(void *self, const struct profile *profile,
		       const struct export_sample *sample, struct error *err)
{
	struct sample_lines *lines = self;
	int r;

	if (sample) {
		r = export_list_sample(&lines->list, profile, sample, &lines->text, err);
		return r < 0 ? r : write_lines(lines, WRITE_BYTES, err);
	}
	while ((r = export_list_finish(&lines->list, profile, &lines->text, err)) > 0) {
		r = write_lines(lines, WRITE_BYTES, err);
		if (r < 0)
			return r;
	}
	return r;
}

static int export_samples_of(const struct exporter_ops *exporter, const char *input,
			     const struct load_options *load, const char *output, struct error *err)
{
	struct sample_lines lines = {0};
	int r = export_list_init(&lines.list, exporter, err);

	if (r == 0)
		r = outfile_begin(&lines.file, output, err);
	if (r < 0) {
		export_list_fini(&lines.list);
		return r;
	}
	r = load_samples(input, load, take_sample, &lines, err);
	if (r == 0)
		r = write_lines(&lines, 1, err);
	if (r == 0)
		r = outfile_commit(&lines.file, err);
	outfile_fini(&lines.file);
	export_list_fini(&lines.list);
	bytes_fini(&lines.text);
	return r;
}

static int export_profile(const struct exporter_ops *exporter, const char *input,
			  const struct load_options *load, const struct export_config *config,
			  const char *output, struct error *err)
{
	struct profile *profile;
	struct bytes text = {0};
	int r = load_profile(input, load, &profile, err);

	if (r < 0)
		return r;
	r = exporter_write(exporter, profile, config, &text, err);
	if (r == 0)
		r = outfile_write(output, text.data, text.size, err);
	bytes_fini(&text);
	profile_free(profile);
	return r;
}

int export_file(const struct exporter_ops *exporter, const char *input,
		const struct load_options *load, const struct export_config *config,
		const char *output, struct error *err)
{
	return exporter_lists_samples(exporter)
		       ? export_samples_of(exporter, input, load, output, err)
		       : export_profile(exporter, input, load, config, output, err);
}
