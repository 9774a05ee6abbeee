/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/http_access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/regular_file.h"
#include "base/scope.h"
#include "net/http_browser.h"
#include "net/http_server.h"

#define PEM_MAX_BYTES (1u << 20)
#define SECRET_MAX 256

static bool is_loopback(const char *address)
{
	struct in6_addr six;

	if (strncmp(address, "127.", 4) == 0)
		return true;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool needs_tokens(const struct http_access *access)
{
	return access->config.always || !is_loopback(access->config.address);
}

static int refuse_tokenless(const struct http_access *access, struct error *err)
{
	(void)error_set(err, -EPERM,
			"%s would be open to all users of this machine: there are no tokens",
			access->config.address);
	error_remedy(err, "make one: wick token add read --data %s", access->config.token_folder);
	return -EPERM;
}

/* Beyond this machine, only with TLS and tokens. */
static int check_exposure(const struct http_access *access, struct error *err)
{
	const struct http_access_config *config = &access->config;
	bool has_tls = config->tls_cert_path && config->tls_key_path;

	if ((config->tls_cert_path != NULL) != (config->tls_key_path != NULL)) {
		(void)error_set(err, -EINVAL, "TLS needs both a certificate and its key");
		error_remedy(err, "use --tls-cert FILE --tls-key FILE");
		return -EINVAL;
	}
	if (is_loopback(config->address))
		return needs_tokens(access) && access->tokens.count == 0
			       ? refuse_tokenless(access, err)
			       : 0;
	if (has_tls && access->tokens.count > 0)
		return 0;
	(void)error_set(err, -EPERM, "%s can be reached from other machines, but there %s",
			config->address,
			!has_tls && access->tokens.count == 0 ? "is no TLS, and there are no tokens"
			: !has_tls                            ? "is no TLS"
							      : "are no tokens");
	error_remedy(err,
		     "use --tls-cert FILE --tls-key FILE, and make tokens with: wick token add "
		     "write --data %s",
		     config->token_folder);
	return -EPERM;
}

static int read_pem(const char *path, char **ret, struct error *err)
{
	struct stat status;
	SCOPED(fd) int fd = regular_file_open(path, &status);
	SCOPED(mem) char *text = NULL;
	ssize_t n;

	if (fd < 0)
		return error_file(err, fd, "cannot open %s", path);
	text = calloc(1, PEM_MAX_BYTES);
	if (!text)
		return error_set(err, -ENOMEM, "out of memory");
	n = read(fd, text, PEM_MAX_BYTES - 1);
	if (n < 0)
		return error_file(err, -errno, "cannot read %s", path);
	*ret = scope_take(&text);
	return 0;
}

int http_access_open(struct http_access *access, const struct http_access_config *config,
		     struct error *err)
{
	int r;

	*access = (struct http_access){.config = *config};
	(void)pthread_rwlock_init(&access->lock, NULL); /* never fails on Linux */
	r = tokens_load(&access->tokens, config->token_path, err);
	if (r == 0)
		r = check_exposure(access, err);
	if (r == 0 && config->tls_cert_path)
		r = read_pem(config->tls_cert_path, &access->tls_cert, err);
	if (r == 0 && config->tls_key_path)
		r = read_pem(config->tls_key_path, &access->tls_key, err);
	return r;
}

void http_access_close(struct http_access *access)
{
	(void)pthread_rwlock_destroy(&access->lock);
	tokens_fini(&access->tokens);
	free(access->tls_cert);
	free(access->tls_key);
	*access = (struct http_access){0};
}

int http_access_reload(struct http_access *access, struct error *err)
{
	struct tokens tokens;
	struct tokens old;
	int r = tokens_load(&tokens, access->config.token_path, err);

	if (r == 0 && tokens.count == 0 && needs_tokens(access)) {
		tokens_fini(&tokens);
		r = error_set(err, -EPERM, "%s has no tokens any more; the old tokens remain valid",
			      access->config.token_path);
		error_remedy(err, "add one (wick token add), or restart without --listen");
	}
	if (r < 0)
		return r;
	(void)pthread_rwlock_wrlock(&access->lock);
	old = access->tokens;
	access->tokens = tokens;
	(void)pthread_rwlock_unlock(&access->lock);
	tokens_fini(&old);
	return 0;
}

/* "user:password" in base64; the password is the token. */
static bool take_password(const char *text, char ret[SECRET_MAX])
{
	struct bytes plain = {0};
	const char *colon = NULL;

	if (strlen(text) < SECRET_MAX && base64_decode(text, &plain)) {
		bytes_put_u8(&plain, '\0');
		if (!plain.failed)
			colon = strchr((const char *)plain.data, ':');
	}
	if (colon)
		(void)snprintf(ret, SECRET_MAX, "%s", colon + 1); /* it fits */
	bytes_fini(&plain);
	return colon != NULL;
}

/* How a request shows its secret. */
enum proof { PROOF_NONE, PROOF_COOKIE, PROOF_PASSWORD, PROOF_BEARER };

static enum proof take_secret(const struct http_access *access, const struct http_call *request,
			      char ret[SECRET_MAX])
{
	const char *text = http_call_header(request, "Authorization");
	char name[HTTP_COOKIE_NAME_MAX];

	if (text && strncasecmp(text, "Basic ", 6) == 0)
		return take_password(text + 6, ret) ? PROOF_PASSWORD : PROOF_NONE;
	if (text && strncasecmp(text, "Bearer ", 7) == 0) {
		(void)snprintf(ret, SECRET_MAX, "%s", text + 7); /* a longer one is none of ours */
		return PROOF_BEARER;
	}
	http_cookie_name(http_call_header(request, "Host"), access->tls_cert != NULL, name);
	text = http_call_cookie(request, name);
	if (!text)
		return PROOF_NONE;
	(void)snprintf(ret, SECRET_MAX, "%s", text); /* the same */
	return PROOF_COOKIE;
}

/* What is wrong with the page that asks; NULL: nothing. Only pages of ours know a Bearer token. */
static const char *page_refusal(const struct http_access *access, const struct http_call *request,
				enum proof proof)
{
	struct http_browser_facts facts = {
		.method = request->route->method,
		.host = http_call_header(request, "Host"),
		.origin = http_call_header(request, "Origin"),
		.site = http_call_header(request, "Sec-Fetch-Site"),
		.mode = http_call_header(request, "Sec-Fetch-Mode"),
		.dest = http_call_header(request, "Sec-Fetch-Dest"),
		.has_tls = access->tls_cert != NULL,
		.has_cookie = proof == PROOF_COOKIE,
	};

	return proof == PROOF_BEARER ? NULL : http_browser_refusal(&facts);
}

const char *http_access_page_refusal(const struct http_access *access,
				     const struct http_call *request)
{
	return page_refusal(access, request, PROOF_NONE);
}

static void refuse_grant(struct http_grant *grant, unsigned int status, const char *why)
{
	grant->access = TOKEN_NONE;
	grant->status = status;
	grant->why = why;
}

static bool is_open(const struct http_access *access)
{
	return access->tokens.count == 0 && !needs_tokens(access);
}

static void set_token(struct http_grant *grant, const struct token *token)
{
	grant->access = token->access;
	(void)snprintf(grant->id, sizeof(grant->id), "%s", token->id); /* it fits */
	(void)snprintf(grant->who, sizeof(grant->who), "%s %.60s", token->id, token->name);
}

static void find_grant(const struct http_access *access, const struct http_call *request,
		       struct http_grant *ret)
{
	char secret[SECRET_MAX] = "";
	enum proof proof = take_secret(access, request, secret);
	const char *why = page_refusal(access, request, proof);
	const struct token *token =
		proof == PROOF_NONE
			? NULL
			: tokens_find(&access->tokens, secret, clock_realtime_ns() / NS_PER_SEC);

	*ret = (struct http_grant){.has_tokens = !is_open(access)};
	if (token)
		set_token(ret, token);
	if (is_open(access)) {
		ret->access = TOKEN_ADMIN;
		if (why || !http_host_is_local(http_call_header(request, "Host")))
			refuse_grant(ret, 403,
				     "without tokens, only programs on this machine and this "
				     "server's own page may send requests");
	} else if (!token) {
		refuse_grant(ret, 401,
			     proof != PROOF_NONE
				     ? "the token is unknown or has expired"
				     : "a token is needed: Authorization: Bearer TOKEN");
	} else if (why) {
		refuse_grant(ret, 403, why);
	}
}

void http_access_grant(struct http_access *access, const struct http_call *request,
		       struct http_grant *ret)
{
	(void)pthread_rwlock_rdlock(&access->lock);
	find_grant(access, request, ret);
	(void)pthread_rwlock_unlock(&access->lock);
}

bool http_access_holds(struct http_access *access, const char *id, enum token_access needs)
{
	uint64_t now_s = clock_realtime_ns() / NS_PER_SEC;
	bool holds;
	size_t i;

	(void)pthread_rwlock_rdlock(&access->lock);
	holds = !*id && is_open(access);
	for (i = 0; i < access->tokens.count && *id && !holds; i++) {
		const struct token *token = &access->tokens.items[i];

		holds = strcmp(token->id, id) == 0 && token_allows(token->access, needs) &&
			(token->expires_s == 0 || token->expires_s > now_s);
	}
	(void)pthread_rwlock_unlock(&access->lock);
	return holds;
}

bool http_access_find(struct http_access *access, const char *secret, struct token *ret)
{
	const struct token *token;

	(void)pthread_rwlock_rdlock(&access->lock);
	token = tokens_find(&access->tokens, secret, clock_realtime_ns() / NS_PER_SEC);
	if (token)
		*ret = *token;
	(void)pthread_rwlock_unlock(&access->lock);
	return token != NULL;
}

unsigned int http_access_check(struct http_access *access, struct http_call *request,
			       struct http_response *response)
{
	enum token_access needs = (enum token_access)request->route->access;
	struct http_grant grant;

	if (needs == TOKEN_NONE)
		return 0;
	http_access_grant(access, request, &grant);
	(void)snprintf(request->who, sizeof(request->who), "%s", grant.who); /* it fits */
	if (grant.status != 0) {
		http_refuse(response, grant.status, "%s", grant.why);
		return grant.status;
	}
	if (token_allows(grant.access, needs))
		return 0;
	http_refuse(response, 403, "this needs a token for %s, and this one is for %s",
		    token_access_name(needs), token_access_name(grant.access));
	return 403;
}
