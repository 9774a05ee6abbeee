/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>

#include "base/bytes.h"
#include "base/error.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/inflate.h"
#include "recording/writer.h"

const struct importer_ops *const importers[] = {
	&import_speedscope,
	&import_pprof,
	&import_folded,
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

static int read_with(const struct importer_ops *ops, const uint8_t *data, size_t size, int output,
		     struct error *err)
{
	struct import_builder *builder;
	int fd = fcntl(output, F_DUPFD_CLOEXEC, 3);
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot write");
	r = import_builder_new(fd, &builder, err);
	if (r < 0)
		return r;
	recording_writer_info(import_builder_writer(builder), "imported_from", ops->name);
	r = ops->read(data, size, builder, err);
	import_builder_free(builder);
	return r;
}

int import_run(const uint8_t *data, size_t size, const char *name, int output, struct error *err)
{
	const struct importer_ops *ops;
	struct bytes inflated = {0};
	int r = 0;

	if (inflate_is_gzip(data, size)) {
		r = inflate_gzip(data, size, &inflated, err);
		data = inflated.data;
		size = inflated.size;
	}
	if (r < 0) {
		bytes_fini(&inflated);
		return error_prefix(err, r, "%s", name);
	}
	ops = importer_find(data, size);
	if (ops)
		r = read_with(ops, data, size, output, err);
	bytes_fini(&inflated);
	if (r < 0)
		return error_prefix(err, r, "%s, read as %s", name, ops->name);
	return ops ? 1 : 0;
}
