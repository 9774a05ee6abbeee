/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/render.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "export/export.h"
#include "import/import.h"
#include "import/source.h"
#include "model/profile.h"
#include "net/http_server.h"
#include "view/page/flame_page.h"
#include "view/report/report.h"

static int write_report(const struct profile *profile, const struct render_options *options,
			bool json, struct http_response *response, struct error *err)
{
	struct report_options view = REPORT_OPTIONS_DEFAULT;

	view.json = json;
	view.color = options->color && !json;
	view.limit = options->limit;
	response->type = json ? NULL : "text/plain; charset=utf-8";
	return report_write(profile, &view, &response->body, err);
}

/* One for each format of a graph. */
static int write_svg(const struct profile *profile, const struct flame_page_options *view,
		     struct bytes *out, struct error *err)
{
	return flame_write(profile, &view->graph, out, err);
}

static int write_png(const struct profile *profile, const struct flame_page_options *view,
		     struct bytes *out, struct error *err)
{
	return flame_write_png(profile, &view->graph, out, err);
}

struct graph_format {
	const char *name;
	const char *type;
	bool has_script;
	int (*write)(const struct profile *profile, const struct flame_page_options *view,
		     struct bytes *out, struct error *err);
};

static const struct graph_format *graph_format(const char *name)
{
	static const struct graph_format formats[] = {
		{"svg", "image/svg+xml", true, write_svg},
		{"png", "image/png", false, write_png},
		{"html", "text/html; charset=utf-8", true, flame_page_write},
		{"page", "application/octet-stream", false, flame_page_data_write},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(name, formats[i].name) == 0)
			return &formats[i];
	return NULL;
}

bool render_is_graph(const char *format)
{
	return graph_format(format) != NULL;
}

int render_graph(const struct profile *profile, const struct flame_page_options *view,
		 const struct render_options *options, struct http_response *response,
		 struct error *err)
{
	const struct graph_format *format = graph_format(options->format);
	struct flame_page_options sized = *view;

	if (!format)
		return error_advise(err,
				    error_set(err, -EINVAL, "a graph cannot be drawn as %.40s",
					      options->format),
				    "use svg, html, png or page");
	sized.graph.width_px = options->width_px;
	sized.graph.height_px = options->height_px;
	response->type = format->type;
	response->policy = format->has_script ? RENDER_GRAPH_POLICY : NULL;
	return format->write(profile, &sized, &response->body, err);
}

static int read_all(int fd, struct bytes *out)
{
	struct stat status;
	uint8_t *place;

	if (fstat(fd, &status) < 0)
		return -errno;
	place = bytes_reserve(out, (size_t)status.st_size);
	if (!place)
		return -ENOMEM;
	if (pread(fd, place, (size_t)status.st_size, 0) != status.st_size)
		return -EIO;
	out->size += (size_t)status.st_size;
	return 0;
}

/* By way of pprof, which holds all of it: no second writer of recordings is needed. */
int render_recording(const struct profile *profile, struct bytes *out, struct error *err)
{
	struct export_config config = {.value = EXPORT_DEFAULT_VALUE};
	struct bytes packed = {0};
	struct import_source source;
	SCOPED(fd) int fd = memfd_create("wick-answer", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot hold the recording in memory");
	r = exporter_write(exporter_find("pprof"), profile, &config, &packed, err);
	if (r == 0) {
		import_source_of_memory(&source, packed.data, packed.size);
		r = import_run(&source, "the profile", fd, NULL, err);
		import_source_fini(&source);
	}
	bytes_fini(&packed);
	if (r < 0)
		return r;
	r = read_all(fd, out);
	return r < 0 ? error_errno(err, r, "cannot hold the recording in memory") : 0;
}

static int write_export(const struct profile *profile, const char *format,
			struct http_response *response, struct error *err)
{
	const struct exporter_ops *exporter = exporter_find(format);
	struct export_config config = {.value = EXPORT_DEFAULT_VALUE};

	if (!exporter || exporter_lists_samples(exporter) || exporter->in_order) {
		(void)error_set(err, -EINVAL, "there is no format %.40s here", format);
		error_remedy(err, "use text, json, folded, pprof, otlp, wick, svg, png, "
				  "html or page");
		return -EINVAL;
	}
	/* Folded stacks are of the measured value, as the other formats. */
	if (strcmp(format, "folded") == 0)
		config.value = profile->main_value;
	response->type =
		exporter->binary ? "application/octet-stream" : "text/plain; charset=utf-8";
	return exporter_write(exporter, profile, &config, &response->body, err);
}

int render_profile(const struct profile *profile, const struct render_options *options,
		   struct http_response *response, struct error *err)
{
	struct flame_page_options view = {.graph = FLAME_OPTIONS_DEFAULT};
	const char *format = options->format;

	if (strcmp(format, "text") == 0)
		return write_report(profile, options, false, response, err);
	if (strcmp(format, "json") == 0)
		return write_report(profile, options, true, response, err);
	if (render_is_graph(format))
		return render_graph(profile, &view, options, response, err);
	if (strcmp(format, "wick") != 0)
		return write_export(profile, format, response, err);
	response->type = "application/octet-stream";
	return render_recording(profile, &response->body, err);
}
