/* SPDX-License-Identifier: BSD-2-Clause */

/* What a store must survive: kills, a full disk, damaged files, clocks that step. */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "store/database.h"

#include "store_world.h"

static void a_clock_that_steps_loses_nothing(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");

	append_one(world, &series, START + 5 * HOUR, 0, 1);
	append_one(world, &series, START + HOUR, 0, 10);
	maintain(world, START + 9 * HOUR);
	append_one(world, &series, START + 300 * HOUR, 0, 100);
	append_one(world, &series, START - 100 * HOUR, 0, 1000);
	maintain(world, START);
	maintain(world, START - 30 * HOUR);
	maintain(world, START + 9 * HOUR);
	append_one(world, &series, UINT32_MAX - 1, 0, 10000);
	assert_int_equal(total(world, all()), 11111);
	reopen_store(world);
	assert_int_equal(total(world, all()), 11111);
}

/* The path of the only file below a folder whose name ends so. */
static void find_file(struct world *world, const char *ending, char *ret, size_t size)
{
	char command[128];
	FILE *pipe;

	(void)snprintf(command, sizeof(command), "find %s -name '*%s' | head -n 1", world->folder,
		       ending);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(ret, (int)size, pipe));
	ret[strcspn(ret, "\n")] = '\0';
	(void)pclose(pipe);
}

static void overwrite(const char *path, off_t at)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "damage", 6, at), 6);
	(void)close(fd);
}

static void a_damaged_file_is_named_and_left_out(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct store_selector selector = all();
	struct store_stats stats;
	struct lines lines = {{0}};
	struct error err = {0};
	struct profile *profile;
	char path[256];

	append_one(world, &series, START, 0, 5);
	maintain(world, START + 2 * HOUR);
	find_file(world, ".parquet", path, sizeof(path));
	append_one(world, &series, START + HOUR, 0, 7);
	append_one(world, &series, START + 30, 0, 70);
	maintain(world, START + 9 * HOUR);
	find_file(world, ".parquet", path, sizeof(path));
	overwrite(path, 60);
	reopen_store(world);
	profile = ask(world, &selector);
	assert_true(profile->quality.incomplete);
	assert_int_equal(profile->quality.damaged_chunks, 1);
	assert_true(sum_of(profile, 1) < 82);
	profile_free(profile);
	fail_with(store_damaged(world->store, add_item, &lines, &err), &err);
	assert_non_null(strstr(lines.text, strstr(path, "rows/")));
	store_stats(world->store, &stats);
	assert_int_equal(stats.damaged_files, 1);
	/* All the rest goes on. */
	append_one(world, &series, START + 60, 0, 1000);
	maintain(world, START + 20 * HOUR);
	maintain(world, START + 21 * HOUR);
	assert_true(total(world, all()) >= 1000);
}

/* Appends until it is killed, and says through a pipe what was acknowledged. */
static void write_until_killed(struct world *world, unsigned int first, int out)
{
	struct store_series series = series_of("shop", "h1", "");
	unsigned int i;

	open_store(world);
	for (i = first;; i++) {
		struct error err = {0};
		char id[32];
		char name[32];
		struct store_row row = {.time_s = START + i * 600, .samples = 1, .value = 1};
		struct store_batch batch = {.id = id,
					    .profile = world->profile,
					    .series = &series,
					    .series_count = 1,
					    .rows = &row,
					    .row_count = 1};

		(void)snprintf(id, sizeof(id), "kill %u", i);
		/* Names are new now and then. */
		(void)snprintf(name, sizeof(name), "f%u", i / 3);
		row.stack = stack_tree_child(&world->profile->stacks, world->stacks[1],
					     add_location(world->profile, name, 1));
		if (store_append(world->store, &batch, &err) < 0)
			_exit(1);
		if (write(out, &i, sizeof(i)) != sizeof(i))
			_exit(2);
		if (i % 3 == 0 && store_maintain(world->store, START + i * 600, &err) < 0)
			_exit(3);
	}
}

/* Starts a writer, kills it after a while. Returns the last acknowledged batch. */
static unsigned int kill_a_writer(struct world *world, unsigned int first)
{
	unsigned int last = first;
	unsigned int got;
	int pipes[2];
	int status = 0;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0)
		write_until_killed(world, first, pipes[1]);
	(void)close(pipes[1]);
	/* The first answer shows that it works; then at any moment. */
	assert_int_equal(read(pipes[0], &got, sizeof(got)), sizeof(got));
	(void)usleep(draw(world, 150) * 1000);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	do
		last = got;
	while (read(pipes[0], &got, sizeof(got)) == sizeof(got));
	(void)close(pipes[0]);
	return last;
}

/* WICK_KILLS: more than in every run of the tests. */
static unsigned int kill_count(void)
{
	const char *text = getenv("WICK_KILLS");

	return text ? (unsigned int)strtoul(text, NULL, 10) : 12;
}

static void a_killed_writer_loses_nothing_acknowledged(void **state)
{
	struct world *world = *state;
	unsigned int rounds = kill_count();
	unsigned int next = 0;

	store_close(world->store);
	world->store = NULL;
	for (unsigned int round = 0; round < rounds; round++) {
		unsigned int last = kill_a_writer(world, next);
		struct store_stats stats;
		int64_t sum;

		open_store(world);
		sum = total(world, all());
		/* The last one may be there although nobody was told. */
		assert_in_range(sum, last + 1, last + 2);
		store_stats(world->store, &stats);
		assert_int_equal(stats.rows, sum);
		assert_int_equal(stats.damaged_files, 0);
		store_close(world->store);
		world->store = NULL;
		next = (unsigned int)sum;
	}
	open_store(world);
}

/* A batch of 20,000 rows whose values add up to 20,000. */
static int append_large(struct world *world, unsigned int number, struct error *err)
{
	struct store_series series = series_of("shop", "h1", "");
	static struct store_row rows[20000];
	char id[32];
	struct store_batch batch = {.id = id,
				    .profile = world->profile,
				    .series = &series,
				    .series_count = 1,
				    .rows = rows,
				    .row_count = ARRAY_SIZE(rows)};

	(void)snprintf(id, sizeof(id), "large %u", number);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct store_row){.time_s = START + draw(world, 3600),
					     .stack = world->stacks[draw(world, 8)],
					     .samples = 1 + draw(world, 60000),
					     .value = 1};
	return store_append(world->store, &batch, err);
}

static void set_file_limit(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A limit of the file size makes writes fail as a full disk does. */
static void a_full_disk_refuses_and_recovers(void **state)
{
	struct world *world = *state;
	unsigned int stored = 0;
	unsigned int refused = 0;
	struct error err = {0};
	unsigned int i;

	(void)signal(SIGXFSZ, SIG_IGN);
	set_file_limit(2 << 20);
	for (i = 0; i < 60 && refused < 5; i++) {
		int r = append_large(world, i, &err);

		stored += r == 0;
		refused += r < 0;
	}
	assert_true(stored > 0);
	assert_int_equal(refused, 5);
	assert_true(err.text[0] && err.remedy[0]);
	set_file_limit(RLIM_INFINITY);
	(void)sleep(1); /* it is not tried more often */
	for (i = 100; i < 103; i++)
		fail_with(append_large(world, i, &err), &err);
	assert_int_equal(total(world, all()), (stored + 3) * 20000);
	reopen_store(world);
	assert_int_equal(total(world, all()), (stored + 3) * 20000);
	maintain(world, START + 9 * HOUR);
	assert_int_equal(total(world, all()), (stored + 3) * 20000);
}

static off_t log_bytes(const struct world *world)
{
	char path[128];
	struct stat info;

	(void)snprintf(path, sizeof(path), "%s/store.duckdb.wal", world->folder);
	return stat(path, &info) == 0 ? info.st_size : 0;
}

static void what_a_crash_left_in_the_log_is_read_once(void **state)
{
	struct world *world = *state;
	unsigned int last;
	off_t bytes;

	store_close(world->store);
	world->store = NULL;
	last = kill_a_writer(world, 0);
	bytes = log_bytes(world);
	assert_true(bytes > 0);
	/* No room for it: the log stays, and the store answers. */
	(void)signal(SIGXFSZ, SIG_IGN);
	set_file_limit(4096);
	open_store(world);
	assert_in_range(total(world, all()), last + 1, last + 2);
	store_close(world->store);
	world->store = NULL;
	assert_true(log_bytes(world) > 0);
	set_file_limit(RLIM_INFINITY);
	open_store(world);
	assert_int_equal(log_bytes(world), 0);
	assert_in_range(total(world, all()), last + 1, last + 2);
}

static void names_that_were_written_twice_are_read_once(void **state)
{
	static const char *const tables[] = {"functions", "locations", "lines",
					     "stacks",    "calls",     "series"};
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct database database = {.handle = NULL};
	struct duckdb_connection *connection = NULL;
	struct error err = {0};
	char text[128];

	append_one(world, &series, START, 5, 1);
	store_close(world->store);
	world->store = NULL;
	(void)snprintf(text, sizeof(text), "%s/store.duckdb", world->folder);
	fail_with(duckdb_library_load(&database.library, DUCKDB_LIBRARY, &err), &err);
	fail_with(database_open(&database, text, 1 << 28, &err), &err);
	fail_with(database_connect(&database, &connection, &err), &err);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		(void)snprintf(text, sizeof(text), "INSERT INTO %s FROM %s", tables[i], tables[i]);
		fail_with(database_run(&database, connection, text, &err), &err);
	}
	database_disconnect(&database, &connection);
	database_close(&database);
	open_store(world);
	append_one(world, &series, START, 5, 10);
	append_one(world, &series, START, 6, 100);
	assert_int_equal(total(world, all()), 111);
	maintain(world, START + 9 * HOUR);
	reopen_store(world);
	assert_int_equal(total(world, all()), 111);
}

#define WRITERS 3
#define BATCHES 40

struct worker {
	struct world *world;
	unsigned int number;
	pthread_t thread;
	atomic_bool *stop;
	unsigned int failures;
};

/* Each writer has names of its own. */
static void *write_batches(void *self)
{
	struct worker *worker = self;
	struct store_series series = series_of("shop", worker->number % 2 ? "h1" : "h2", "");
	struct world own = {.store = worker->world->store};

	make_profile(&own);
	for (unsigned int i = 0; i < BATCHES; i++) {
		struct store_row rows[20];
		struct error err = {0};
		char text[32];
		struct store_batch batch = {.id = text,
					    .profile = own.profile,
					    .series = &series,
					    .series_count = 1,
					    .rows = rows,
					    .row_count = ARRAY_SIZE(rows)};

		(void)snprintf(text, sizeof(text), "f%u.%u", worker->number, i);
		own.stacks[0] = stack_tree_child(&own.profile->stacks, own.stacks[1],
						 add_location(own.profile, text, 1));
		for (unsigned int row = 0; row < ARRAY_SIZE(rows); row++)
			rows[row] = (struct store_row){.time_s = START + i * 300 + row,
						       .stack = own.stacks[row % 8],
						       .samples = 1,
						       .value = 1};
		worker->failures += store_append(own.store, &batch, &err) != 0;
	}
	profile_free(own.profile);
	return NULL;
}

/* The history only grows. */
static void *ask_questions(void *self)
{
	struct worker *worker = self;
	struct store_selector selector = {.from_s = 0, .to_s = UINT32_MAX};
	int64_t last = 0;

	while (!atomic_load(worker->stop)) {
		struct profile *profile = NULL;
		struct store_stats stats;
		struct error err = {0};

		if (store_profile(worker->world->store, &selector, &profile, &err) < 0 ||
		    sum_of(profile, 1) < last || sum_of(profile, 1) % 20 != 0) {
			worker->failures++;
			profile_free(profile);
			break;
		}
		last = sum_of(profile, 1);
		profile_free(profile);
		store_stats(worker->world->store, &stats);
	}
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	struct world *world = *state;
	struct worker workers[WRITERS + 2];
	atomic_bool stop = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		workers[i] = (struct worker){.world = world, .number = i, .stop = &stop};
		assert_int_equal(pthread_create(&workers[i].thread, NULL,
						i < WRITERS ? write_batches : ask_questions,
						&workers[i]),
				 0);
	}
	for (i = 0; i < 12; i++)
		maintain(world, START + i * HOUR);
	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		if (i == WRITERS)
			atomic_store(&stop, true);
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
	}
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		assert_int_equal(workers[i].failures, 0);
	assert_int_equal(total(world, all()), WRITERS * BATCHES * 20);
	maintain(world, START + 30 * HOUR);
	reopen_store(world);
	assert_int_equal(total(world, all()), WRITERS * BATCHES * 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_clock_that_steps_loses_nothing),
		TEST(a_damaged_file_is_named_and_left_out),
		TEST(a_killed_writer_loses_nothing_acknowledged),
		TEST(a_full_disk_refuses_and_recovers),
		TEST(what_a_crash_left_in_the_log_is_read_once),
		TEST(names_that_were_written_twice_are_read_once),
		TEST(threads_do_not_disturb_each_other),
	};
	const struct CMUnitTest none[] = {cmocka_unit_test(the_store_needs_duckdb)};

	if (access(DUCKDB_LIBRARY, R_OK) < 0)
		return cmocka_run_group_tests_name("store_faults", none, NULL, NULL);
	return cmocka_run_group_tests_name("store_faults", tests, NULL, NULL);
}
