/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "record/record.h"
#include "record/remote/remote_place.h"

/* An engine that samples nothing: what happens around it is what is tested. */
static struct {
	unsigned int drains;
	int fd;
	int open_code;
	int drain_code;
	int raise_at_drain; /* a signal that comes while recording */
	unsigned int closed;
	bool has_process;     /* one that waits for a scan until it is let go */
	unsigned int scanned; /* times that one was */
	unsigned int late;    /* calls after the close */
	int peer; /* connected at the first drain to who is asked how it goes; 0: none */
} fake;

static int fake_probe(struct error *err)
{
	(void)err;
	return 0;
}

static int fake_open(const struct engine_config *config, const struct target *target,
		     struct sink *sink, void **ret_self, struct error *err)
{
	(void)config, (void)target, (void)sink;
	if (fake.open_code < 0)
		return error_set(err, fake.open_code, "the engine is tired");
	fake.fd = eventfd(0, EFD_CLOEXEC);
	*ret_self = &fake;
	return 0;
}

static int fake_start(void *self, struct error *err)
{
	(void)self, (void)err;
	return 0;
}

static int fake_fd(void *self)
{
	(void)self;
	return fake.fd;
}

static void connect_to_self(void)
{
	char path[REMOTE_PLACE_PATH];
	char name[16];
	int folder = remote_place_make(path, sizeof(path));

	(void)snprintf(name, sizeof(name), "%d", (int)getpid());
	fake.peer = remote_place_connect(folder, name);
	(void)close(folder);
}

static bool fake_next_process(void *self, size_t *at, struct engine_process *ret)
{
	(void)self;
	fake.late += fake.closed;
	if (!fake.has_process || *at > 0)
		return false;
	*at = 1;
	*ret = (struct engine_process){.pid = getpid(), .waits = true};
	return true;
}

static void fake_scanned(void *self, pid_t pid)
{
	(void)self, (void)pid;
	fake.late += fake.closed;
	fake.scanned++;
	fake.has_process = false;
}

static int fake_drain(void *self, struct error *err)
{
	(void)self;
	fake.late += fake.closed;
	if (fake.drains++ == 0 && fake.peer < 0)
		connect_to_self();
	if (fake.raise_at_drain)
		(void)kill(getpid(), fake.raise_at_drain);
	return fake.drain_code < 0 ? error_set(err, fake.drain_code, "the disk is full") : 0;
}

static int fake_stop(void *self, struct error *err)
{
	(void)self, (void)err;
	return 0;
}

static void fake_stats(void *self, bool final, struct engine_stats *ret)
{
	(void)self, (void) final;
	*ret = (struct engine_stats){.samples.count = 3};
}

static const char *fake_notice(void *self)
{
	(void)self;
	return "";
}

static void fake_close(void *self)
{
	(void)self;
	fake.closed++;
	(void)close(fake.fd);
}

static const struct engine_ops fake_ops = {
	.name = "fake",
	.summary = "",
	.probe = fake_probe,
	.open = fake_open,
	.start = fake_start,
	.fd = fake_fd,
	.drain = fake_drain,
	.stop = fake_stop,
	.stats = fake_stats,
	.notice = fake_notice,
	.close = fake_close,
	.next_process = fake_next_process,
	.scanned = fake_scanned,
};

struct world {
	char path[64];
	char *argv[4];
	struct record_config config;
	struct record_result result;
	struct error err;
	unsigned int finished;
	int finished_code;
	size_t descriptors;
};

static size_t open_descriptors(void)
{
	size_t n = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void note_end(void *self, const struct record_result *result, const struct error *err)
{
	struct world *world = self;

	(void)result;
	world->finished++;
	world->finished_code = err ? err->code : 0;
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	int fd;

	assert_non_null(world);
	memset(&fake, 0, sizeof(fake));
	(void)snprintf(world->path, sizeof(world->path), "/tmp/wick-test-XXXXXX");
	fd = mkstemp(world->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "old", 3), 3);
	assert_int_equal(close(fd), 0);
	world->config = (struct record_config){
		.engine = &fake_ops,
		.sampling = {.event = "cpu-clock", .frequency_hz = 100},
		.output = world->path,
		.title = "test",
		.finished = note_end,
		.self = world,
	};
	world->descriptors = open_descriptors();
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	assert_int_equal(open_descriptors(), world->descriptors);
	(void)unlink(world->path);
	free(world);
	return 0;
}

static int run(struct world *world)
{
	return record_run(&world->config, &world->result, &world->err);
}

static void give_command(struct world *world, const char *program, const char *script)
{
	static char words[3][256];

	(void)snprintf(words[0], sizeof(words[0]), "%s", program);
	(void)snprintf(words[1], sizeof(words[1]), "-c");
	(void)snprintf(words[2], sizeof(words[2]), "%s", script);
	world->argv[0] = words[0];
	world->argv[1] = words[1];
	world->argv[2] = words[2];
	world->config.command = world->argv;
}

static off_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? status.st_size : -1;
}

static void the_status_of_the_program_is_the_result(void **state)
{
	struct world *world = *state;

	give_command(world, "sh", "exit 5");
	assert_int_equal(run(world), 0);
	assert_true(world->result.has_child);
	assert_int_equal(world->result.child_status, 5);
	assert_int_equal(world->result.end, RECORD_TARGET_ENDED);
	assert_int_equal(world->finished, 1);
	assert_int_equal(fake.closed, 1);
	assert_true(size_of(world->path) > 3);
}

static void a_command_that_is_not_there_leaves_an_old_file_as_it_was(void **state)
{
	struct world *world = *state;

	give_command(world, "no-such-command-anywhere", "");
	assert_int_equal(run(world), -ENOENT);
	assert_int_equal(world->result.exec_code, -ENOENT);
	assert_int_equal(size_of(world->path), 3);
	assert_int_equal(world->finished, 0);
}

static void a_command_that_is_not_there_leaves_no_new_file(void **state)
{
	struct world *world = *state;

	assert_int_equal(unlink(world->path), 0);
	give_command(world, "no-such-command-anywhere", "");
	assert_int_equal(run(world), -ENOENT);
	assert_int_equal(size_of(world->path), -1);
}

static void an_engine_that_cannot_open_starts_no_program_and_leaves_the_file(void **state)
{
	struct world *world = *state;

	fake.open_code = -EPERM;
	give_command(world, "sh", "exit 0");
	assert_int_equal(run(world), -EPERM);
	assert_int_equal(world->result.exec_code, 0);
	assert_int_equal(size_of(world->path), 3);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void a_failed_recording_is_told_at_once_and_the_program_runs_on(void **state)
{
	struct world *world = *state;

	fake.drain_code = -ENOSPC;
	give_command(world, "sh", "sleep 0.3; exit 6"); /* outlives the first drain */
	assert_int_equal(run(world), -ENOSPC);
	assert_int_equal(world->finished, 1);
	assert_int_equal(world->finished_code, -ENOSPC);
	assert_int_equal(world->result.child_status, 6);
}

static void who_waits_for_a_scan_goes_on_when_the_recording_fails(void **state)
{
	struct world *world = *state;

	fake.drain_code = -ENOSPC;
	fake.has_process = true;
	world->config.leaks.on = true;
	give_command(world, "sh", "sleep 0.3; exit 6");
	assert_int_equal(run(world), -ENOSPC);
	assert_int_equal(fake.scanned, 1);
	assert_int_equal(fake.closed, 1);
	assert_int_equal(fake.late, 0);
	assert_int_equal(world->result.child_status, 6);
}

static void ask_for_a_scan(void *self, const struct record_result *result, const struct error *err)
{
	note_end(self, result, err);
	fake.has_process = true;
	(void)kill(getpid(), SIGWINCH);
}

static void a_scan_that_is_asked_for_after_the_end_does_nothing(void **state)
{
	struct world *world = *state;

	fake.drain_code = -ENOSPC;
	world->config.leaks = (struct leak_watch_config){.on = true, .at_signal = SIGWINCH};
	world->config.finished = ask_for_a_scan;
	give_command(world, "sh", "sleep 0.3; exit 6"); /* goes on after the recording */
	assert_int_equal(run(world), -ENOSPC);
	assert_int_equal(world->finished, 1);
	assert_int_equal(fake.late, 0);
	assert_int_equal(world->result.child_status, 6);
}

static void ask_how_it_goes(void *self, const struct record_result *result, const struct error *err)
{
	note_end(self, result, err);
	assert_true(send(fake.peer, "status", 6, MSG_NOSIGNAL) == 6 || errno == EPIPE);
}

static void who_asks_only_after_the_end_gets_no_answer(void **state)
{
	struct world *world = *state;
	char byte;

	fake.peer = -1;
	world->config.duration_ns = 500 * NS_PER_MS; /* a few drains, so that the peer is let in */
	world->config.finished = ask_how_it_goes;
	give_command(world, "sh", "sleep 1; exit 6");
	assert_int_equal(run(world), 0);
	assert_true(fake.peer >= 0);
	assert_true(recv(fake.peer, &byte, 1, MSG_DONTWAIT) <= 0);
	assert_int_equal(close(fake.peer), 0);
	assert_int_equal(world->result.child_status, 6);
}

static void a_device_that_is_full_is_named_with_a_remedy(void **state)
{
	struct world *world = *state;

	world->config.output = "/dev/full";
	give_command(world, "sh", "exit 0");
	assert_int_equal(run(world), -ENOSPC);
	assert_non_null(strstr(world->err.text, "/dev/full"));
	assert_non_null(strstr(world->err.remedy, "-o FILE"));
	assert_int_equal(world->result.child_status, 0);
}

static void the_first_signal_ends_the_recording_in_good_order(void **state)
{
	struct world *world = *state;
	pid_t pid = getpid();

	world->config.target = (struct target){.kind = TARGET_PROCESSES, .ids = &pid, .count = 1};
	world->config.duration_ns = 5 * NS_PER_SEC;
	fake.raise_at_drain = SIGINT;
	(void)signal(SIGINT, SIG_DFL); /* a shell's background jobs are started with it ignored */
	assert_int_equal(run(world), 0);
	assert_int_equal(world->result.end, RECORD_STOPPED);
	assert_int_equal(world->finished, 1);
	assert_true(size_of(world->path) > 3);
}

static void a_hangup_that_is_ignored_does_not_end_the_recording(void **state)
{
	struct world *world = *state;
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction old;
	pid_t pid = getpid();

	assert_int_equal(sigaction(SIGHUP, &ignore, &old), 0);
	world->config.target = (struct target){.kind = TARGET_PROCESSES, .ids = &pid, .count = 1};
	world->config.duration_ns = 20 * NS_PER_MS;
	fake.raise_at_drain = SIGHUP;
	assert_int_equal(run(world), 0);
	assert_int_equal(world->result.end, RECORD_TIME_UP);
	assert_int_equal(sigaction(SIGHUP, &old, NULL), 0);
}

static void the_time_that_was_given_is_kept_however_long(void **state)
{
	struct world *world = *state;

	give_command(world, "sh", "exit 0");
	world->config.duration_ns = UINT64_MAX;
	assert_int_equal(run(world), 0);
	assert_int_equal(world->result.end, RECORD_TARGET_ENDED);
	assert_in_range(fake.drains, 0, 5);
}

static void one_process_of_two_that_has_ended_keeps_nobody_busy(void **state)
{
	struct world *world = *state;
	pid_t pids[2] = {getpid(), fork()};
	siginfo_t info;

	if (pids[1] == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pids[1], &info, WEXITED | WNOWAIT), 0);
	world->config.target = (struct target){.kind = TARGET_PROCESSES, .ids = pids, .count = 2};
	world->config.duration_ns = 30 * NS_PER_MS;
	assert_int_equal(run(world), 0);
	assert_int_equal(world->result.end, RECORD_TIME_UP);
	assert_in_range(fake.drains, 1, 5);
	assert_int_equal(waitpid(pids[1], NULL, 0), pids[1]);
}

static void the_recording_ends_when_all_processes_have(void **state)
{
	struct world *world = *state;
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	world->config.target = (struct target){.kind = TARGET_PROCESSES, .ids = &pid, .count = 1};
	assert_int_equal(run(world), 0);
	assert_int_equal(world->result.end, RECORD_TARGET_ENDED);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_the_program_prints_stays_out_of_a_recording_on_stdout(void **state)
{
	struct world *world = *state;
	int out = dup(STDOUT_FILENO);
	int errors = dup(STDERR_FILENO);
	int fd = open(world->path, O_RDWR | O_APPEND | O_CLOEXEC);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char start[64] = "";
	int r;

	(void)fflush(NULL);
	(void)dup2(fd, STDOUT_FILENO);
	(void)dup2(nowhere, STDERR_FILENO);
	world->config.output = "-";
	give_command(world, "sh", "echo this is not a sample; echo and this neither");
	r = run(world);
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(errors, STDERR_FILENO);
	(void)close(out);
	(void)close(errors);
	(void)close(nowhere);
	assert_int_equal(r, 0);
	/* What stood there before is still there, and nothing but the recording follows. */
	assert_true(pread(fd, start, sizeof(start), 0) > 16);
	assert_memory_equal(start, "old", 3);
	assert_null(memmem(start, sizeof(start), "this is", 7));
	(void)close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_status_of_the_program_is_the_result),
		TEST(a_command_that_is_not_there_leaves_an_old_file_as_it_was),
		TEST(a_command_that_is_not_there_leaves_no_new_file),
		TEST(an_engine_that_cannot_open_starts_no_program_and_leaves_the_file),
		TEST(a_failed_recording_is_told_at_once_and_the_program_runs_on),
		TEST(who_waits_for_a_scan_goes_on_when_the_recording_fails),
		TEST(a_scan_that_is_asked_for_after_the_end_does_nothing),
		TEST(who_asks_only_after_the_end_gets_no_answer),
		TEST(a_device_that_is_full_is_named_with_a_remedy),
		TEST(the_first_signal_ends_the_recording_in_good_order),
		TEST(a_hangup_that_is_ignored_does_not_end_the_recording),
		TEST(the_time_that_was_given_is_kept_however_long),
		TEST(one_process_of_two_that_has_ended_keeps_nobody_busy),
		TEST(the_recording_ends_when_all_processes_have),
		TEST(what_the_program_prints_stays_out_of_a_recording_on_stdout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
