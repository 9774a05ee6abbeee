/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/convert/export_file.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "export/export.h"
#include "load/load.h"
#include "model/profile.h"

#define WRITE_BYTES (1u << 20)

/* Where the lines of samples go. */
struct sample_lines {
	struct export_list list;
	struct outfile file;
	struct bytes text; /* data waiting to be written */
	const char *input;
	uint64_t count;
};

/* Heap blocks are not samples: their costs are known by stack, for formats that hold sums. */
static int refuse_heap(const struct sample_lines *lines, struct error *err)
{
	(void)error_set(err, -EINVAL, "%s has allocations but no samples: nothing to export as %s",
			lines->input, lines->list.ops->name);
	error_remedy(err, "choose a format that holds sums: pprof, speedscope, perfetto, folded, "
			  "json or otlp; wick timeline shows the heap over time");
	return -EINVAL;
}

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

	if (!sample && lines->count == 0 && profile->time.heap_value == 0 && !lines->list.ops->heap)
		return refuse_heap(lines, err);
	if (sample) {
		lines->count++;
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

static int export_samples_of(const struct export_job *job, struct error *err)
{
	struct sample_lines lines = {
		.input = strcmp(job->input, "-") ? job->input : "standard input",
	};
	struct load_options options = *job->load;
	int r = export_list_init(&lines.list, job->exporter, err);

	options.tracks = options.heap_sums = job->exporter->heap;

	if (r == 0)
		r = outfile_begin(&lines.file, job->output, job->option, err);
	if (r < 0) {
		export_list_fini(&lines.list);
		return r;
	}
	r = load_samples(job->input, &options, take_sample, &lines, err);
	if (r == 0)
		r = write_lines(&lines, 1, err);
	if (r == 0)
		r = outfile_commit(&lines.file, err);
	outfile_fini(&lines.file);
	export_list_fini(&lines.list);
	bytes_fini(&lines.text);
	return r;
}

static int export_profile(const struct export_job *job, struct error *err)
{
	struct load_options options = *job->load;
	struct profile *profile;
	struct bytes text = {0};
	int r;

	options.order = job->exporter->in_order;
	r = load_profile(job->input, &options, &profile, err);
	if (r < 0)
		return r;
	r = exporter_write(job->exporter, profile, job->config, &text, err);
	if (r == 0)
		r = outfile_write(job->output, job->option, text.data, text.size, err);
	bytes_fini(&text);
	profile_free(profile);
	return r;
}

int export_file(const struct export_job *job, struct error *err)
{
	return exporter_lists_samples(job->exporter) ? export_samples_of(job, err)
						     : export_profile(job, err);
}
