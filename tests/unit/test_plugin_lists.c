/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugin/plugin_lists.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "load/load.h"
#include "make_profile.h"
#include "make_recording.h"
#include "symbol/name_source.h"
#include "view/report/analyser.h"
#include "view/view.h"

/* A plug-in of all kinds. Functions fail when told to by the name of what they are given. */

static int write_title(const struct wick_plugin_host *host, const struct wick_profile *profile,
		       const struct wick_plugin_request *request, struct wick_plugin_output *out,
		       struct wick_error *err)
{
	struct wick_profile_info info = {.size = sizeof(info)};
	const char *name = host->profile_value_name(profile, request->value);

	if (host->profile_describe(profile, &info, err) < 0 || request->limit == 666)
		return -EIO;
	(void)host->write(out, info.title, strlen(info.title));
	(void)host->write(out, request->json ? " json " : " text ", 6);
	(void)host->write(out, name, strlen(name));
	return 0;
}

static int find_samples(const struct wick_plugin_host *host, const struct wick_profile *profile,
			struct wick_plugin_findings *findings, struct wick_error *err)
{
	struct wick_profile_info info = {.size = sizeof(info)};
	char text[64];
	int r = host->profile_describe(profile, &info, err);

	if (r < 0)
		return r;
	if (info.samples == 0) {
		(void)snprintf(err->text, sizeof(err->text), "there are no samples");
		return -ENODATA;
	}
	(void)snprintf(text, sizeof(text), "%llu samples", (unsigned long long)info.samples);
	(void)host->find(findings, WICK_PLUGIN_NOTE, text);
	return host->find(findings, 77, NULL); /* the worst that there is */
}

static int name_address(const struct wick_plugin_host *host,
			const struct wick_plugin_address *address, struct wick_plugin_symbol *ret,
			struct wick_error *err)
{
	static char name[200];

	if (address->vaddr == 0x999) {
		(void)snprintf(err->text, sizeof(err->text), "the server is gone");
		return -EIO;
	}
	if (address->vaddr == 0x555)
		return 0;
	(void)snprintf(name, sizeof(name), "_ZN4%s4f%llxEv",
		       strcmp(address->module, "/nowhere/libx.so") == 0 &&
				       strcmp(address->build_id, "00000000") == 0 &&
				       address->pid == 0
			       ? "libx"
			       : "0000",
		       (unsigned long long)address->vaddr);
	*ret = (struct wick_plugin_symbol){
		.size = ret->size, .function = name, .file = "server.c", .line = 7};
	return 1;
}

static const struct wick_plugin_resolver resolver = {"server", "names", name_address};
static const struct wick_plugin_view view = {"title", "the title", write_title};
static const struct wick_plugin_analyser analyser = {"count", "counts", find_samples};
static const struct wick_plugin_resolver *const resolvers[] = {&resolver, NULL};
static const struct wick_plugin_view *const plugin_views[] = {&view, NULL};
static const struct wick_plugin_analyser *const plugin_analysers[] = {&analyser, NULL};

#define PLUGIN                                                                                     \
	{                                                                                          \
		.abi = WICK_PLUGIN_ABI, .size = sizeof(struct wick_plugin), .name = "test",        \
		.resolvers = resolvers, .views = plugin_views, .analysers = plugin_analysers       \
	}

struct world {
	struct plugin_lists lists;
	char warning[200];
	int warnings;
};

static void keep_warning(void *self, const struct error *err)
{
	struct world *world = self;

	world->warnings++;
	(void)snprintf(world->warning, sizeof(world->warning), "%.199s", err->text);
}

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){0};
	*state = &world;
	return plugin_lists_init(&world.lists, keep_warning, &world);
}

static int tear_down(void **state)
{
	struct world *world = *state;

	plugin_lists_fini(&world->lists);
	return 0;
}

static void assert_left_out(struct world *world, const struct wick_plugin *plugin,
			    const char *words)
{
	size_t count = world->lists.views.count;
	struct error err = {0};

	assert_true(plugin_lists_add(&world->lists, plugin, &err) < 0);
	assert_non_null(strstr(err.text, words));
	assert_int_equal(world->lists.views.count, count); /* nothing of it stays */
	assert_null(world->lists.views.items[count - 1]);
	assert_null(world->lists.sources.items[world->lists.sources.count - 1]);
}

static void a_view_is_given_what_was_asked_for(void **state)
{
	struct world *world = *state;
	const struct wick_plugin plugin = PLUGIN;
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct profile *profile = make_profile();
	struct bytes out = {0};
	struct error err = {0};

	assert_int_equal(plugin_lists_add(&world->lists, &plugin, NULL), 0);
	options.json = true;
	options.value_name = "samples";
	assert_int_equal(view_write(world->lists.views.items[0], profile, &options, &out, NULL), 0);
	bytes_put_u8(&out, 0);
	assert_string_equal((char *)out.data, "app --demo json samples");
	options.limit = 666;
	assert_int_equal(view_write(world->lists.views.items[0], profile, &options, &out, &err),
			 -EIO);
	assert_non_null(strstr(err.text, "view title: the plug-in failed"));
	options.value_name = "none";
	assert_int_equal(view_write(world->lists.views.items[0], profile, &options, &out, &err),
			 -EINVAL);
	bytes_fini(&out);
	profile_free(profile);
}

static void an_analyser_adds_findings(void **state)
{
	struct world *world = *state;
	const struct wick_plugin plugin = PLUGIN;
	struct profile *profile = make_profile();
	struct findings findings = {0};
	struct bytes out = {0};
	struct error err = {0};

	assert_int_equal(plugin_lists_add(&world->lists, &plugin, NULL), 0);
	assert_int_equal(analyser_run(world->lists.analysers.items[0], profile, &findings, &err),
			 -ENODATA);
	assert_string_equal(err.text, "analyser count: there are no samples");
	make_stack(profile, 0, "main", 3);
	assert_int_equal(analyser_run(world->lists.analysers.items[0], profile, &findings, NULL),
			 0);
	findings_put_text(&findings, &out);
	bytes_put_u8(&out, 0);
	assert_string_equal((char *)out.data, "note     count: 3 samples\nerror    count: \n");
	bytes_fini(&out);
	findings_fini(&findings);
	profile_free(profile);
}

/* The functions of what is loaded, in order, with spaces between them. */
static void assert_functions(struct world *world, struct made *made, const char *expected)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct profile *profile = NULL;
	char text[300] = "";

	options.sources = world->lists.sources.items;
	assert_int_equal(load_profile(made->path, &options, &profile, NULL), 0);
	for (size_t i = 0; i < profile->functions.count; i++) {
		size_t used = strlen(text);

		(void)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "",
			       profile_text(profile, profile->functions.items[i].name));
	}
	assert_string_equal(text, expected);
	profile_free(profile);
}

static void a_resolver_is_asked_for_what_has_no_name(void **state)
{
	struct world *world = *state;
	const struct wick_plugin plugin = PLUGIN;
	struct made made;
	uint32_t thread;

	assert_int_equal(plugin_lists_add(&world->lists, &plugin, NULL), 0);
	make_begin(&made);
	thread = make_thread(&made, made.process, 100, "app");
	{
		struct frame frames[] = {user(&made, 0x1050), library(&made, 0x556),
					 library(&made, 0x99a), library(&made, 0x999),
					 library(&made, 0x777)};

		make_sample_in(&made, thread, 1000, frames, 5, NULL);
	}
	make_end(&made);
	/* Callers are looked up one byte before they go on. */
	assert_functions(world, &made,
			 "main libx.so+0x555 libx.so+0x999 libx::f998() libx::f777()");
	assert_int_equal(world->warnings, 1); /* it failed once, and is told once */
	assert_string_equal(world->warning, "resolver server: the server is gone");
	made_fini(&made);
}

static void what_lacks_a_member_is_left_out(void **state)
{
	static const struct wick_plugin_resolver no_resolve = {.name = "x", .summary = "x"};
	static const struct wick_plugin_view bad_name = {"Not so", "x", write_title};
	static const struct wick_plugin_analyser no_summary = {.name = "x",
							       .analyse = find_samples};
	struct world *world = *state;
	struct wick_plugin plugin = PLUGIN;

	plugin.resolvers =
		(const struct wick_plugin_resolver *const[]){&resolver, &no_resolve, NULL};
	assert_left_out(world, &plugin, "a resolver lacks");
	plugin = (struct wick_plugin)PLUGIN;
	plugin.views = (const struct wick_plugin_view *const[]){&view, &bad_name, NULL};
	assert_left_out(world, &plugin, "a view lacks");
	plugin = (struct wick_plugin)PLUGIN;
	plugin.analysers = (const struct wick_plugin_analyser *const[]){&no_summary, NULL};
	assert_left_out(world, &plugin, "an analyser lacks");
	plugin = (struct wick_plugin)PLUGIN;
	plugin.name = NULL;
	assert_left_out(world, &plugin, "no name");
}

static void names_are_taken_by_wick_and_by_others(void **state)
{
	static const struct wick_plugin_view function = {"function", "x", write_title};
	static const struct wick_plugin_analyser all = {"all", "x", find_samples};
	struct world *world = *state;
	struct wick_plugin plugin = PLUGIN;

	plugin.views = (const struct wick_plugin_view *const[]){&function, NULL};
	assert_left_out(world, &plugin, "there is already a view function");
	plugin.views = NULL;
	plugin.analysers = (const struct wick_plugin_analyser *const[]){&all, NULL};
	assert_left_out(world, &plugin, "there is already an analyser all");
	plugin = (struct wick_plugin)PLUGIN;
	assert_int_equal(plugin_lists_add(&world->lists, &plugin, NULL), 0);
	assert_left_out(world, &plugin, "there is already a view title");
}

/* One that knew exporters and importers alone: what lies behind it is not its own. */
static void an_older_plug_in_is_not_read_beyond_its_end(void **state)
{
	struct world *world = *state;
	struct wick_plugin plugin = PLUGIN;

	plugin.size = offsetof(struct wick_plugin, resolvers);
	(void)memset((char *)&plugin + plugin.size, 0xa5, sizeof(plugin) - plugin.size);
	assert_int_equal(plugin_lists_add(&world->lists, &plugin, NULL), 0);
	assert_null(world->lists.views.items[0]);
	plugin.size--;
	assert_left_out(world, &plugin, "it has no size");
}

static void a_newer_one_is_left_out_if_it_brings_more(void **state)
{
	struct world *world = *state;
	struct {
		struct wick_plugin known;
		const void *more;
	} plugin = {.known = PLUGIN};

	plugin.known.size = sizeof(plugin);
	assert_int_equal(plugin_lists_add(&world->lists, &plugin.known, NULL), 0);
	assert_non_null(world->lists.views.items[0]);
	plugin.more = &plugin;
	assert_left_out(world, &plugin.known, "a newer wick");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_view_is_given_what_was_asked_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_analyser_adds_findings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_resolver_is_asked_for_what_has_no_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_lacks_a_member_is_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_are_taken_by_wick_and_by_others, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_older_plug_in_is_not_read_beyond_its_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_newer_one_is_left_out_if_it_brings_more, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
