/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/profile.h"

/* A file, and a profile of who looks at it. */
struct world {
	char root[64];
	char file[96];
	char below[96];
	struct profile *profile;
};

static int set_up(void **state)
{
	static const struct value_type type = {"samples", "count"};
	static struct world world;
	FILE *out;

	(void)snprintf(world.root, sizeof(world.root), "/tmp/wick-source.XXXXXX");
	if (!mkdtemp(world.root))
		return -1;
	(void)snprintf(world.below, sizeof(world.below), "%s/src", world.root);
	(void)snprintf(world.file, sizeof(world.file), "%s/src/a.c", world.root);
	if (mkdir(world.below, 0700) < 0 || profile_new(&type, 1, &world.profile) < 0)
		return -1;
	world.profile->sources.is_own = true;
	world.profile->sources.has_user = true;
	world.profile->sources.user_uid = geteuid();
	out = fopen(world.file, "we");
	if (!out)
		return -1;
	(void)fputs("one\r\ntwo\n\nfour", out);
	*state = &world;
	return fclose(out);
}

static int tear_down(void **state)
{
	const struct world *world = *state;

	profile_free(world->profile);
	(void)unlink(world->file);
	(void)rmdir(world->below);
	return rmdir(world->root);
}

static uint32_t text_of(const struct world *world, const char *text)
{
	return strings_add(&world->profile->strings, text);
}

/* Debug information of the reader's own says that the file was compiled in the root. */
static struct profile_source *name_file(const struct world *world)
{
	struct profile_source source = {.path = text_of(world, world->file),
					.tree = (uint32_t)strlen(world->root),
					.is_known = true,
					.uid = geteuid()};

	assert_int_equal(profile_sources_add(&world->profile->sources, &source), 0);
	return &world->profile->sources.items.items[0];
}

static void assert_found(const struct world *world, const struct source_search *search,
			 const char *path)
{
	struct source_file file = {0};

	assert_int_equal(source_file_find(search, world->profile, text_of(world, path), &file), 0);
	assert_string_equal(file.path, world->file);
	assert_int_equal(file.line_count, 4);
	assert_string_equal(source_file_line(&file, 1), "one");
	assert_string_equal(source_file_line(&file, 3), "");
	assert_string_equal(source_file_line(&file, 4), "four");
	assert_null(source_file_line(&file, 0));
	assert_null(source_file_line(&file, 5));
	source_file_fini(&file);
}

static void assert_lacks(const struct world *world, const struct source_search *search,
			 const char *path, enum source_lack lack)
{
	struct source_file file = {0};

	assert_int_equal(source_file_find(search, world->profile, text_of(world, path), &file),
			 -ENOENT);
	assert_int_equal(file.lack, lack);
	assert_null(file.text);
}

static void a_path_is_found_as_it_is_or_by_what_maps_and_directories_say(void **state)
{
	const struct world *world = *state;
	const char *directory = world->root;
	char map[128];
	char whole[256];
	const char *maps[] = {"/other=/nowhere", map, whole};
	struct source_search by_map = {.maps = maps, .map_count = 3, .is_asked = true};
	struct source_search by_directory = {
		.directories = &directory, .directory_count = 1, .is_asked = true};

	(void)snprintf(map, sizeof(map), "/build/x=%s", world->root);
	(void)snprintf(whole, sizeof(whole), "/gen/b.c=%s", world->file);
	(void)name_file(world);
	assert_found(world, &(struct source_search){.is_asked = true}, world->file);
	assert_found(world, &by_map, "/build/x/src/a.c");
	assert_found(world, &by_map, "/gen/b.c");
	assert_found(world, &by_directory, "/build/x/src/a.c");
	assert_found(world, &by_directory, "src/a.c");
}

static void what_is_no_source_file_is_not_found(void **state)
{
	const struct world *world = *state;
	const char *directory = world->root;
	char map[128];
	const char *maps[] = {map};
	struct source_search search = {.directories = &directory,
				       .directory_count = 1,
				       .maps = maps,
				       .map_count = 1,
				       .is_asked = true};
	const char *const cases[] = {"",    "/dev/zero",       "/src", "src",
				     "a.h", "/build/xsrc/a.h", "/",    "/src/./a.h"};
	struct source_file file;

	(void)snprintf(map, sizeof(map), "/build/x=%s/", world->root);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			source_file_find(&search, world->profile, text_of(world, cases[i]), &file),
			-ENOENT);
	/* A path without a directory is not looked for where we happen to be. */
	assert_int_equal(chdir(world->below), 0);
	assert_lacks(world, &(struct source_search){.is_asked = true}, "a.c", SOURCE_LACK_FILE);
	assert_int_equal(chdir("/"), 0);
}

static void a_path_that_no_debug_information_names_is_not_read(void **state)
{
	const struct world *world = *state;

	assert_lacks(world, &(struct source_search){.is_asked = true}, world->file,
		     SOURCE_LACK_FOLDER);
}

static void what_is_all_the_readers_own_need_not_be_asked_for(void **state)
{
	const struct world *world = *state;

	(void)name_file(world);
	assert_found(world, &(struct source_search){0}, world->file);
}

static void what_others_have_to_do_with_must_be_asked_for(void **state)
{
	const struct world *world = *state;
	const char *directory = world->below;
	struct source_search search = {.directories = &directory, .directory_count = 1};
	struct profile_sources *sources = &world->profile->sources;
	struct profile_source *source = name_file(world);

	assert_int_equal(chmod(world->file, 0644), 0);
	assert_int_equal(chmod(world->root, 0755), 0);
	assert_int_equal(chmod(world->below, 0755), 0);
	for (int i = 0; i < 5; i++) {
		sources->is_own = i != 0;
		sources->has_user = i != 1;
		sources->user_uid = i == 2 ? 54321 : geteuid();
		source->is_known = i != 3;
		source->uid = i == 4 ? 54321 : geteuid();
		search.is_asked = false;
		assert_lacks(world, &search, world->file, SOURCE_LACK_REQUEST);
		search.is_asked = true;
		assert_found(world, &search, world->file);
	}
}

static void what_the_owner_may_not_read_is_never_read(void **state)
{
	const struct world *world = *state;
	struct source_search search = {.is_asked = true};
	struct profile_sources *sources = &world->profile->sources;
	struct profile_source *source = name_file(world);

	assert_int_equal(chmod(world->file, 0600), 0);
	source->uid = 54321;
	assert_lacks(world, &search, world->file, SOURCE_LACK_RIGHTS);
	source->is_known = false;
	assert_lacks(world, &search, world->file, SOURCE_LACK_RIGHTS);
	source->is_known = true;
	source->uid = geteuid();
	assert_found(world, &search, world->file);
	sources->user_uid = 54321;
	assert_lacks(world, &search, world->file, SOURCE_LACK_RIGHTS);
	sources->has_user = false;
	assert_lacks(world, &search, world->file, SOURCE_LACK_RIGHTS);
}

static void one_who_names_a_file_and_is_trusted_is_enough(void **state)
{
	const struct world *world = *state;
	struct profile_source other = *name_file(world);

	world->profile->sources.items.items[0].uid = 54321;
	other.module = 1;
	assert_int_equal(profile_sources_add(&world->profile->sources, &other), 0);
	assert_int_equal(world->profile->sources.items.count, 2);
	assert_found(world, &(struct source_search){0}, world->file);
}

static void every_reason_but_a_missing_file_is_told(void **state)
{
	assert_null(source_lack_text(SOURCE_LACK_NONE));
	assert_null(source_lack_text(SOURCE_LACK_FILE));
	for (int lack = SOURCE_LACK_FOLDER; lack < SOURCE_LACKS; lack++)
		assert_non_null(
			strstr(source_lack_text((enum source_lack)lack), "source left out"));
	assert_non_null(strstr(source_lack_text(SOURCE_LACK_REQUEST), "--source "));
	assert_non_null(strstr(source_lack_text(SOURCE_LACK_FOLDER), "--source-path DIR"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_path_is_found_as_it_is_or_by_what_maps_and_directories_say, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_source_file_is_not_found, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_path_that_no_debug_information_names_is_not_read,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_all_the_readers_own_need_not_be_asked_for,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_others_have_to_do_with_must_be_asked_for,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_owner_may_not_read_is_never_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_who_names_a_file_and_is_trusted_is_enough,
						set_up, tear_down),
		cmocka_unit_test(every_reason_but_a_missing_file_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
