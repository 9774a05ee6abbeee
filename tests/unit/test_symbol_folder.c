/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/symbol_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/error.h"
#include "elf/elf.h"

/* Whoever waits holds a place that pushes need. */
static void an_upload_does_not_wait_for_another(void **state)
{
	static const struct build_id id = {.size = 8};
	char path[] = "/tmp/wick-symbols-XXXXXX";
	struct symbol_folder folder;
	struct error err = {0};
	char inner[64];

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(symbol_folder_open(&folder, path, 1 << 20, &err), 0);
	(void)pthread_mutex_lock(&folder.upload_lock); /* as one that is being read */
	assert_int_equal(symbol_folder_take(&folder, &id, "x", 1, &err), -EBUSY);
	assert_true(err.text[0] && err.remedy[0]);
	assert_int_equal(symbol_folder_stats(&folder).files, 0); /* neither do questions */
	(void)pthread_mutex_unlock(&folder.upload_lock);
	assert_int_equal(symbol_folder_take(&folder, &id, "x", 1, &err), -EINVAL);
	symbol_folder_close(&folder);
	(void)snprintf(inner, sizeof(inner), "%s/.build-id", path);
	assert_int_equal(remove(inner), 0);
	assert_int_equal(remove(path), 0);
}

/* Removes a folder with one file, "PATH/.build-id/AB/FILE"; "" if that is gone. */
static void remove_all(const char *path, const char *first, const char *file)
{
	char inner[128];

	(void)snprintf(inner, sizeof(inner), "%s/.build-id/%s/%s", path, first, file);
	assert_int_equal(*file ? remove(inner) : 0, 0);
	(void)snprintf(inner, sizeof(inner), "%s/.build-id/%s", path, first);
	assert_int_equal(remove(inner), 0);
	(void)snprintf(inner, sizeof(inner), "%s/.build-id", path);
	assert_int_equal(remove(inner), 0);
	assert_int_equal(remove(path), 0);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Reads this program, which is a file with a build id. */
static size_t read_own(uint8_t **ret, struct build_id *ret_id)
{
	struct elf_file *elf = NULL;
	struct error err = {0};
	struct stat status;
	FILE *file = fopen("/proc/self/exe", "re");

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	*ret = malloc((size_t)status.st_size);
	assert_non_null(*ret);
	assert_int_equal(fread(*ret, (size_t)status.st_size, 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(elf_open_memory(*ret, (size_t)status.st_size, "self", &elf, &err), 0);
	*ret_id = *elf_build_id(elf);
	elf_close(elf);
	return (size_t)status.st_size;
}

/* Else it would be counted no more, and never make room. */
static void a_file_that_could_not_be_replaced_is_still_counted(void **state)
{
	char path[] = "/tmp/wick-symbols-XXXXXX";
	struct symbol_folder folder;
	struct error err = {0};
	char hex[2 * BUILD_ID_MAX + 1];
	char first[3];
	char file[2 * BUILD_ID_MAX + 8];
	struct build_id id;
	uint8_t *data;
	size_t size = read_own(&data, &id);

	(void)state;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_non_null(mkdtemp(path));
	/* There is room for one. */
	assert_int_equal(symbol_folder_open(&folder, path, size + size / 2, &err), 0);
	assert_int_equal(symbol_folder_keep(&folder, &id, data, size, &err), 0);
	limit_files(1000);
	assert_true(symbol_folder_keep(&folder, &id, data, size, &err) < 0);
	limit_files(RLIM_INFINITY);
	assert_int_equal(symbol_folder_stats(&folder).files, 1);
	assert_int_equal(symbol_folder_stats(&folder).bytes, size);
	assert_int_equal(symbol_folder_keep(&folder, &id, data, size, &err), 0);
	assert_int_equal(symbol_folder_stats(&folder).files, 1);
	assert_int_equal(symbol_folder_stats(&folder).bytes, size);
	symbol_folder_close(&folder);
	build_id_format(&id, hex);
	(void)snprintf(first, sizeof(first), "%.2s", hex);
	(void)snprintf(file, sizeof(file), "%s.debug", hex + 2);
	remove_all(path, first, file);
	free(data);
}

static void what_a_killed_server_had_begun_to_write_is_removed(void **state)
{
	char path[] = "/tmp/wick-symbols-XXXXXX";
	struct symbol_folder folder;
	struct error err = {0};
	char inner[128];
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(path));
	(void)snprintf(inner, sizeof(inner), "%s/.build-id", path);
	assert_int_equal(mkdir(inner, 0700), 0);
	(void)snprintf(inner, sizeof(inner), "%s/.build-id/ab", path);
	assert_int_equal(mkdir(inner, 0700), 0);
	(void)snprintf(inner, sizeof(inner), "%s/.build-id/ab/00000000000000.debug.7.tmp", path);
	file = fopen(inner, "we");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(symbol_folder_open(&folder, path, 1 << 20, &err), 0);
	assert_int_equal(symbol_folder_stats(&folder).files, 0);
	symbol_folder_close(&folder);
	remove_all(path, "ab", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_upload_does_not_wait_for_another),
		cmocka_unit_test(a_file_that_could_not_be_replaced_is_still_counted),
		cmocka_unit_test(what_a_killed_server_had_begun_to_write_is_removed),
	};

	return cmocka_run_group_tests_name("symbol_folder", tests, NULL, NULL);
}
