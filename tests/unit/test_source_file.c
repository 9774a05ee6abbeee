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

struct world {
	char root[64];
	char file[96];
	char below[96];
};

static int set_up(void **state)
{
	static struct world world;
	FILE *out;

	(void)snprintf(world.root, sizeof(world.root), "/tmp/wick-source.XXXXXX");
	if (!mkdtemp(world.root))
		return -1;
	(void)snprintf(world.below, sizeof(world.below), "%s/src", world.root);
	(void)snprintf(world.file, sizeof(world.file), "%s/src/a.c", world.root);
	if (mkdir(world.below, 0700) < 0)
		return -1;
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

	(void)unlink(world->file);
	(void)rmdir(world->below);
	return rmdir(world->root);
}

static void assert_found(const struct world *world, const struct source_search *search,
			 const char *path)
{
	struct source_file file = {0};

	assert_int_equal(source_file_find(search, path, &file), 0);
	assert_string_equal(file.path, world->file);
	assert_int_equal(file.line_count, 4);
	assert_string_equal(source_file_line(&file, 1), "one");
	assert_string_equal(source_file_line(&file, 3), "");
	assert_string_equal(source_file_line(&file, 4), "four");
	assert_null(source_file_line(&file, 0));
	assert_null(source_file_line(&file, 5));
	source_file_fini(&file);
}

static void a_path_is_found_as_it_is_or_by_what_maps_and_directories_say(void **state)
{
	const struct world *world = *state;
	const char *directory = world->root;
	char map[128];
	const char *maps[] = {"/other=/nowhere", map};
	struct source_search by_map = {.maps = maps, .map_count = 2};
	struct source_search by_directory = {.directories = &directory, .directory_count = 1};

	(void)snprintf(map, sizeof(map), "/build/x=%s", world->root);
	assert_found(world, &(struct source_search){0}, world->file);
	assert_found(world, &by_map, "/build/x/src/a.c");
	assert_found(world, &by_directory, "/build/x/src/a.c");
	assert_found(world, &by_directory, "src/a.c");
}

static void what_is_no_source_file_is_not_found(void **state)
{
	const struct world *world = *state;
	const char *directory = world->root;
	char map[128];
	const char *maps[] = {map};
	struct source_search search = {
		.directories = &directory, .directory_count = 1, .maps = maps, .map_count = 1};
	const char *const cases[] = {"", "/dev/zero", "/src", "src", "a.h", "/build/xsrc/a.h", "/"};
	struct source_file file;

	(void)snprintf(map, sizeof(map), "/build/x=%s/", world->root);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(source_file_find(&search, cases[i], &file), -ENOENT);
	/* A path without a directory is not looked for where we happen to be. */
	assert_int_equal(chdir(world->below), 0);
	assert_int_equal(source_file_find(&(struct source_search){0}, "a.c", &file), -ENOENT);
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_path_is_found_as_it_is_or_by_what_maps_and_directories_say, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_source_file_is_not_found, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
