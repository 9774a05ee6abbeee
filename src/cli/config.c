/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/config_text.h"
#include "cli/nearest_name.h"
#include "cli/option_value.h"
#include "cli/preset_assets.h"

#define SEE_SCHEMA "see wick config --schema"
#define MAX_FILE_BYTES (1u << 20) /* a configuration is about a page of text */
#define MAX_KEY 128
#define MAX_SUBJECT 512

const char *const config_sections[] = {"sampling", "symbols", "heap",  "view",
				       "agent",    "server",  "relay", NULL};

void config_fini(struct config *config)
{
	json_decref(config->root);
	free(config->path);
	free(config->text);
	*config = (struct config){0};
}

static int read_text(int fd, const char *path, char **ret, size_t *ret_size, struct error *err)
{
	SCOPED(mem) char *text = malloc(MAX_FILE_BYTES + 1);
	size_t size = 0;

	if (!text)
		return error_set(err, -ENOMEM, "out of memory");
	for (;;) {
		ssize_t n = read(fd, text + size, MAX_FILE_BYTES + 1 - size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_file(err, -errno, "cannot read configuration %s", path);
		if (n == 0)
			break;
		size += (size_t)n;
		if (size > MAX_FILE_BYTES)
			return error_advise(err,
					    error_set(err, -EFBIG,
						      "configuration %s is larger than %u bytes",
						      path, MAX_FILE_BYTES),
					    SEE_SCHEMA);
	}
	text[size] = '\0';
	*ret = scope_take(&text);
	*ret_size = size;
	return 0;
}

/* The remedy for text that is not JSON, by the error of the parser. */
static const char *remedy_of(enum json_error_code code)
{
	static const struct {
		enum json_error_code code;
		const char *remedy;
	} remedies[] = {
		{json_error_duplicate_key,
		 "remove one of the two: a name may occur only once in an object"},
		{json_error_stack_overflow,
		 "a section contains keys, and a key has a value or one list: " SEE_SCHEMA},
		{json_error_premature_end_of_input,
		 "complete the file: each { needs a }, each [ a ], each string two quotes"},
		{json_error_end_of_input_expected,
		 "remove everything after the last }: the file is one object"},
		{json_error_invalid_utf8, "save it as UTF-8 text"},
		{json_error_null_character, "remove \\u0000: strings cannot contain it"},
		{json_error_null_byte_in_key, "remove \\u0000: names cannot contain it"},
		{json_error_numeric_overflow, "write a smaller number: " SEE_SCHEMA},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(remedies); i++)
		if (remedies[i].code == code)
			return remedies[i].remedy;
	return "fix the JSON: quote names and strings with \", no comma before } or ]";
}

/* Refuses files without text, for which the errors of the JSON parser are unclear. */
static int check_text(const char *text, size_t size, const char *path, struct error *err)
{
	if (memchr(text, '\0', size))
		return error_advise(
			err, error_set(err, -EINVAL, "configuration %s contains a NUL byte", path),
			"save it as UTF-8 text; UTF-16 is not supported");
	if (text[strspn(text, " \t\r\n")] == '\0')
		return error_advise(err, error_set(err, -EINVAL, "configuration %s is empty", path),
				    "write at least {} into it, or remove it");
	return 0;
}

/* Parses the text that was read. */
static int parse(struct config *config, size_t size, const char *path, struct error *err)
{
	bool is_marked = size >= 3 && memcmp(config->text, "\xef\xbb\xbf", 3) == 0;
	const char *text = config->text + (is_marked ? 3 : 0); /* skip a byte order mark */
	json_error_t problem;
	int r;

	config->path = strdup(path);
	if (!config->path)
		return error_set(err, -ENOMEM, "out of memory");
	size -= (size_t)(text - config->text);
	r = check_text(text, size, path, err);
	if (r < 0)
		return r;
	config->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
	if (!config->root)
		return error_advise(
			err, error_set(err, -EINVAL, "%s:%d: %s", path, problem.line, problem.text),
			"%s", remedy_of(json_error_code(&problem)));
	if (!json_is_object(config->root))
		return error_advise(
			err, error_set(err, -EINVAL, "%s: must be an object of sections", path),
			SEE_SCHEMA);
	return 0;
}

static int load(struct config *config, int fd, const char *path, struct error *err)
{
	size_t size = 0;
	struct stat status;
	int r = read_text(fd, path, &config->text, &size, err);

	if (r == 0 && size == 0 && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode))
		return error_advise(
			err,
			error_set(err, -EINVAL,
				  "configuration %s is a pipe that no process writes to", path),
			"start the writer first, or name a file");
	if (r == 0)
		log_info("using configuration %s", path);
	return r < 0 ? r : parse(config, size, path, err);
}

/*
 * Whether a file that the user did not name belongs to another user: in /tmp, other users must not
 * decide what to record. Writes a note about the first such file.
 */
static bool is_foreign(struct config *config, const char *path, const struct stat *status)
{
	if (status->st_uid == 0 || status->st_uid == geteuid())
		return false;
	if (!config->note[0])
		(void)snprintf(config->note, sizeof(config->note),
			       "ignoring %s: it belongs to uid %u, neither to you nor to root; to "
			       "use it: --config %s",
			       path, (unsigned int)status->st_uid, path);
	return true;
}

/* Returns 1 if the file was loaded, 0 if the next place should be tried. */
static int try_place(struct config *config, const char *path, struct error *err)
{
	SCOPED(fd) int fd = -1;
	struct stat status;
	int r;

	/* Checks the owner first, so that a file of another user cannot make us fail either. */
	if (lstat(path, &status) < 0) {
		log_debug("no configuration %s: %s", path, strerror(errno));
		/* A directory that we may not enter (HOME of another user) has no file of ours. */
		if (errno == ENOENT || errno == ENOTDIR || errno == EACCES)
			return 0;
		return error_file(err, -errno, "cannot read configuration %s", path);
	}
	if (is_foreign(config, path, &status))
		return 0;
	/* Without O_NONBLOCK, opening a FIFO of that name would block before we can refuse it. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_file(err, -errno, "cannot read configuration %s", path);
	if (is_foreign(config, path, &status))
		return 0;
	if (!S_ISREG(status.st_mode))
		return error_advise(
			err,
			error_set(err, -EINVAL, "configuration %s is not a regular file", path),
			"remove it, or name another file with --config FILE");
	r = load(config, fd, path, err);
	return r < 0 ? r : 1;
}

static int open_usual(struct config *config, struct error *err)
{
	const char *base = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char user[4096] = "";
	int r;

	r = try_place(config, "wick.json", err);
	if (r != 0)
		return r;
	if (base && base[0] == '/') /* the XDG rules: relative paths must be ignored */
		(void)snprintf(user, sizeof(user), "%s/wick/config.json", base);
	else if (home && home[0] == '/')
		(void)snprintf(user, sizeof(user), "%s/.config/wick/config.json", home);
	r = user[0] ? try_place(config, user, err) : 0;
	if (r != 0)
		return r;
	return try_place(config, "/etc/wick/config.json", err);
}

static int open_given(struct config *config, const char *path, struct error *err)
{
	/* Opening a FIFO may wait forever for a writer; reading waits only if it has one. */
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0)
		return error_file(err, -errno, "cannot read configuration %s", path);
	return load(config, fd, path, err);
}

int config_open(struct config *config, const char *path, struct error *err)
{
	int r;

	*config = (struct config){0};
	r = path ? open_given(config, path, err) : open_usual(config, err);
	if (r < 0) {
		config_fini(config);
		return r;
	}
	return 0;
}

int config_open_preset(struct config *config, enum config_preset preset, struct error *err)
{
	static const struct {
		const char *name;
		const char *text;
	} presets[] = {
		[CONFIG_PRESET_PRODUCTION] = {"production", preset_production},
		[CONFIG_PRESET_DEVELOPMENT] = {"development", preset_development},
		[CONFIG_PRESET_MICRO] = {"micro", preset_micro},
		[CONFIG_PRESET_HEAP] = {"heap", preset_heap},
	};
	int r;

	*config = (struct config){.is_preset = true};
	if (preset == CONFIG_PRESET_NONE)
		return 0;
	config->text = strdup(presets[preset].text);
	r = config->text ? parse(config, strlen(config->text), presets[preset].name, err)
			 : error_set(err, -ENOMEM, "out of memory");
	if (r < 0)
		config_fini(config);
	return r;
}

/*
 * A position in the text. jansson keeps no positions, so we find the line of a key by scanning the
 * text, which is known to be valid, once more.
 */
struct scan {
	const char *at;
	unsigned int line;
	int depth;
};

/* Skips one token. For a string, returns the start of its contents, otherwise NULL. */
static const char *scan_token(struct scan *scan, size_t *ret_length)
{
	const char *start = scan->at + 1;

	switch (*scan->at++) {
	case '\n':
		scan->line++;
		return NULL;
	case '{':
	case '[':
		scan->depth++;
		return NULL;
	case '}':
	case ']':
		scan->depth--;
		return NULL;
	case '"':
		break;
	default:
		return NULL;
	}
	while (*scan->at && *scan->at != '"')
		scan->at += scan->at[0] == '\\' && scan->at[1] ? 2 : 1;
	*ret_length = (size_t)(scan->at - start);
	if (*scan->at)
		scan->at++;
	return start;
}

static bool token_is(const char *token, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(token, word, length) == 0;
}

/* The line of a section (key NULL) or of a key in it; 0 if it is not found. */
static unsigned int find_line(const char *text, const char *section, const char *key)
{
	struct scan scan = {text, 1, 0};
	bool inside = false;

	while (*scan.at) {
		size_t length = 0;
		const char *token = scan_token(&scan, &length);

		if (!token || scan.at[strspn(scan.at, " \t\r\n")] != ':')
			continue;
		if (scan.depth == 1) {
			inside = token_is(token, length, section);
			if (inside && !key)
				return scan.line;
		} else if (scan.depth == 2 && inside && key && token_is(token, length, key)) {
			return scan.line;
		}
	}
	return 0;
}

static void put_place(const struct config *config, const char *section, const char *key, char *ret,
		      size_t size)
{
	unsigned int line = find_line(config->text, section, key);

	if (line > 0)
		(void)snprintf(ret, size, "%s:%u", config->path, line);
	else
		(void)snprintf(ret, size, "%s", config->path);
}

struct accepted {
	const char *name; /* for the error */
	bool boolean;
	bool integer;
	bool real;
	bool string;
	bool array;
	bool object;
};

static const struct accepted *accepted_of(enum option_kind kind)
{
	static const struct accepted kinds[] = {
		[OPTION_KIND_FLAG] = {"true or false", .boolean = true},
		[OPTION_KIND_TOGGLE] = {"true or false", .boolean = true},
		[OPTION_KIND_U64] = {"a whole number", .integer = true},
		[OPTION_KIND_DOUBLE] = {"a number", .integer = true, .real = true},
		[OPTION_KIND_STRING] = {"a string", .string = true},
		[OPTION_KIND_LIST] = {"a list of strings", .string = true, .array = true},
		[OPTION_KIND_PAIRS] = {"an object of strings", .array = true, .object = true},
		[OPTION_KIND_NUMBERS] = {"a list of whole numbers", .integer = true, .array = true},
		[OPTION_KIND_ENUM] = {"a string", .string = true},
		[OPTION_KIND_DURATION] = {"a duration: a number or a string such as \"20ms\"",
					  .integer = true, .real = true, .string = true},
		[OPTION_KIND_SIZE] = {"a size: a number or a string such as \"64K\"",
				      .integer = true, .string = true},
		[OPTION_KIND_GROUP] = {"nothing"},
	};

	return &kinds[kind];
}

static bool is_accepted(const struct option_spec *spec, const json_t *value)
{
	const struct accepted *accepted = accepted_of(spec->kind);

	switch (json_typeof(value)) {
	case JSON_TRUE:
	case JSON_FALSE:
		return accepted->boolean;
	case JSON_INTEGER:
		return accepted->integer;
	case JSON_REAL:
		return accepted->real;
	case JSON_STRING:
		return accepted->string || (spec->off && accepted->integer &&
					    strcmp(json_string_value(value), spec->off) == 0);
	case JSON_ARRAY:
		return accepted->array;
	case JSON_OBJECT:
		return accepted->object;
	case JSON_NULL:
		break;
	}
	return false;
}

/* A value of the file that is being assigned. */
struct setting {
	struct option_set *set;
	struct option_entry *entry;
	const struct option_assignment *how;
	struct error *err;
	const char *file;
};

static int wrong_type(const struct setting *setting, const json_t *value)
{
	SCOPED(mem) char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
	char shown[OPTION_SHOWN_BYTES];
	struct bytes range = {0};
	int r;

	option_put_range(&range, setting->entry->spec);
	r = error_set(setting->err, -EINVAL, "%s is %s but must be %s%s%.*s%s",
		      setting->how->subject, option_shorten(dumped ? dumped : "?", shown),
		      accepted_of(setting->entry->spec->kind)->name, range.size > 0 ? " (" : "",
		      (int)range.size, range.data ? (const char *)range.data : "",
		      range.size > 0 ? ")" : "");
	bytes_fini(&range);
	return r;
}

static int assign_scalar(const struct setting *setting, const json_t *value)
{
	SCOPED(mem) char *dumped = NULL;
	const struct option_spec *spec = setting->entry->spec;
	bool is_path = spec->offer == OPTION_OFFER_FILE || spec->offer == OPTION_OFFER_DIRECTORY;
	const char *text = json_string_value(value);
	int r;

	if (text) {
		r = config_text_expand(text, is_path, setting->file, setting->how->subject, &dumped,
				       setting->err);
		if (r < 0)
			return r;
		text = dumped;
	} else {
		dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
		if (!dumped)
			return error_set(setting->err, -ENOMEM, "out of memory");
		text = dumped;
	}
	return option_assign(setting->set, setting->entry, text, setting->how, setting->err);
}

static int assign_array(const struct setting *setting, json_t *array)
{
	bool numbers = setting->entry->spec->kind == OPTION_KIND_NUMBERS;
	json_t *item;
	size_t i;
	int r;

	json_array_foreach(array, i, item)
	{
		if (numbers ? !json_is_integer(item) : !json_is_string(item))
			return wrong_type(setting, item);
		r = assign_scalar(setting, item);
		if (r < 0)
			return r;
	}
	return 0;
}

static int assign_object(const struct setting *setting, json_t *object)
{
	const char *key;
	json_t *item;
	int r;

	json_object_foreach(object, key, item)
	{
		SCOPED(mem) char *pair = NULL;
		SCOPED(mem) char *text = NULL;

		if (!json_is_string(item))
			return wrong_type(setting, item);
		r = config_text_expand(json_string_value(item), false, setting->file,
				       setting->how->subject, &text, setting->err);
		if (r < 0)
			return r;
		if (asprintf(&pair, "%s=%s", key, text) < 0) {
			pair = NULL;
			return error_set(setting->err, -ENOMEM, "out of memory");
		}
		r = option_assign(setting->set, setting->entry, pair, setting->how, setting->err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int assign_value(const struct setting *setting, json_t *value)
{
	if (!is_accepted(setting->entry->spec, value))
		return wrong_type(setting, value);
	if (json_is_array(value))
		return assign_array(setting, value);
	if (json_is_object(value))
		return assign_object(setting, value);
	return assign_scalar(setting, value);
}

/* Checks a value for another command than the one that is running. */
static int check_elsewhere(const struct command *owner, const char *key, json_t *value,
			   const struct setting *given)
{
	struct command_values values;
	struct setting setting = {&values.set, NULL, given->how, given->err, given->file};
	int r;

	r = command_values_init(&values, owner, given->err);
	if (r < 0)
		return r;
	setting.entry = option_set_find_key(&values.set, key);
	r = assign_value(&setting, value);
	command_values_fini(&values);
	return r;
}

/* The key that was probably meant, of this section or another; "" if there is none. */
static void find_meant(const struct command *const *commands, const char *section, const char *name,
		       char *ret, size_t size)
{
	const char *meant = command_nearest_key(commands, section, name);

	ret[0] = '\0';
	if (meant)
		(void)snprintf(ret, size, "%s.%s", section, meant);
	for (size_t i = 0; config_sections[i] && !meant; i++) {
		(void)snprintf(ret, size, "%s.%s", config_sections[i], name);
		if (command_of_key(commands, ret))
			return;
		ret[0] = '\0';
	}
}

static int apply_key(const struct config *config, const struct command *const *commands,
		     struct option_set *set, const char *key, json_t *value, struct error *err)
{
	const char *dot = strchr(key, '.');
	char section[MAX_KEY];
	char place[MAX_SUBJECT];
	char subject[MAX_SUBJECT + MAX_KEY];
	struct option_assignment how = {config->is_preset ? OPTION_FROM_PRESET : OPTION_FROM_FILE,
					subject, config->is_preset ? config->path : place};
	struct setting setting = {set, option_set_find_key(set, key), &how, err, config->path};
	const struct command *owner;
	char meant[2 * MAX_KEY];

	(void)snprintf(section, sizeof(section), "%.*s", (int)(dot - key), key);
	put_place(config, section, dot + 1, place, sizeof(place));
	(void)snprintf(subject, sizeof(subject), "%s: %s", place, key);
	if (setting.entry)
		return assign_value(&setting, value);
	owner = command_of_key(commands, key);
	if (owner)
		return check_elsewhere(owner, key, value, &setting);
	(void)error_set(err, -EINVAL, "%s: unknown key %s", place, key);
	find_meant(commands, section, dot + 1, meant, sizeof(meant));
	if (meant[0])
		error_remedy(err, "did you mean %s? " SEE_SCHEMA, meant);
	return error_advise(err, -EINVAL, SEE_SCHEMA);
}

static int check_section(const struct config *config, const char *name, const json_t *value,
			 struct error *err)
{
	char place[MAX_SUBJECT];
	const char *meant;
	size_t i;
	int r;

	put_place(config, name, NULL, place, sizeof(place));
	for (i = 0; config_sections[i]; i++) {
		if (strcmp(config_sections[i], name) == 0)
			break;
	}
	if (!config_sections[i]) {
		r = error_set(err, -EINVAL, "%s: unknown section %s", place, name);
		meant = nearest_name(name, config_sections, i);
		error_remedy(err,
			     "%s%s%sthe sections are sampling, symbols, heap, view, agent, server "
			     "and relay",
			     meant ? "did you mean " : "", meant ? meant : "", meant ? "? " : "");
		return r;
	}
	if (!json_is_object(value))
		return error_advise(
			err,
			error_set(err, -EINVAL, "%s: section %s must be an object", place, name),
			SEE_SCHEMA);
	return 0;
}

static int apply_section(const struct config *config, const struct command *const *commands,
			 struct option_set *set, const char *name, json_t *section,
			 struct error *err)
{
	const char *key;
	json_t *value;
	int r;

	r = check_section(config, name, section, err);
	if (r < 0)
		return r;
	json_object_foreach(section, key, value)
	{
		char full[MAX_KEY];

		(void)snprintf(full, sizeof(full), "%s.%s", name, key);
		r = apply_key(config, commands, set, full, value, err);
		if (r < 0)
			return error_advise(err, r, SEE_SCHEMA);
	}
	return 0;
}

int config_apply_file(const struct config *config, const struct command *const *commands,
		      struct option_set *set, struct error *err)
{
	const char *name;
	json_t *section;
	int r;

	if (!config->root)
		return 0;
	json_object_foreach(config->root, name, section)
	{
		if (strcmp(name, "$schema") == 0) /* editors look for it */
			continue;
		r = apply_section(config, commands, set, name, section, err);
		if (r < 0)
			return r;
	}
	return 0;
}

void config_variable_name(const char *key, char *ret_name, size_t size)
{
	char *at;

	(void)snprintf(ret_name, size, "WICK_%s", key);
	for (at = ret_name; *at; at++)
		*at = (char)(*at == '.' || *at == '-' ? '_' : toupper((unsigned char)*at));
}

static int assign_variable(struct option_set *set, struct option_entry *entry, const char *name,
			   const char *text, struct error *err)
{
	const struct option_assignment how = {OPTION_FROM_ENVIRONMENT, name, name};
	enum option_offer offer = entry->spec->offer;
	bool paths = offer == OPTION_OFFER_FILE || offer == OPTION_OFFER_DIRECTORY;
	SCOPED(mem) char *copy = NULL;
	char *rest;
	char *one;
	int r;

	if (!option_is_repeatable(entry->spec))
		return option_assign(set, entry, text, &how, err);
	copy = strdup(text);
	if (!copy)
		return error_set(err, -ENOMEM, "out of memory");
	for (rest = copy; (one = strsep(&rest, paths ? ":" : ",")) != NULL;) {
		r = option_assign(set, entry, one, &how, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Converts "WICK_HEAP_DEPTH=9" to "heap.depth"; false if there is no such section. */
static bool key_of_variable(const char *variable, char *ret_key, size_t size)
{
	for (size_t i = 0; config_sections[i]; i++) {
		char prefix[MAX_KEY];
		size_t length;

		config_variable_name(config_sections[i], prefix, sizeof(prefix));
		length = strlen(prefix);
		if (strncmp(variable, prefix, length) != 0 || variable[length] != '_')
			continue;
		(void)snprintf(ret_key, size, "%s.%.*s", config_sections[i],
			       (int)strcspn(variable + length + 1, "="), variable + length + 1);
		for (char *at = ret_key; *at; at++)
			*at = (char)tolower((unsigned char)*at);
		return true;
	}
	return false;
}

bool config_find_strange_variable(const struct command *const *commands, char *ret_text,
				  size_t size)
{
	for (char **variable = environ; variable && *variable; variable++) {
		char key[MAX_KEY];
		char meant_key[2 * MAX_KEY];
		char meant_name[2 * MAX_KEY];
		const char *meant;
		char *dot;

		if (!key_of_variable(*variable, key, sizeof(key)) || command_of_key(commands, key))
			continue;
		dot = strchr(key, '.');
		*dot = '\0';
		meant = command_nearest_key(commands, key, dot + 1);
		(void)snprintf(meant_key, sizeof(meant_key), "%s.%s", key, meant ? meant : "");
		config_variable_name(meant_key, meant_name, sizeof(meant_name));
		(void)snprintf(ret_text, size, "%.*s is not a setting%s%s",
			       (int)strcspn(*variable, "="), *variable,
			       meant ? "; did you mean " : "", meant ? meant_name : "");
		return true;
	}
	return false;
}

int config_apply_environment(struct option_set *set, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < set->count; i++) {
		char name[MAX_KEY];
		const char *text;

		if (!set->entries[i].spec->key)
			continue;
		config_variable_name(set->entries[i].spec->key, name, sizeof(name));
		text = getenv(name);
		if (!text || !text[0])
			continue;
		r = assign_variable(set, &set->entries[i], name, text, err);
		if (r < 0)
			return error_advise(err, r, "change it, or unset it: unset %s", name);
	}
	return 0;
}
