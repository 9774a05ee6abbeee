/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "import/builder.h"
#include "import/file_guess.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/inflate.h"
#include "import/source.h"
#include "recording/writer.h"

#define HEAD_BYTES (1u << 20)

const struct importer_ops *const importers[] = {
	&import_perf_data,
	&import_speedscope,
	&import_pprof,
	&import_otlp,
	&import_gperftools_cpu,
	&import_gperftools_text,
	&import_perf_script,
	&import_folded, /* last, because it accepts nearly any text */
	NULL,
};

const struct importer_ops *importer_find(const uint8_t *data, size_t size)
{
	const struct importer_ops *const *at;

	for (at = importers; *at; at++)
		if ((*at)->recognise(data, size))
			return *at;
	return NULL;
}

/* The same; plug-ins come first, because one of ours accepts nearly any text. */
static const struct importer_ops *find_any(const struct importer_ops *const *more,
					   const uint8_t *data, size_t size)
{
	for (; more && *more; more++)
		if ((*more)->recognise_of((*more)->origin, data, size))
			return *more;
	return importer_find(data, size);
}

/* For formats that need the whole file at once. */
static int read_whole(const struct importer_ops *ops, struct import_source *source,
		      struct import_builder *builder, struct error *err)
{
	struct bytes all = {0};
	int r = import_source_read_all(source, &all, err);

	if (r == 0)
		r = ops->read_of ? ops->read_of(ops->origin, all.data, all.size, builder, err)
				 : ops->read(all.data, all.size, builder, err);
	bytes_fini(&all);
	return r;
}

static int read_with(const struct importer_ops *ops, struct import_source *source,
		     struct import_output *output, struct error *err)
{
	bool keeps = output->may_keep && ops->is_kept;
	struct import_builder *builder;
	int fd = keeps ? -1 : fcntl(output->fd, F_DUPFD_CLOEXEC, 3);
	int r;

	if (fd < 0 && !keeps)
		return error_file(err, -errno, "cannot write the recording");
	r = import_builder_new(fd, output->host, &builder, err);
	if (r < 0)
		return r;
	recording_writer_info(import_builder_writer(builder), "imported_from", ops->name);
	r = ops->read_source ? ops->read_source(source, builder, err)
			     : read_whole(ops, source, builder, err);
	if (r == 0 && keeps)
		output->kept = import_builder_take_writer(builder);
	import_builder_free(builder);
	return r;
}

/* Sets the remedy for a file that an importer rejects. Returns the code. */
static int advise(int code, struct error *err)
{
	if (code == -EFBIG || code == -E2BIG)
		return error_advise(err, code,
				    "record or export a shorter time range, and read that");
	if (code == -EOPNOTSUPP)
		return error_advise(err, code,
				    "convert it to another format; see: wick list imports");
	return error_advise(err, code,
			    "it may be truncated or modified: copy it again, or create it again");
}

static int run_plain(struct import_source *source, const char *name, struct import_output *output,
		     struct error *err)
{
	const struct file_guess *guess;
	const struct importer_ops *ops;
	size_t n;
	const uint8_t *head = import_source_view(source, 0, HEAD_BYTES, &n);
	int r;

	if (!head)
		return error_file(err, -EIO, "cannot read %s", name);
	ops = find_any(output->more, head, n);
	if (!ops)
		return 0;
	guess = ops == &import_folded ? file_guess(head, n) : NULL;
	r = read_with(ops, source, output, err);
	if (r == 0)
		return 1;
	if (guess && r == -EBADMSG)
		return file_guess_refuse(name, guess, err);
	(void)error_prefix(err, r, "%s, read as %s", name, ops->name);
	return advise(r, err);
}

int import_run_to(struct import_source *source, const char *name, struct import_output *output,
		  struct error *err)
{
	struct import_source inner;
	struct bytes packed = {0};
	struct bytes inflated = {0};
	size_t n;
	const uint8_t *head = import_source_view(source, 0, HEAD_BYTES, &n);
	int r;

	if (!head || !inflate_is_gzip(head, n))
		return run_plain(source, name, output, err);
	r = import_source_read_all(source, &packed, err);
	if (r == 0)
		r = inflate_gzip(packed.data, packed.size, &inflated, err);
	bytes_fini(&packed);
	if (r < 0) {
		(void)error_prefix(err, r, "%s", name);
		(void)advise(r, err);
	} else {
		import_source_of_memory(&inner, inflated.data, inflated.size);
		r = run_plain(&inner, name, output, err);
		import_source_fini(&inner);
	}
	bytes_fini(&inflated);
	return r;
}

int import_run(struct import_source *source, const char *name, int output,
	       const struct import_host *host, struct error *err)
{
	return import_run_to(source, name, &(struct import_output){.fd = output, .host = host},
			     err);
}

int import_run_as(const char *format, struct import_source *source, int output, struct error *err)
{
	const struct importer_ops *const *at = importers;
	int r;

	while (*at && strcmp((*at)->name, format) != 0)
		at++;
	if (!*at) {
		(void)error_set(err, -EOPNOTSUPP, "there is no format %s", format);
		error_remedy(err, "see what can be read: wick list imports");
		return -EOPNOTSUPP;
	}
	r = read_with(*at, source, &(struct import_output){.fd = output}, err);
	return r < 0 ? advise(r, err) : 0;
}
