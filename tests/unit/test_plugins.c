/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "import/import.h"
#include "load/load.h"
#include "model/profile.h"
#include "plugin/plugins.h"

struct warnings {
	char text[2048];
	char remedy[512]; /* of the last */
	int count;
};

static void keep_warning(void *self, const struct error *err)
{
	struct warnings *warnings = self;
	size_t n = strlen(warnings->text);

	(void)snprintf(warnings->text + n, sizeof(warnings->text) - n, "%s\n", err->text);
	assert_true(err->remedy[0] != '\0');
	(void)snprintf(warnings->remedy, sizeof(warnings->remedy), "%s", err->remedy);
	warnings->count++;
}

/* Loads what input is with these plug-ins and writes it as a format. */
static int convert(const struct plugins *plugins, const char *input, const char *format,
		   struct bytes *out, struct error *err)
{
	const struct export_config config = {.value = EXPORT_DEFAULT_VALUE};
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	char path[] = "/tmp/wick-plugin-XXXXXX";
	struct profile *profile = NULL;
	int fd = mkstemp(path);
	int r;

	assert_true(fd >= 0 && write(fd, input, strlen(input)) == (ssize_t)strlen(input));
	assert_int_equal(close(fd), 0);
	options.importers = plugins_importers(plugins);
	r = load_profile(path, &options, &profile, err);
	if (r == 0)
		r = exporter_write(plugins_find_exporter(plugins, format), profile, &config, out,
				   err);
	bytes_put_u8(out, 0);
	profile_free(profile);
	(void)unlink(path);
	return r;
}

static void a_plug_in_brings_formats_to_write_and_to_read(void **state)
{
	struct warnings warnings = {0};
	struct plugins *plugins = plugins_load(EXAMPLE_PLUGIN, keep_warning, &warnings);
	struct bytes paths = {0};
	struct bytes folded = {0};

	assert_string_equal(warnings.text, "");
	assert_string_equal(plugins_exporters(plugins)[0]->name, "paths");
	assert_string_equal(plugins_exporters(plugins)[0]->plugin, "paths");
	assert_string_equal(plugins_importers(plugins)[0]->name, "paths");
	assert_int_equal(convert(plugins, "app;main;parse 30\n", "paths", &paths, NULL), 0);
	assert_string_equal((char *)paths.data, "#paths\napp/main/parse 30\n");
	assert_int_equal(convert(plugins, (char *)paths.data, "folded", &folded, NULL), 0);
	assert_string_equal((char *)folded.data, "app;main;parse 30\n");
	bytes_fini(&paths);
	bytes_fini(&folded);
	plugins_free(plugins);
}

static void what_a_plug_in_says_reaches_the_user(void **state)
{
	struct plugins *plugins = plugins_load(EXAMPLE_PLUGIN, NULL, NULL);
	struct bytes out = {0};
	struct error err = {0};

	assert_true(convert(plugins, "#paths\napp/main\n", "folded", &out, &err) < 0);
	assert_non_null(strstr(err.text, "read as paths: a line does not end in a count"));
	bytes_fini(&out);
	plugins_free(plugins);
}

static void what_cannot_be_used_is_one_warning_each(void **state)
{
	struct warnings warnings = {0};
	struct plugins *plugins =
		plugins_load(OTHER_ABI ":" NO_PLUGIN ":/no/such/folder:", keep_warning, &warnings);

	assert_int_equal(warnings.count, 3);
	assert_non_null(strstr(warnings.text, "/no/such/folder not loaded"));
	assert_non_null(
		strstr(warnings.text, "it was built for plug-in ABI 42, but this wick has 1"));
	assert_non_null(strstr(warnings.text, "it has no symbol wick_plugin"));
	assert_null(plugins_exporters(plugins)[0]);
	assert_null(plugins_importers(plugins)[0]);
	plugins_free(plugins);
}

static void a_name_is_taken_once(void **state)
{
	struct warnings warnings = {0};
	struct plugins *plugins =
		plugins_load(EXAMPLE_PLUGIN ":" EXAMPLE_PLUGIN, keep_warning, &warnings);

	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(warnings.text, "there is already a format paths"));
	assert_non_null(plugins_exporters(plugins)[0]);
	assert_null(plugins_exporters(plugins)[1]);
	assert_null(plugins_importers(plugins)[1]); /* nothing of the second one stays */
	plugins_free(plugins);
}

static void copy_to(const char *path)
{
	FILE *from = fopen(EXAMPLE_PLUGIN, "re");
	FILE *to = fopen(path, "we");
	char part[4096];
	size_t n;

	assert_non_null(from);
	assert_non_null(to);
	while ((n = fread(part, 1, sizeof(part), from)) > 0)
		assert_int_equal(fwrite(part, 1, n, to), n);
	(void)fclose(from); /* only read from */
	assert_int_equal(fclose(to), 0);
	assert_int_equal(chmod(path, 0644), 0);
}

/* Both what is in a folder that is named, and that others may not put it there. */
static void a_folder_that_others_can_write_to_is_not_trusted(void **state)
{
	char folder[] = "/tmp/wick-plugins-XXXXXX";
	char path[64];
	struct warnings warnings = {0};
	struct plugins *plugins;

	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/x.so", folder);
	copy_to(path);
	plugins = plugins_load(folder, keep_warning, &warnings);
	assert_string_equal(warnings.text, "");
	assert_non_null(plugins_exporters(plugins)[0]);
	plugins_free(plugins);

	assert_int_equal(chmod(folder, 0777 | S_ISVTX), 0);
	plugins = plugins_load(folder, keep_warning, &warnings);
	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(warnings.text, "others can write to /tmp/wick-plugins-"));
	assert_string_equal(warnings.remedy, "put it in a directory that only you can write to");
	assert_null(plugins_exporters(plugins)[0]);
	plugins_free(plugins);

	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(chmod(path, 0666), 0);
	plugins = plugins_load(folder, keep_warning, &warnings);
	assert_int_equal(warnings.count, 2);
	assert_non_null(strstr(warnings.remedy, "chmod go-w /tmp/wick-plugins-"));
	assert_null(plugins_exporters(plugins)[0]);
	plugins_free(plugins);
	(void)unlink(path);
	assert_int_equal(rmdir(folder), 0);
}

/*
 * Asserts that nothing of paths is loaded, with one warning that has these words, by a user that
 * is not root: in a process of its own. It may keep the capabilities that root had.
 */
static void assert_one_warning_as_nobody(const char *paths, const char *words, bool is_capable)
{
	struct warnings warnings = {0};
	struct plugins *plugins;
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		return;
	}
	if (is_capable && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		_exit(2);
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		_exit(3);
	plugins = plugins_load(paths, keep_warning, &warnings);
	_exit(warnings.count == 1 && strstr(warnings.text, words) && plugins &&
			      !plugins_exporters(plugins)[0]
		      ? 0
		      : 1);
}

static void a_folder_that_cannot_be_read_is_one_warning(void **state)
{
	char folder[] = "/tmp/wick-plugins-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0), 0);
	assert_one_warning_as_nobody(folder, "cannot read the directory: permission denied", false);
	assert_int_equal(rmdir(folder), 0);
}

static void none_is_loaded_with_capabilities_of_another(void **state)
{
	if (geteuid() != 0)
		skip();
	assert_one_warning_as_nobody(EXAMPLE_PLUGIN ":" OTHER_ABI, "elevated privileges", true);
}

static void without_plug_ins_there_are_the_formats_of_wick(void **state)
{
	assert_null(plugins_exporters(NULL)[0]);
	assert_null(plugins_importers(NULL)[0]);
	assert_ptr_equal(plugins_find_exporter(NULL, "folded"), exporter_find("folded"));
	assert_null(plugins_find_exporter(NULL, "paths"));
	plugins_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plug_in_brings_formats_to_write_and_to_read),
		cmocka_unit_test(what_a_plug_in_says_reaches_the_user),
		cmocka_unit_test(what_cannot_be_used_is_one_warning_each),
		cmocka_unit_test(a_name_is_taken_once),
		cmocka_unit_test(a_folder_that_others_can_write_to_is_not_trusted),
		cmocka_unit_test(a_folder_that_cannot_be_read_is_one_warning),
		cmocka_unit_test(none_is_loaded_with_capabilities_of_another),
		cmocka_unit_test(without_plug_ins_there_are_the_formats_of_wick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
