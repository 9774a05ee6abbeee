/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/config_schema.h"
#include "cli/table.h"

enum mode { MODE_CPU, MODE_WALL };

struct first_options {
	uint64_t frequency_hz;
	double overhead;
	enum mode mode;
	bool kernel;
	uint64_t interval_ns;
	uint64_t memory_bytes;
	struct option_list paths;
	struct option_list events;
	struct option_list labels;
	struct option_numbers cpus;
	const char *title;
};

static const struct option_spec first_table[] = {
	{"frequency", 'F', OPTION_U64(struct first_options, frequency_hz), .min = 10, .max = 10000,
	 .key = "sampling.frequency_hz", .help = "rate"},
	{"overhead", 0, OPTION_DOUBLE(struct first_options, overhead), .min = 0.1, .max = 50,
	 .off = "off", .key = "sampling.overhead_percent", .help = "budget"},
	{"mode", 0, OPTION_ENUM(struct first_options, mode, "cpu", "wall"), .key = "sampling.mode",
	 .help = "mode"},
	{"kernel", 0, OPTION_TOGGLE(struct first_options, kernel), .key = "sampling.kernel",
	 .help = "kernel"},
	{"interval", 0, OPTION_DURATION(struct first_options, interval_ns), .bare_ns = NS_PER_MS,
	 .key = "heap.interval_ms", .help = "step"},
	{"memory", 0, OPTION_SIZE(struct first_options, memory_bytes), .key = "heap.max_memory",
	 .help = "memory"},
	{"path", 0, OPTION_LIST(struct first_options, paths), .offer = OPTION_OFFER_DIRECTORY,
	 .key = "symbols.paths", .help = "paths"},
	{"event", 0, OPTION_LIST(struct first_options, events), .key = "sampling.events",
	 .help = "events"},
	{"label", 0, OPTION_PAIRS(struct first_options, labels), .key = "sampling.labels",
	 .help = "labels"},
	{"cpu", 0, OPTION_NUMBERS(struct first_options, cpus), .key = "sampling.cpus",
	 .help = "cpus"},
	{"title", 0, OPTION_STRING(struct first_options, title), .key = "view.title",
	 .help = "title"},
	OPTION_END,
};

struct second_options {
	uint64_t width;
};

static const struct option_spec second_table[] = {
	{"width", 0, OPTION_U64(struct second_options, width), .min = 100, .max = 5000,
	 .key = "view.width", .help = "width"},
	OPTION_END,
};

static const struct command first = {
	.name = "first",
	.options = first_table,
	.options_size = sizeof(struct first_options),
	.defaults = &(const struct first_options){.frequency_hz = 997, .overhead = 2},
};

static const struct command second = {
	.name = "second",
	.options = second_table,
	.options_size = sizeof(struct second_options),
	.defaults = &(const struct second_options){.width = 1200},
};

static const struct command *const commands[] = {&first, &second, NULL};

static char directory[64];

/* Each test starts in an empty directory that is also the home. */
static int begin(void **state)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/test_config.XXXXXX");
	if (!mkdtemp(directory) || chdir(directory) < 0)
		return -1;
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)setenv("HOME", directory, 1);
	return 0;
}

static int end(void **state)
{
	static const char *const files[] = {"wick.json", "given.json", ".config/wick/config.json",
					    "xdg/wick/config.json"};
	static const char *const folders[] = {".config/wick", ".config", "xdg/wick", "xdg"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		(void)unlink(files[i]);
	for (i = 0; i < ARRAY_SIZE(folders); i++)
		(void)rmdir(folders[i]);
	return chdir("/") < 0 ? -1 : rmdir(directory);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Loads the configuration for a command as the command line would. */
static int load(struct command_values *values, const struct command *command, const char *path,
		struct error *err)
{
	struct config config;
	int r;

	assert_int_equal(command_values_init(values, command, NULL), 0);
	r = config_open(&config, path, err);
	if (r < 0)
		return r;
	r = config_apply_file(&config, commands, &values->set, err);
	if (r == 0)
		r = config_apply_environment(&values->set, err);
	config_fini(&config);
	return r;
}

static void every_kind_of_value_is_read(void **state)
{
	const struct first_options *options;
	struct command_values values;
	struct error err = {0};

	write_file("wick.json",
		   "{\"$schema\": \"x\",\n"
		   " \"sampling\": {\"frequency_hz\": 199, \"overhead_percent\": 0.5,\n"
		   "  \"mode\": \"wall\", \"kernel\": true, \"events\": [\"a\", \"b\"],\n"
		   "  \"labels\": {\"k\": \"v\"}, \"cpus\": [1, 3]},\n"
		   " \"heap\": {\"interval_ms\": 20, \"max_memory\": \"64K\"},\n"
		   " \"symbols\": {\"paths\": \"/a\"}, \"view\": {\"title\": \"t\"}}");
	assert_int_equal(load(&values, &first, NULL, &err), 0);
	options = values.options;
	assert_int_equal(options->frequency_hz, 199);
	assert_true(options->overhead == 0.5);
	assert_int_equal(options->mode, MODE_WALL);
	assert_true(options->kernel);
	assert_int_equal(options->interval_ns, 20 * NS_PER_MS);
	assert_int_equal(options->memory_bytes, 65536);
	assert_int_equal(options->events.count, 2);
	assert_string_equal(options->labels.items[0], "k=v");
	assert_int_equal(options->cpus.items[1], 3);
	assert_string_equal(options->paths.items[0], "/a");
	assert_string_equal(options->title, "t");
	assert_int_equal(option_source_of(&values.set, &options->mode), OPTION_FROM_FILE);
	assert_string_equal(option_set_find_key(&values.set, "sampling.mode")->origin,
			    "wick.json:3");
	command_values_fini(&values);
}

static void the_command_line_beats_the_file_which_beats_the_environment(void **state)
{
	char argument[] = "--frequency=11";
	char *argv[] = {argument, NULL};
	const struct first_options *options;
	struct command_values values;
	struct config config;

	write_file("wick.json", "{\"sampling\": {\"frequency_hz\": 22, \"mode\": \"wall\"}}");
	(void)setenv("WICK_SAMPLING_FREQUENCY_HZ", "33", 1);
	(void)setenv("WICK_SAMPLING_MODE", "cpu", 1);
	(void)setenv("WICK_SAMPLING_KERNEL", "yes", 1);
	(void)setenv("WICK_SYMBOLS_PATHS", "/a:/b", 1);
	(void)setenv("WICK_SAMPLING_EVENTS", "x,y", 1);
	(void)setenv("WICK_LOG", "debug", 1);
	assert_int_equal(command_values_init(&values, &first, NULL), 0);
	assert_int_equal(option_parse(&values.set, 1, argv, false, NULL), 0);
	assert_int_equal(config_open(&config, NULL, NULL), 0);
	assert_int_equal(config_apply_environment(&values.set, NULL), 0);
	assert_int_equal(config_apply_file(&config, commands, &values.set, NULL), 0);
	options = values.options;
	assert_int_equal(options->frequency_hz, 11);
	assert_int_equal(options->mode, MODE_WALL);
	assert_true(options->kernel);
	assert_int_equal(options->paths.count, 2);
	assert_string_equal(options->paths.items[1], "/b");
	assert_int_equal(options->events.count, 2);
	assert_true(options->overhead == 2);
	assert_int_equal(option_source_of(&values.set, &options->frequency_hz),
			 OPTION_FROM_COMMAND_LINE);
	assert_int_equal(option_source_of(&values.set, &options->mode), OPTION_FROM_FILE);
	assert_int_equal(option_source_of(&values.set, &options->kernel), OPTION_FROM_ENVIRONMENT);
	assert_int_equal(option_source_of(&values.set, &options->overhead), OPTION_FROM_DEFAULT);
	config_fini(&config);
	command_values_fini(&values);
	(void)unsetenv("WICK_SAMPLING_FREQUENCY_HZ");
	(void)unsetenv("WICK_SAMPLING_MODE");
	(void)unsetenv("WICK_SAMPLING_KERNEL");
	(void)unsetenv("WICK_SYMBOLS_PATHS");
	(void)unsetenv("WICK_SAMPLING_EVENTS");
	(void)unsetenv("WICK_LOG");
}

static void the_first_file_that_exists_is_read(void **state)
{
	static const char *const places[] = {".config/wick/config.json", "xdg/wick/config.json",
					     "wick.json", "given.json"};
	static const char *const folders[] = {".config", ".config/wick", "xdg", "xdg/wick"};
	char xdg[96];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders); i++)
		assert_int_equal(mkdir(folders[i], 0700), 0);
	(void)snprintf(xdg, sizeof(xdg), "%s/xdg", directory);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		const char *given = strcmp(places[i], "given.json") == 0 ? places[i] : NULL;
		struct command_values values;
		char text[96];

		if (i == 1)
			(void)setenv("XDG_CONFIG_HOME", xdg, 1);
		(void)snprintf(text, sizeof(text), "{\"sampling\": {\"frequency_hz\": %zu}}",
			       100 + i);
		write_file(places[i], text);
		assert_int_equal(load(&values, &first, given, NULL), 0);
		assert_int_equal(((struct first_options *)values.options)->frequency_hz, 100 + i);
		command_values_fini(&values);
	}
}

static void a_key_of_another_command_is_checked_and_left_alone(void **state)
{
	struct command_values values;
	struct error err = {0};

	write_file("wick.json", "{\"view\": {\"width\": 800}}");
	assert_int_equal(load(&values, &first, NULL, &err), 0);
	command_values_fini(&values);
	write_file("wick.json", "{\"view\": {\"width\": 8}}");
	assert_int_equal(load(&values, &first, NULL, &err), -EINVAL);
	assert_string_equal(err.text, "wick.json:1: view.width 8 is out of range (100 to 5000)");
	command_values_fini(&values);
}

static void an_error_names_place_key_value_and_range(void **state)
{
	static const struct {
		const char *file;
		const char *text;
	} cases[] = {
		{"{\"sampling\": {\n\"frequency_hz\": 20000}}",
		 "wick.json:2: sampling.frequency_hz 20000 is out of range (10 to 10000)"},
		{"{\"sampling\": {\"frequency_hz\": -1}}",
		 "wick.json:1: sampling.frequency_hz -1 is out of range (10 to 10000)"},
		{"{\"sampling\": {\"frequency_hz\": \"99\"}}",
		 "wick.json:1: sampling.frequency_hz is \"99\" but must be a whole number (10 to "
		 "10000)"},
		{"{\"sampling\": {\"frequency_hz\": 99.5}}",
		 "wick.json:1: sampling.frequency_hz is 99.5 but must be a whole number (10 to "
		 "10000)"},
		{"{\"sampling\": {\"frequency_hz\": null}}",
		 "wick.json:1: sampling.frequency_hz is null but must be a whole number (10 to "
		 "10000)"},
		{"{\"sampling\": {\"overhead_percent\": \"on\"}}",
		 "wick.json:1: sampling.overhead_percent is \"on\" but must be a number (0.1 to "
		 "50, "
		 "or off)"},
		{"{\"sampling\": {\"mode\": \"x\"}}",
		 "wick.json:1: sampling.mode x is not one of cpu, wall"},
		{"{\"sampling\": {\"kernel\": 1}}",
		 "wick.json:1: sampling.kernel is 1 but must be true or false"},
		{"{\"sampling\": {\"events\": [1]}}",
		 "wick.json:1: sampling.events is 1 but must be a list of strings"},
		{"{\"sampling\": {\"cpus\": [\"1\"]}}",
		 "wick.json:1: sampling.cpus is \"1\" but must be a list of whole numbers"},
		{"{\"sampling\": {\"labels\": {\"a\": 1}}}",
		 "wick.json:1: sampling.labels is 1 but must be an object of strings"},
		{"{\"heap\": {\"interval_ms\": true}}", "wick.json:1: heap.interval_ms is true but "
							"must be a duration: a number or a string "
							"such as \"20ms\""},
		{"{\"sampling\": {\"view\": {}, \"frequency_hz\": 99}}",
		 "wick.json:1: unknown key sampling.view"},
		{"{\n\n\"sampling\":\n{\"frequenzy\": 1}}",
		 "wick.json:4: unknown key sampling.frequenzy"},
		{"{\n\"smpling\": {}}", "wick.json:2: unknown section smpling"},
		{"{\"heap\": 3}", "wick.json:1: section heap must be an object"},
		{"[]", "wick.json: must be an object of sections"},
		{"{\"view\": {\"title\": \"a $NO_SUCH_VARIABLE\"}}",
		 "wick.json:1: view.title: the variable $NO_SUCH_VARIABLE is not set"},
		{"{\"view\": {\"title\": \"5 $\"}}",
		 "wick.json:1: view.title: a name must follow $"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct command_values values;
		struct error err = {0};

		write_file("wick.json", cases[i].file);
		assert_int_equal(load(&values, &first, NULL, &err), -EINVAL);
		assert_string_equal(err.text, cases[i].text);
		assert_true(err.remedy[0] != '\0');
		command_values_fini(&values);
	}
}

static void the_key_that_may_be_meant_is_told(void **state)
{
	struct command_values values;
	struct error err = {0};

	write_file("wick.json", "{\"sampling\": {\"frequency\": 99}}");
	assert_int_equal(load(&values, &first, NULL, &err), -EINVAL);
	assert_string_equal(err.remedy,
			    "did you mean sampling.frequency_hz? see wick config --schema");
	command_values_fini(&values);

	write_file("wick.json", "{\"sampling\": {\"frequncy\": 99}}");
	assert_int_equal(load(&values, &first, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "did you mean sampling.frequency_hz?"));
	command_values_fini(&values);

	write_file("wick.json", "{\"sampling\": {\"paths\": []}}");
	assert_int_equal(load(&values, &first, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "did you mean symbols.paths?"));
	command_values_fini(&values);

	write_file("wick.json", "{\"symbol\": {\"paths\": []}}");
	assert_int_equal(load(&values, &first, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.remedy, "did you mean symbols?"));
	command_values_fini(&values);
}

static void strings_have_variables_and_paths_from_the_file(void **state)
{
	const struct first_options *options;
	struct command_values values;
	struct error err = {0};
	char expected[128];

	(void)setenv("TEST_CONFIG_NAME", "here", 1);
	(void)mkdir("xdg", 0700);
	(void)mkdir("xdg/wick", 0700);
	write_file("xdg/wick/config.json",
		   "{\"symbols\": {\"paths\": [\"debug\", \"/a\", \"$HOME/b\", \"~/b\", \"~x\"]},\n"
		   " \"view\": {\"title\": \"${TEST_CONFIG_NAME}s $$5\"},\n"
		   " \"sampling\": {\"labels\": {\"k\": \"$TEST_CONFIG_NAME\"}}}");
	assert_int_equal(load(&values, &first, "xdg/wick/config.json", &err), 0);
	options = values.options;
	assert_string_equal(options->title, "heres $5");
	assert_string_equal(options->labels.items[0], "k=here");
	assert_string_equal(options->paths.items[0], "xdg/wick/debug");
	assert_string_equal(options->paths.items[1], "/a");
	(void)snprintf(expected, sizeof(expected), "%s/b", directory);
	assert_string_equal(options->paths.items[2], expected);
	assert_string_equal(options->paths.items[3], expected);
	assert_string_equal(options->paths.items[4], "xdg/wick/~x");
	command_values_fini(&values);
	(void)unsetenv("TEST_CONFIG_NAME");
}

static void a_preset_is_the_weakest_source(void **state)
{
	enum config_preset preset;

	for (preset = CONFIG_PRESET_PRODUCTION; preset <= CONFIG_PRESET_HEAP; preset++) {
		struct config config;

		assert_int_equal(config_open_preset(&config, preset, NULL), 0);
		assert_non_null(config.root);
		config_fini(&config);
	}
	assert_true(OPTION_FROM_DEFAULT < OPTION_FROM_PRESET);
	assert_true(OPTION_FROM_PRESET < OPTION_FROM_ENVIRONMENT);
}

static void a_bad_variable_is_named(void **state)
{
	struct command_values values;
	struct error err = {0};

	(void)setenv("WICK_SAMPLING_FREQUENCY_HZ", "5", 1);
	assert_int_equal(load(&values, &first, NULL, &err), -EINVAL);
	assert_string_equal(err.text, "WICK_SAMPLING_FREQUENCY_HZ 5 is out of range (10 to 10000)");
	command_values_fini(&values);
	(void)setenv("WICK_SAMPLING_FREQUENCY_HZ", "", 1);
	assert_int_equal(load(&values, &first, NULL, &err), 0);
	command_values_fini(&values);
	(void)unsetenv("WICK_SAMPLING_FREQUENCY_HZ");
}

static void a_file_that_is_not_json_is_refused_with_its_line(void **state)
{
	struct config config;
	struct error err = {0};

	write_file("wick.json", "{\n  \"sampling\": oops\n}");
	assert_int_equal(config_open(&config, NULL, &err), -EINVAL);
	assert_memory_equal(err.text, "wick.json:2: ", 13);
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void each_fault_of_a_file_has_words_and_a_remedy_of_its_own(void **state)
{
	static char deep[8192];
	static const struct {
		const char *bytes;
		size_t size; /* 0: as long as the text */
		const char *text;
		const char *remedy;
	} cases[] = {
		{"{\"heap\": {}, \"heap\": {}}", 0, "duplicate object key",
		 "remove one of the two"},
		{deep, 0, "maximum parsing depth", "a section contains keys"},
		{"", 0, "given.json is empty", "write at least {}"},
		{" \n", 0, "given.json is empty", "write at least {}"},
		{"{\0}", 3, "given.json contains a NUL byte", "UTF-16"},
		{"{\"heap\": {}", 0, "near end of file", "complete the file"},
		{"{} {}", 0, "end of file expected", "after the last }"},
		{"{\"heap\": \"\xff\"}", 0, "decode byte 0xff", "save it as UTF-8"},
		{"{\"heap\": \"\\u0000\"}", 0, "\\u0000", "remove \\u0000"},
		{"{\"heap\": 99999999999999999999}", 0, "big integer", "smaller number"},
		{"{heap: 1}", 0, "given.json:1: ", "fix the JSON"},
	};
	size_t i;

	(void)memset(deep, '[', sizeof(deep) - 1);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t size = cases[i].size > 0 ? cases[i].size : strlen(cases[i].bytes);
		struct config config;
		struct error err = {0};

		write_bytes("given.json", cases[i].bytes, size);
		assert_int_equal(config_open(&config, "given.json", &err), -EINVAL);
		assert_non_null(strstr(err.text, cases[i].text));
		assert_non_null(strstr(err.remedy, cases[i].remedy));
	}
}

static void a_byte_order_mark_is_passed_over(void **state)
{
	struct command_values values;

	write_file("wick.json", "\xef\xbb\xbf{\"sampling\": {\"frequency_hz\": 123}}");
	assert_int_equal(load(&values, &first, NULL, NULL), 0);
	assert_int_equal(((struct first_options *)values.options)->frequency_hz, 123);
	command_values_fini(&values);
}

static void a_long_value_leaves_room_for_what_is_allowed(void **state)
{
	static const char *const keys[] = {"mode", "frequency_hz", "overhead_percent"};
	static const char *const allowed[] = {"… is not one of cpu, wall",
					      "… but must be a whole number (10 to 10000)",
					      "… but must be a number (0.1 to 50, or off)"};
	char text[4096];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		struct command_values values;
		struct error err = {0};

		(void)snprintf(text, sizeof(text), "{\"sampling\": {\"%s\": \"%02000d\"}}", keys[i],
			       7);
		write_file("wick.json", text);
		assert_int_equal(load(&values, &first, NULL, &err), -EINVAL);
		assert_non_null(strstr(err.text, allowed[i]));
		command_values_fini(&values);
	}
}

static void a_given_file_must_exist_and_no_other_is_read(void **state)
{
	struct config config;
	struct error err = {0};

	write_file("wick.json", "{}");
	assert_int_equal(config_open(&config, "given.json", &err), -ENOENT);
	assert_string_equal(err.text,
			    "cannot read configuration given.json: no such file or directory");
}

static void a_fifo_in_place_of_the_file_does_not_hang(void **state)
{
	struct config config;
	struct error err = {0};

	assert_int_equal(mkfifo("wick.json", 0600), 0);
	assert_int_equal(config_open(&config, NULL, &err), -EINVAL);
	assert_string_equal(err.text, "configuration wick.json is not a regular file");
}

static void a_given_pipe_is_read_and_one_without_a_writer_does_not_hang(void **state)
{
	struct config config;
	struct error err = {0};
	char path[32];
	int ends[2];

	assert_int_equal(mkfifo("given.json", 0600), 0);
	assert_int_equal(config_open(&config, "given.json", &err), -EINVAL);
	assert_string_equal(err.text,
			    "configuration given.json is a pipe that no process writes to");
	assert_int_equal(pipe(ends), 0);
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	assert_int_equal(write(ends[1], "{}", 2), 2);
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(config_open(&config, path, &err), 0);
	assert_non_null(config.root);
	config_fini(&config);
	assert_int_equal(close(ends[0]), 0);
}

/* Asserts that the usual files are passed over with a note, by the user that this is now. */
static void assert_left_aside(const char *note)
{
	struct config config;
	struct error err = {0};

	assert_int_equal(config_open(&config, NULL, &err), 0);
	assert_null(config.path);
	assert_string_equal(config.note, note);
	config_fini(&config);
}

static void files_of_another_user_are_left_aside(void **state)
{
	static const char note[] = "ignoring wick.json: it belongs to uid 12345, neither to you "
				   "nor to root; to use it: --config wick.json";
	struct config config;

	if (geteuid() != 0)
		skip();
	write_file("wick.json", "{\"nonsense\": 1}");
	assert_int_equal(chown("wick.json", 12345, 12345), 0);
	assert_int_equal(chmod("wick.json", 0), 0); /* nor does it stop anybody */
	assert_int_equal(chmod(".", 0755), 0);
	assert_left_aside(note);
	assert_int_equal(seteuid(65534), 0);
	assert_left_aside(note);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(unlink("wick.json"), 0);
	assert_int_equal(symlink("/etc/passwd", "wick.json"), 0); /* a link that another made */
	assert_int_equal(lchown("wick.json", 12345, 12345), 0);
	assert_left_aside(note);
	assert_int_equal(unlink("wick.json"), 0);
	write_file("wick.json", "{}"); /* root's is anybody's */
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(config_open(&config, NULL, NULL), 0);
	assert_int_equal(seteuid(0), 0);
	assert_string_equal(config.path, "wick.json");
	config_fini(&config);
}

static bool is_number(enum option_kind kind)
{
	return kind == OPTION_KIND_U64 || kind == OPTION_KIND_DOUBLE ||
	       kind == OPTION_KIND_DURATION || kind == OPTION_KIND_SIZE;
}

/* UINT64_MAX is no value: the schema has null there. */
static void assert_default_in_range(const struct option_entry *entry)
{
	const struct option_spec *spec = entry->spec;
	bool is_real = spec->kind == OPTION_KIND_DOUBLE;
	double value =
		is_real ? *(const double *)entry->place : (double)*(const uint64_t *)entry->place;
	bool is_unset = !is_real && *(const uint64_t *)entry->place == UINT64_MAX;

	if (is_unset || (spec->off && value == 0))
		return;
	if (value < spec->min || (spec->max != 0 && value > spec->max))
		fail_msg("the default %g of %s is out of its range", value, spec->key);
}

static void the_default_of_every_key_lies_in_its_range(void **state)
{
	size_t checked = 0;
	size_t i;
	size_t j;

	for (i = 0; command_table[i]; i++) {
		struct command_values values;

		assert_int_equal(command_values_init(&values, command_table[i], NULL), 0);
		for (j = 0; j < values.set.count; j++)
			if (values.set.entries[j].spec->key &&
			    is_number(values.set.entries[j].spec->kind)) {
				assert_default_in_range(&values.set.entries[j]);
				checked++;
			}
		command_values_fini(&values);
	}
	assert_true(checked > 10);
}

static void the_schema_has_every_section_and_key(void **state)
{
	static const char *const parts[] = {
		"\"https://json-schema.org/draft/2020-12/schema\"",
		"\"agent\"",
		"\"server\"",
		"\"frequency_hz\"",
		"\"minimum\": 10,",
		"\"maximum\": 10000",
		"\"const\": \"off\"",
		"\"width\"",
	};
	struct bytes text = {0};
	size_t i;

	assert_int_equal(config_schema_put(&text, commands, NULL), 0);
	bytes_put_u8(&text, 0);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		assert_non_null(strstr((const char *)text.data, parts[i]));
	bytes_fini(&text);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(every_kind_of_value_is_read),
		IN_DIRECTORY(the_command_line_beats_the_file_which_beats_the_environment),
		IN_DIRECTORY(the_first_file_that_exists_is_read),
		IN_DIRECTORY(a_key_of_another_command_is_checked_and_left_alone),
		IN_DIRECTORY(an_error_names_place_key_value_and_range),
		IN_DIRECTORY(the_key_that_may_be_meant_is_told),
		IN_DIRECTORY(strings_have_variables_and_paths_from_the_file),
		cmocka_unit_test(a_preset_is_the_weakest_source),
		IN_DIRECTORY(a_bad_variable_is_named),
		IN_DIRECTORY(a_file_that_is_not_json_is_refused_with_its_line),
		IN_DIRECTORY(each_fault_of_a_file_has_words_and_a_remedy_of_its_own),
		IN_DIRECTORY(a_byte_order_mark_is_passed_over),
		IN_DIRECTORY(a_long_value_leaves_room_for_what_is_allowed),
		IN_DIRECTORY(a_given_file_must_exist_and_no_other_is_read),
		IN_DIRECTORY(a_fifo_in_place_of_the_file_does_not_hang),
		IN_DIRECTORY(a_given_pipe_is_read_and_one_without_a_writer_does_not_hang),
		IN_DIRECTORY(files_of_another_user_are_left_aside),
		cmocka_unit_test(the_default_of_every_key_lies_in_its_range),
		cmocka_unit_test(the_schema_has_every_section_and_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
