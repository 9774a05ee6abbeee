/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_TOKEN_H
#define WICK_NET_TOKEN_H

/*
 * token: the secrets that clients of a server show, and the file that lists their hashes.
 *
 * A token is 256 random bits, written in hex after "wick_". The file has one line for each:
 *
 *	ID ACCESS CREATED EXPIRES SHA256 NAME
 *
 * so a copy of the file lets nobody in. It must belong to us and be readable by nobody else (0600).
 * Tokens are random, so one round of SHA-256 is enough: there is nothing to guess.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sha256.h"

struct error;

enum token_access {
	TOKEN_NONE = 0,
	TOKEN_READ = 1,  /* queries */
	TOKEN_WRITE = 2, /* pushes */
	TOKEN_ADMIN = 3, /* everything */
};

#define TOKEN_NAME_MAX 64
#define TOKEN_ID_MAX 16
/* "wick_", 64 digits, NUL */
#define TOKEN_SECRET_MAX 70
/* More tokens are refused. */
#define TOKENS_MAX 10000

struct token {
	char id[TOKEN_ID_MAX]; /* to revoke it by */
	enum token_access access;
	uint64_t created_s;
	uint64_t expires_s; /* 0: never */
	uint8_t hash[SHA256_BYTES];
	char name[TOKEN_NAME_MAX];
};

struct tokens {
	struct token *items;
	size_t count;
};

const char *token_access_name(enum token_access access);
/* "read", "write" or "admin"; TOKEN_NONE for any other word. */
enum token_access token_access_of(const char *word);

/* Whether a token with the access `has` may do what requires `needs`. */
bool token_allows(enum token_access has, enum token_access needs);

/* Reads the file; without one there are no tokens. The caller releases it with tokens_fini(). */
int tokens_load(struct tokens *tokens, const char *path, struct error *err);
void tokens_fini(struct tokens *tokens);

/* The token with this secret that has not expired, or NULL. Takes the same time for every secret.
 */
const struct token *tokens_find(const struct tokens *tokens, const char *secret, uint64_t now_s);

/* Adds a token to the file, which is created when missing. The secret is stored nowhere. */
int tokens_add(const char *path, const struct token *wanted, struct token *ret,
	       char ret_secret[TOKEN_SECRET_MAX], struct error *err);

/* Removes a token by its id, or by a name that only one token has. */
int tokens_revoke(const char *path, const char *id, struct error *err);

#endif
