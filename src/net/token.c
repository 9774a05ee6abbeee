/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/token.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/file/owner.h"
#include "base/number.h"
#include "base/scope.h"

#define SECRET_PREFIX "wick_"
#define LINE_MAX_BYTES 256

static const char *const access_names[] = {"none", "read", "write", "admin"};

const char *token_access_name(enum token_access access)
{
	return access_names[access];
}

enum token_access token_access_of(const char *word)
{
	int i;

	for (i = TOKEN_READ; i <= TOKEN_ADMIN; i++)
		if (strcmp(word, access_names[i]) == 0)
			return (enum token_access)i;
	return TOKEN_NONE;
}

bool token_allows(enum token_access has, enum token_access needs)
{
	return needs == TOKEN_NONE || has == needs || has == TOKEN_ADMIN;
}

static void put_hex(const uint8_t *bytes, size_t n, char *ret)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < n; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret[2 * n] = '\0';
}

static bool read_hex(const char *text, uint8_t ret[SHA256_BYTES])
{
	size_t i;

	if (strlen(text) != (size_t)2 * SHA256_BYTES)
		return false;
	for (i = 0; i < SHA256_BYTES; i++) {
		unsigned int high = number_hex_digit(text[2 * i]);
		unsigned int low = number_hex_digit(text[2 * i + 1]);

		if (high > 15 || low > 15)
			return false;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool parse_line(const char *line, struct token *ret)
{
	char access[16];
	char hash[2 * SHA256_BYTES + 2];
	int at = 0;
	struct token token = {0};

	if (sscanf(line, "%15s %15s %" SCNu64 " %" SCNu64 " %65s %n", token.id, access,
		   &token.created_s, &token.expires_s, hash, &at) != 5)
		return false;
	token.access = token_access_of(access);
	(void)snprintf(token.name, sizeof(token.name), "%s", line + at); /* our own are shorter */
	*ret = token;
	return token.access != TOKEN_NONE && read_hex(hash, ret->hash);
}

/* Whether the file is ours alone. */
static int check_file(int fd, const char *path, struct error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_file(err, -errno, "cannot read %s", path);
	if (!S_ISREG(status.st_mode) || !owner_is_ours(status.st_uid)) {
		(void)error_set(err, -EPERM, "%s is not a regular file of yours", path);
		error_remedy(err, "remove it, and make new tokens with: wick token add");
		return -EPERM;
	}
	if (status.st_mode & 077) {
		(void)error_set(err, -EPERM, "other users may read or change %s", path);
		error_remedy(err, "chmod 600 %s", path);
		return -EPERM;
	}
	return 0;
}

static int refuse_line(const char *path, size_t number, struct error *err)
{
	(void)error_set(err, -EBADMSG, "%s: line %zu is not a token", path, number);
	error_remedy(err, "remove the line, or move the file away and make new tokens");
	return -EBADMSG;
}

static int push(struct tokens *tokens, const struct token *token)
{
	struct token *items = realloc(tokens->items, (tokens->count + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	tokens->items = items;
	items[tokens->count++] = *token;
	return 0;
}

static int read_lines(struct tokens *tokens, FILE *file, const char *path, struct error *err)
{
	char line[LINE_MAX_BYTES];
	size_t number = 0;

	while (fgets(line, sizeof(line), file)) {
		struct token token;

		number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (!parse_line(line, &token) || tokens->count >= TOKENS_MAX)
			return refuse_line(path, number, err);
		if (push(tokens, &token) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	return ferror(file) ? error_file(err, -EIO, "cannot read %s", path) : 0;
}

int tokens_load(struct tokens *tokens, const char *path, struct error *err)
{
	SCOPED(file) FILE *file = fopen(path, "re");
	int r;

	*tokens = (struct tokens){0};
	if (!file)
		return errno == ENOENT ? 0 : error_file(err, -errno, "cannot read %s", path);
	r = check_file(fileno(file), path, err);
	if (r == 0)
		r = read_lines(tokens, file, path, err);
	if (r < 0)
		tokens_fini(tokens);
	return r;
}

void tokens_fini(struct tokens *tokens)
{
	free(tokens->items);
	*tokens = (struct tokens){0};
}

static uint8_t difference(const uint8_t *a, const uint8_t *b)
{
	uint8_t all = 0;
	size_t i;

	for (i = 0; i < SHA256_BYTES; i++)
		all |= a[i] ^ b[i];
	return all;
}

const struct token *tokens_find(const struct tokens *tokens, const char *secret, uint64_t now_s)
{
	uint8_t hash[SHA256_BYTES];
	const struct token *found = NULL;
	size_t i;

	sha256(secret, strlen(secret), hash);
	for (i = 0; i < tokens->count; i++) { /* all of them, whatever was found */
		const struct token *token = &tokens->items[i];

		if (difference(token->hash, hash) == 0 &&
		    (token->expires_s == 0 || token->expires_s > now_s))
			found = token;
	}
	return found;
}

static int write_all(const struct tokens *tokens, const char *path, struct error *err)
{
	struct bytes text = {0};
	size_t i;
	int r;

	bytes_printf(&text, "# Tokens of wick server: id, access, created, expires, hash, name\n");
	for (i = 0; i < tokens->count; i++) {
		const struct token *token = &tokens->items[i];
		char hash[2 * SHA256_BYTES + 1];

		put_hex(token->hash, SHA256_BYTES, hash);
		bytes_printf(&text, "%s %s %" PRIu64 " %" PRIu64 " %s %s\n", token->id,
			     token_access_name(token->access), token->created_s, token->expires_s,
			     hash, token->name);
	}
	r = text.failed ? error_set(err, -ENOMEM, "out of memory")
			: outfile_write(path, NULL, text.data, text.size, err);
	bytes_fini(&text);
	return r;
}

/* Two commands that change the file at once: the second waits for the first. */
static int lock_folder(const char *path, struct error *err)
{
	SCOPED(mem) char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	int fd;

	if (!folder)
		return error_set(err, -ENOMEM, "out of memory");
	if (slash)
		slash[slash == folder] = '\0';
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_file(err, -errno, "cannot open %s", slash ? folder : ".");
	if (flock(fd, LOCK_EX) < 0) {
		int code = -errno;

		(void)close(fd); /* nothing was written */
		return error_file(err, code, "cannot lock %s", folder);
	}
	return fd;
}

static int make_secret(char ret[TOKEN_SECRET_MAX], struct error *err)
{
	uint8_t random[SHA256_BYTES];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_errno(err, -errno, "cannot get random numbers");
	memcpy(ret, SECRET_PREFIX, sizeof(SECRET_PREFIX));
	put_hex(random, sizeof(random), ret + sizeof(SECRET_PREFIX) - 1);
	return 0;
}

static int check_name(const char *name, struct error *err)
{
	const char *at;

	for (at = name; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f) {
			(void)error_set(err, -EINVAL,
					"the name of a token must be one line of text");
			error_remedy(err, "use letters, digits, spaces and dashes");
			return -EINVAL;
		}
	return 0;
}

int tokens_add(const char *path, const struct token *wanted, struct token *ret,
	       char ret_secret[TOKEN_SECRET_MAX], struct error *err)
{
	struct tokens tokens;
	struct token token = *wanted;
	SCOPED(fd) int lock = lock_folder(path, err);
	int r = lock < 0 ? lock : check_name(token.name, err);

	if (r == 0)
		r = tokens_load(&tokens, path, err);
	if (r < 0)
		return r;
	r = make_secret(ret_secret, err);
	if (r == 0 && tokens.count >= TOKENS_MAX) {
		r = error_set(err, -E2BIG, "%s has %d tokens already", path, TOKENS_MAX);
		error_remedy(err, "revoke those that are not used: wick token list");
	}
	if (r == 0) {
		sha256(ret_secret, strlen(ret_secret), token.hash);
		/* Ids are public: they are made of the hash, not of the secret. */
		put_hex(token.hash, 4, token.id);
		token.created_s = clock_realtime_ns() / NS_PER_SEC;
		r = push(&tokens, &token) < 0 ? error_set(err, -ENOMEM, "out of memory")
					      : write_all(&tokens, path, err);
	}
	if (r == 0)
		*ret = token;
	tokens_fini(&tokens);
	return r;
}

static bool is_named(const struct token *token, const char *id)
{
	return strcmp(token->id, id) == 0 || (*id && strcmp(token->name, id) == 0);
}

int tokens_revoke(const char *path, const char *id, struct error *err)
{
	struct tokens tokens;
	size_t kept = 0;
	size_t i;
	SCOPED(fd) int lock = lock_folder(path, err);
	int r = lock < 0 ? lock : tokens_load(&tokens, path, err);

	if (r < 0)
		return r;
	for (i = 0; i < tokens.count; i++)
		if (!is_named(&tokens.items[i], id))
			tokens.items[kept++] = tokens.items[i];
	if (kept + 1 < tokens.count) {
		r = error_set(err, -EINVAL, "several tokens are called %s", id);
		error_remedy(err, "name one by its id: wick token list");
	} else if (kept == tokens.count) {
		r = error_set(err, -ENOENT, "there is no token %s", id);
		error_remedy(err, "list them: wick token list");
	} else {
		tokens.count = kept;
		r = write_all(&tokens, path, err);
	}
	tokens_fini(&tokens);
	return r;
}
