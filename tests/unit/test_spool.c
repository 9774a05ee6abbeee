/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "recording/writer.h"

#define FOLDER_MAX 64
#define LARGE 1000000u
#define LONG_S 1000000u

static char notice_text[256];

static void take_notice(void *self, const char *text)
{
	(void)self;
	(void)snprintf(notice_text, sizeof(notice_text), "%s", text);
}

static void make_folder(char *ret)
{
	(void)snprintf(ret, FOLDER_MAX, "/tmp/wick-spool-XXXXXX");
	assert_non_null(mkdtemp(ret));
	notice_text[0] = '\0';
}

static void remove_folder(const char *folder)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

static struct spool *open_spool(const char *folder, uint64_t max_bytes)
{
	struct spool_config config = {.folder = folder,
				      .max_bytes = max_bytes,
				      .max_age_s = LONG_S,
				      .notice = take_notice};
	struct spool *spool = NULL;
	struct error err = {0};

	assert_int_equal(spool_open(&config, &spool, &err), 0);
	return spool;
}

/* A recording with a fact of a given size, which random bytes keep from being compressed. */
static void write_recording(int fd, size_t size)
{
	struct recording_writer *writer;
	struct error err = {0};
	char *text = malloc(size + 1);

	for (size_t i = 0; i < size; i++)
		text[i] = (char)('!' + random() % 90);
	text[size] = '\0';
	assert_int_equal(recording_writer_open(fd, "window", &writer, &err), 0);
	recording_writer_info(writer, "fact", text);
	assert_int_equal(recording_writer_finish(writer, &err), 0);
	recording_writer_free(writer);
	free(text);
}

static void put_window(struct spool *spool, const char *id, size_t size)
{
	struct error err = {0};
	int fd = spool_begin(spool, &err);

	assert_true(fd >= 0);
	write_recording(fd, size);
	assert_int_equal(spool_commit(spool, id, &err), 0);
}

static void expect_first(struct spool *spool, const char *id)
{
	struct spool_item item;
	struct bytes data = {0};
	struct error err = {0};

	assert_true(spool_first(spool, &item));
	assert_string_equal(item.id, id);
	assert_int_equal(spool_read(spool, &item, &data, &err), 0);
	assert_int_equal(data.size, item.bytes);
	bytes_fini(&data);
	spool_remove(spool, &item);
}

static void windows_come_back_in_order_also_after_a_restart(void **state)
{
	char folder[FOLDER_MAX];
	struct spool_item item;
	struct spool *spool;

	(void)state;
	make_folder(folder);
	spool = open_spool(folder, LARGE);
	put_window(spool, "host-1-1", 10);
	put_window(spool, "host-1-2", 10);
	spool_close(spool);
	spool = open_spool(folder, LARGE);
	put_window(spool, "host-2-1", 10); /* of another run: its number counts, not its name */
	expect_first(spool, "host-1-1");
	expect_first(spool, "host-1-2");
	expect_first(spool, "host-2-1");
	assert_false(spool_first(spool, &item));
	spool_close(spool);
	remove_folder(folder);
}

static void a_killed_agent_loses_only_the_open_window(void **state)
{
	char folder[FOLDER_MAX];
	struct spool_item item;
	struct spool *spool;
	int status;
	pid_t child;

	(void)state;
	make_folder(folder);
	child = fork();
	if (child == 0) {
		struct error err = {0};

		spool = open_spool(folder, LARGE);
		put_window(spool, "a", 10);
		put_window(spool, "b", 10);
		if (write(spool_begin(spool, &err), "WICK", 4) != 4)
			_exit(1);
		(void)kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	spool = open_spool(folder, LARGE);
	expect_first(spool, "a");
	expect_first(spool, "b");
	assert_false(spool_first(spool, &item));
	spool_close(spool);
	assert_int_equal(rmdir(folder), 0); /* nothing is left of the open window */
}

static void the_oldest_windows_are_removed_when_there_is_too_much(void **state)
{
	char folder[FOLDER_MAX];
	struct spool_stats stats;
	struct spool *spool;

	(void)state;
	make_folder(folder);
	spool = open_spool(folder, 25000);
	put_window(spool, "a", 10000);
	put_window(spool, "b", 10000);
	assert_string_equal(notice_text, "");
	put_window(spool, "c", 10000);
	spool_stats(spool, &stats);
	assert_int_equal(stats.dropped, 1);
	assert_int_equal(stats.windows, 2);
	assert_true(stats.bytes <= 25000);
	assert_non_null(strstr(notice_text, "--spool-age"));
	expect_first(spool, "b");
	put_window(spool, "d", 90000); /* too large itself: it stays, alone */
	spool_stats(spool, &stats);
	assert_int_equal(stats.windows, 1);
	expect_first(spool, "d");
	spool_close(spool);
	remove_folder(folder);
}

static void old_windows_are_removed(void **state)
{
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char folder[FOLDER_MAX];
	char path[FOLDER_MAX + 64];
	struct spool *spool;

	(void)state;
	make_folder(folder);
	spool = open_spool(folder, LARGE);
	put_window(spool, "a", 10);
	spool_close(spool);
	(void)snprintf(path, sizeof(path), "%s/0000000000000001-a.wick", folder);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	spool = open_spool(folder, LARGE);
	put_window(spool, "b", 10);
	expect_first(spool, "b");
	spool_close(spool);
	remove_folder(folder);
}

static void a_damaged_window_is_set_aside_with_a_message(void **state)
{
	char folder[FOLDER_MAX];
	char path[FOLDER_MAX + 64];
	struct spool_stats stats;
	struct spool_item item;
	struct bytes data = {0};
	struct error err = {0};
	struct spool *spool;

	(void)state;
	make_folder(folder);
	spool = open_spool(folder, LARGE);
	put_window(spool, "a", 10000);
	put_window(spool, "b", 10);
	(void)snprintf(path, sizeof(path), "%s/0000000000000001-a.wick", folder);
	assert_int_equal(truncate(path, 5000), 0);
	assert_true(spool_first(spool, &item));
	assert_int_equal(spool_read(spool, &item, &data, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "damaged"));
	(void)snprintf(path, sizeof(path), "%s/damaged/0000000000000001-a.wick", folder);
	assert_int_equal(access(path, R_OK), 0);
	spool_stats(spool, &stats);
	assert_int_equal(stats.damaged, 1);
	expect_first(spool, "b");
	bytes_fini(&data);
	spool_close(spool);
	remove_folder(folder);
}

static void a_folder_is_used_by_one_agent_and_is_private(void **state)
{
	char folder[FOLDER_MAX];
	struct spool_config config = {.folder = folder, .max_bytes = LARGE, .max_age_s = LONG_S};
	struct spool *other = NULL;
	struct spool *spool;
	struct error err = {0};

	(void)state;
	make_folder(folder);
	spool = open_spool(folder, LARGE);
	assert_int_equal(spool_open(&config, &other, &err), -EBUSY);
	spool_close(spool);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(spool_open(&config, &other, &err), -EPERM);
	remove_folder(folder);
}

static void an_id_is_taken_apart_as_it_was_joined(void **state)
{
	static const int64_t offsets_s[] = {0, 5, -18000, INT32_MAX};
	char joined[SPOOL_ID_MAX];
	char id[SPOOL_ID_MAX];

	for (size_t i = 0; i < sizeof(offsets_s) / sizeof(offsets_s[0]); i++) {
		spool_join_id(joined, "a@b-1-2", offsets_s[i]);
		assert_int_equal(spool_split_id(joined, id), offsets_s[i]);
		assert_string_equal(id, "a@b-1-2");
	}
}

static void an_id_of_an_agent_says_nothing_about_clocks(void **state)
{
	static const char *const ids[] = {"host-1-2", "a@b-1-2", "host@", ""};
	char id[SPOOL_ID_MAX];

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_int_equal(spool_split_id(ids[i], id), 0);
		assert_string_equal(id, ids[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_come_back_in_order_also_after_a_restart),
		cmocka_unit_test(a_killed_agent_loses_only_the_open_window),
		cmocka_unit_test(the_oldest_windows_are_removed_when_there_is_too_much),
		cmocka_unit_test(old_windows_are_removed),
		cmocka_unit_test(a_damaged_window_is_set_aside_with_a_message),
		cmocka_unit_test(a_folder_is_used_by_one_agent_and_is_private),
		cmocka_unit_test(an_id_is_taken_apart_as_it_was_joined),
		cmocka_unit_test(an_id_of_an_agent_says_nothing_about_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
