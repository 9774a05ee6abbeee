/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/token.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static char folder[64];
static char path[96];

static int make_folder(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/test-token-XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/tokens", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)unlink(path);
	return rmdir(folder);
}

static void the_hash_is_that_of_the_standard(void **state)
{
	static const struct {
		const char *text;
		uint8_t begin[4];
	} known[] = {
		{"", {0xe3, 0xb0, 0xc4, 0x42}},
		{"abc", {0xba, 0x78, 0x16, 0xbf}},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 {0x24, 0x8d, 0x6a, 0x61}},
	};
	uint8_t hash[SHA256_BYTES];
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		sha256(known[i].text, strlen(known[i].text), hash);
		assert_memory_equal(hash, known[i].begin, 4);
	}
}

static void only_the_secret_itself_is_accepted(void **state)
{
	struct token made;
	struct tokens tokens;
	char secret[TOKEN_SECRET_MAX];
	struct stat status;

	assert_int_equal(tokens_add(path, &(struct token){.access = TOKEN_WRITE, .name = "agents"},
				    &made, secret, NULL),
			 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(tokens_load(&tokens, path, NULL), 0);
	assert_int_equal(tokens.count, 1);
	assert_string_equal(tokens_find(&tokens, secret, 1)->name, "agents");
	assert_int_equal(tokens_find(&tokens, secret, 1)->access, TOKEN_WRITE);
	secret[10] = secret[10] == 'a' ? 'b' : 'a';
	assert_null(tokens_find(&tokens, secret, 1));
	assert_null(tokens_find(&tokens, "", 1));
	tokens_fini(&tokens);
}

static void an_expired_token_is_unknown(void **state)
{
	struct token made;
	struct tokens tokens;
	char secret[TOKEN_SECRET_MAX];

	assert_int_equal(tokens_add(path, &(struct token){.access = TOKEN_READ, .expires_s = 100},
				    &made, secret, NULL),
			 0);
	assert_int_equal(tokens_load(&tokens, path, NULL), 0);
	assert_non_null(tokens_find(&tokens, secret, 99));
	assert_null(tokens_find(&tokens, secret, 100));
	tokens_fini(&tokens);
}

static void a_token_is_revoked_by_its_id_or_name(void **state)
{
	struct token made;
	struct tokens tokens;
	struct error err = {0};
	char secret[TOKEN_SECRET_MAX];

	assert_int_equal(tokens_add(path, &(struct token){.access = TOKEN_READ, .name = "a"}, &made,
				    secret, NULL),
			 0);
	assert_int_equal(tokens_revoke(path, "b", &err), -ENOENT);
	assert_int_equal(tokens_revoke(path, made.id, &err), 0);
	assert_int_equal(tokens_load(&tokens, path, NULL), 0);
	assert_int_equal(tokens.count, 0);
	tokens_fini(&tokens);
	assert_int_equal(tokens_add(path, &(struct token){.access = TOKEN_READ, .name = "a"}, &made,
				    secret, NULL),
			 0);
	assert_int_equal(tokens_add(path, &(struct token){.access = TOKEN_READ, .name = "a"}, &made,
				    secret, NULL),
			 0);
	assert_int_equal(tokens_revoke(path, "a", &err), -EINVAL);
}

static void a_file_that_others_can_read_is_refused(void **state)
{
	struct token made;
	struct tokens tokens;
	struct error err = {0};
	char secret[TOKEN_SECRET_MAX];

	assert_int_equal(
		tokens_add(path, &(struct token){.access = TOKEN_READ}, &made, secret, NULL), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(tokens_load(&tokens, path, &err), -EPERM);
	assert_non_null(strstr(err.remedy, "chmod 600"));
}

static void damaged_lines_and_names_with_line_breaks_are_refused(void **state)
{
	struct token made;
	struct tokens tokens;
	struct error err = {0};
	char secret[TOKEN_SECRET_MAX];
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs("# a comment\n\nid write 1 0 zz name\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(tokens_load(&tokens, path, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "line 3"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(tokens_add(path,
				    &(struct token){.access = TOKEN_READ, .name = "a\nb admin"},
				    &made, secret, &err),
			 -EINVAL);
}

static void access_is_what_the_token_is_for(void **state)
{
	assert_true(token_allows(TOKEN_ADMIN, TOKEN_WRITE));
	assert_true(token_allows(TOKEN_READ, TOKEN_READ));
	assert_true(token_allows(TOKEN_WRITE, TOKEN_NONE));
	assert_false(token_allows(TOKEN_WRITE, TOKEN_READ));
	assert_false(token_allows(TOKEN_READ, TOKEN_ADMIN));
	assert_int_equal(token_access_of("admin"), TOKEN_ADMIN);
	assert_int_equal(token_access_of("none"), TOKEN_NONE);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_is_that_of_the_standard),
		cmocka_unit_test(access_is_what_the_token_is_for),
		IN_FOLDER(only_the_secret_itself_is_accepted),
		IN_FOLDER(an_expired_token_is_unknown),
		IN_FOLDER(a_token_is_revoked_by_its_id_or_name),
		IN_FOLDER(a_file_that_others_can_read_is_refused),
		IN_FOLDER(damaged_lines_and_names_with_line_breaks_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
