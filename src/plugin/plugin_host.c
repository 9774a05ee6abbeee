/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugin/plugin_host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "export/export.h"
#include "import/builder.h"
#include "import/import.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "libwick/sized_struct.h"
#include "model/entity.h"
#include "model/profile.h"
#include "recording/format.h"
#include "symbol/name_source.h"
#include "view/report/analyser.h"
#include "view/value_choice.h"
#include "view/view.h"

struct wick_plugin_output {
	struct bytes *bytes;
};

struct wick_plugin_builder {
	struct import_builder *inner;
	bool has_begun;
	VEC(struct frame) frames;
};

#define USE "report it to the author of the plug-in: include/wick/plugin.h describes the call"

static int host_write(struct wick_plugin_output *out, const void *data, size_t size)
{
	bytes_put(out->bytes, data, size);
	return out->bytes->failed ? -ENOMEM : 0;
}

static int hand_back(int r, struct error *inner, struct wick_error *err)
{
	if (r >= 0)
		return r;
	if (inner->code == 0)
		(void)error_errno(inner, r, "cannot store data from the plug-in");
	return public_error(inner, err);
}

static int host_begin(struct wick_plugin_builder *builder, const char *value, const char *unit,
		      struct wick_error *err)
{
	struct error inner = {0};
	int r = 0;

	if (builder->has_begun || !value || !unit)
		r = error_advise(&inner,
				 error_set(&inner, -EINVAL,
					   "the plug-in must call begin() of its builder once, "
					   "with a value and a unit"),
				 USE);
	if (r == 0)
		r = import_schema(builder->inner, value, value, unit, 1);
	builder->has_begun = builder->has_begun || r == 0;
	return hand_back(r, &inner, err);
}

static int add_frame(struct wick_plugin_builder *builder, const struct wick_profile_frame *given)
{
	struct frame frame = {.kind = FRAME_CUSTOM};
	struct place place = {
		.name = given->function ? given->function : "",
		.file = given->file ? given->file : "",
		.line = given->line,
		.module = MODULE_NONE,
		.outer = PLACE_NONE,
	};
	int r;

	if (strlen(place.name) > RECORDING_MAX_TEXT || strlen(place.file) > RECORDING_MAX_TEXT)
		return -ENAMETOOLONG;
	if (given->inlined && builder->frames.count > 0) /* replaces the frame it is inlined into */
		place.outer = builder->frames.items[--builder->frames.count].a;
	r = import_place(builder->inner, &place, &frame.a);
	return r < 0 ? r : vec_push(&builder->frames, frame);
}

static int add_stack(struct wick_plugin_builder *builder, const struct wick_profile_stack *given,
		     uint64_t samples, struct error *err)
{
	struct import_sample sample = {.times = samples};
	struct wick_profile_stack stack;
	size_t i;
	int r = sized_take(&stack, sizeof(stack), given, "wick_profile_stack", err);

	if (r < 0)
		return r;
	if (!builder->has_begun || stack.value_count != 1 || stack.values[0] < 0)
		return error_advise(err,
				    error_set(err, -EINVAL,
					      "the plug-in must call add() of its builder after "
					      "begin(), with a stack and one value of 0 or more"),
				    USE);
	builder->frames.count = 0;
	for (i = 0; i < stack.frame_count && r == 0; i++)
		r = add_frame(builder, &stack.frames[i]);
	if (r == 0)
		r = import_thread(builder->inner, stack.pid, stack.tid,
				  stack.thread ? stack.thread : "",
				  stack.process ? stack.process : "", &sample.thread);
	if (r < 0)
		return error_errno(err, r, "cannot store a stack from the plug-in");
	sample.frames = builder->frames.items;
	sample.frame_count = builder->frames.count;
	sample.weight = (uint64_t)stack.values[0];
	return import_sample(builder->inner, &sample, err);
}

static int host_add(struct wick_plugin_builder *builder, const struct wick_profile_stack *stack,
		    uint64_t samples, struct wick_error *err)
{
	struct error inner = {0};
	int r = add_stack(builder, stack, samples, &inner);

	return hand_back(r, &inner, err);
}

struct wick_plugin_findings {
	struct findings *inner;
};

static int host_find(struct wick_plugin_findings *findings, uint32_t severity, const char *text)
{
	return findings_add(findings->inner,
			    severity <= WICK_PLUGIN_ERROR ? (enum finding_severity)severity
							  : FINDING_ERROR,
			    text ? text : "");
}

static const struct wick_plugin_host host = {
	.size = sizeof(host),
	.profile_describe = wick_profile_describe,
	.profile_value_name = wick_profile_value_name,
	.profile_value_unit = wick_profile_value_unit,
	.stacks_new = wick_stacks_new,
	.stacks_next = wick_stacks_next,
	.stacks_free = wick_stacks_free,
	.functions_new = wick_functions_new,
	.functions_count = wick_functions_count,
	.functions_get = wick_functions_get,
	.functions_free = wick_functions_free,
	.write = host_write,
	.begin = host_begin,
	.add = host_add,
	.find = host_find,
};

/* Converts an error of a plug-in to ours: its texts may lack the terminating NUL. */
static int tell(int r, struct wick_error *said, const char *what, struct error *err)
{
	if (r >= 0)
		return 0;
	said->text[sizeof(said->text) - 1] = '\0';
	said->remedy[sizeof(said->remedy) - 1] = '\0';
	if (!said->text[0])
		return error_errno(err, r, "%s", what);
	(void)error_set(err, r, "%s", said->text);
	error_remedy(err, "%s",
		     said->remedy[0]
			     ? said->remedy
			     : "ask the author of the plug-in, or remove it from WICK_PLUGINS");
	return r;
}

static int export_by_plugin(const void *origin, const struct profile *profile, struct bytes *out,
			    struct error *err)
{
	const struct wick_plugin_exporter *exporter = origin;
	const struct wick_profile handle = {.profile = profile};
	struct wick_plugin_output output = {out};
	struct wick_error said = {0};
	int r = exporter->write(&host, &handle, &output, &said);

	return tell(r, &said, "the plug-in failed", err);
}

static bool recognised_by_plugin(const void *origin, const uint8_t *data, size_t size)
{
	const struct wick_plugin_importer *importer = origin;

	return importer->recognise(data, size) > 0;
}

static int import_by_plugin(const void *origin, const uint8_t *data, size_t size,
			    struct import_builder *inner, struct error *err)
{
	const struct wick_plugin_importer *importer = origin;
	struct wick_plugin_builder builder = {.inner = inner};
	struct wick_error said = {0};
	int r = importer->read(&host, data, size, &builder, &said);

	vec_fini(&builder.frames);
	if (r < 0)
		return tell(r, &said, "the plug-in failed", err);
	if (!builder.has_begun)
		return error_advise(
			err, error_set(err, -EBADMSG, "plug-in %s found no values", importer->name),
			"remove it from WICK_PLUGINS if it is not meant for such files");
	return import_finish(inner, 0, err);
}

struct exporter_ops plugin_exporter_ops(const struct wick_plugin_exporter *exporter,
					const char *plugin)
{
	return (struct exporter_ops){.name = exporter->name,
				     .summary = exporter->summary,
				     .extension = exporter->extension,
				     .plugin = plugin,
				     .origin = exporter,
				     .write_of = export_by_plugin};
}

struct importer_ops plugin_importer_ops(const struct wick_plugin_importer *importer,
					const char *plugin)
{
	return (struct importer_ops){.name = importer->name,
				     .summary = importer->summary,
				     .plugin = plugin,
				     .origin = importer,
				     .recognise_of = recognised_by_plugin,
				     .read_of = import_by_plugin,
				     .is_kept = true};
}

static int show_by_plugin(const void *origin, const struct profile *profile,
			  const struct report_options *options, struct bytes *out,
			  struct error *err)
{
	const struct wick_plugin_view *view = origin;
	const struct wick_profile handle = {.profile = profile};
	struct wick_plugin_request request = {.size = sizeof(request),
					      .limit = options->limit,
					      .json = options->json,
					      .color = options->color};
	struct wick_plugin_output output = {out};
	struct wick_error said = {0};
	int r = value_choose(profile, options->value_name, options->value, &request.value, err);

	if (r < 0)
		return r;
	r = view->write(&host, &handle, &request, &output, &said);
	if (r < 0) {
		(void)tell(r, &said, "the plug-in failed", err);
		return error_prefix(err, r, "view %s", view->name);
	}
	return out->failed ? error_set(err, -ENOMEM, "out of memory") : 0;
}

struct view_ops plugin_view_ops(const struct wick_plugin_view *view, const char *plugin)
{
	return (struct view_ops){.name = view->name,
				 .summary = view->summary,
				 .plugin = plugin,
				 .origin = view,
				 .write_of = show_by_plugin};
}

static int analyse_by_plugin(const void *origin, const struct profile *profile,
			     struct findings *inner, struct error *err)
{
	const struct wick_plugin_analyser *analyser = origin;
	const struct wick_profile handle = {.profile = profile};
	struct wick_plugin_findings findings = {inner};
	struct wick_error said = {0};
	int r = analyser->analyse(&host, &handle, &findings, &said);

	return tell(r, &said, "the plug-in failed", err);
}

struct analyser_ops plugin_analyser_ops(const struct wick_plugin_analyser *analyser,
					const char *plugin)
{
	return (struct analyser_ops){.name = analyser->name,
				     .summary = analyser->summary,
				     .plugin = plugin,
				     .origin = analyser,
				     .analyse_of = analyse_by_plugin};
}

/* Reported once: there may be a million addresses. */
static void tell_failure(struct plugin_resolver *resolver, int r, struct wick_error *said)
{
	struct error err = {0};

	if (resolver->has_failed || !resolver->warn)
		return;
	resolver->has_failed = true;
	(void)tell(r, said, "the plug-in failed", &err);
	(void)error_prefix(&err, r, "resolver %s", resolver->given->name);
	resolver->warn(resolver->self, &err);
}

static bool resolve_by_plugin(void *self, const struct name_query *query, struct name_answer *ret)
{
	struct plugin_resolver *resolver = self;
	char build_id[2 * BUILD_ID_MAX + 1] = "";
	struct wick_plugin_address address = {.size = sizeof(address),
					      .module = query->module,
					      .build_id = build_id,
					      .vaddr = query->vaddr,
					      .pid = query->pid};
	struct wick_plugin_symbol symbol = {.size = sizeof(symbol)};
	struct wick_error said = {0};
	int r;

	if (query->build_id)
		build_id_format(query->build_id, build_id);
	r = resolver->given->resolve(&host, &address, &symbol, &said);
	if (r < 0)
		tell_failure(resolver, r, &said);
	if (r <= 0 || !symbol.function || !*symbol.function)
		return false;
	*ret = (struct name_answer){symbol.function, symbol.file, symbol.line};
	return true;
}

struct name_source plugin_name_source(struct plugin_resolver *resolver, const char *plugin)
{
	return (struct name_source){.name = resolver->given->name,
				    .summary = resolver->given->summary,
				    .plugin = plugin,
				    .self = resolver,
				    .find = resolve_by_plugin};
}
