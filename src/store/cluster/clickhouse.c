/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/cluster/clickhouse.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/vec.h"
#include "net/http_client.h"

#define CONNECT_MS 3000u
#define USUAL_MS 60000u
#define PROBE_MS 5000u
#define LONG_MS 3600000u
#define ANSWER_MAX (1ull << 30)
#define HEADERS 4
/* Kept by the node until the statement has succeeded: then the status is true. */
#define WAIT "&wait_end_of_query=1&buffer_size=1048576"

struct clickhouse {
	struct clickhouse_config config;
	char *user_header;
	char *password_header; /* NULL: none */
	char boundary[48];
	pthread_mutex_t lock;
	VEC(struct http_client *) idle; /* connections stay open in them */
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

int clickhouse_new(const struct clickhouse_config *config, struct clickhouse **ret,
		   struct error *err)
{
	struct clickhouse *clickhouse = calloc(1, sizeof(*clickhouse));
	const char *user = config->user ? config->user : "default";

	if (!clickhouse)
		return no_memory(err);
	clickhouse->config = *config;
	(void)pthread_mutex_init(&clickhouse->lock, NULL); /* never fails without attributes */
	(void)snprintf(clickhouse->boundary, sizeof(clickhouse->boundary),
		       "wick%016" PRIx64 "%016" PRIx64, clock_realtime_ns(), clock_monotonic_ns());
	if (asprintf(&clickhouse->user_header, "X-ClickHouse-User: %s", user) < 0)
		clickhouse->user_header = NULL;
	if (config->password &&
	    asprintf(&clickhouse->password_header, "X-ClickHouse-Key: %s", config->password) < 0)
		clickhouse->password_header = NULL;
	if (!clickhouse->user_header || (config->password && !clickhouse->password_header)) {
		clickhouse_free(clickhouse);
		return no_memory(err);
	}
	*ret = clickhouse;
	return 0;
}

void clickhouse_free(struct clickhouse *clickhouse)
{
	if (!clickhouse)
		return;
	while (clickhouse->idle.count > 0)
		http_client_free(clickhouse->idle.items[--clickhouse->idle.count]);
	vec_fini(&clickhouse->idle);
	(void)pthread_mutex_destroy(&clickhouse->lock); /* nobody holds it any more */
	free(clickhouse->user_header);
	free(clickhouse->password_header);
	free(clickhouse);
}

const char *clickhouse_node_name(const struct clickhouse *clickhouse, size_t node)
{
	return strstr(clickhouse->config.nodes[node], "://") + 3;
}

/* A client that nobody uses. */
static int take_client(struct clickhouse *clickhouse, uint64_t timeout_ms, struct http_client **ret,
		       struct error *err)
{
	struct http_client_config config = {.connect_timeout_ms = CONNECT_MS,
					    .timeout_ms = timeout_ms};

	*ret = NULL;
	if (timeout_ms == USUAL_MS) {
		(void)pthread_mutex_lock(&clickhouse->lock); /* never fails: not held by us */
		if (clickhouse->idle.count > 0)
			*ret = clickhouse->idle.items[--clickhouse->idle.count];
		(void)pthread_mutex_unlock(&clickhouse->lock);
	}
	return *ret ? 0 : http_client_new(&config, ret, err);
}

static void give_back(struct clickhouse *clickhouse, uint64_t timeout_ms,
		      struct http_client *client)
{
	int r = -1;

	if (timeout_ms == USUAL_MS) {
		(void)pthread_mutex_lock(&clickhouse->lock); /* never fails: not held by us */
		r = vec_push(&clickhouse->idle, client);
		(void)pthread_mutex_unlock(&clickhouse->lock);
	}
	if (r < 0)
		http_client_free(client);
}

/* Their codes are documented, and never change. */
static const struct {
	unsigned int number;
	int code;
	const char *remedy;
} problems[] = {
	{57, -EEXIST, "drop it, if nobody is creating it now"},
	{32, -EHOSTUNREACH, "check that all shards run"},
	{209, -EHOSTUNREACH, "check that all shards run"},
	{210, -EHOSTUNREACH, "check that all shards run"},
	{279, -EHOSTUNREACH, "check that all shards run"},
	{216, -EBUSY, "try again"},
	{427, -EINVAL, "fix the regular expression"},
	{192, -EACCES, "set WICK_CLICKHOUSE_USER and WICK_CLICKHOUSE_PASSWORD"},
	{193, -EACCES, "set WICK_CLICKHOUSE_USER and WICK_CLICKHOUSE_PASSWORD"},
	{194, -EACCES, "set WICK_CLICKHOUSE_USER and WICK_CLICKHOUSE_PASSWORD"},
	{516, -EACCES, "set WICK_CLICKHOUSE_USER and WICK_CLICKHOUSE_PASSWORD"},
	{497, -EACCES, "grant the user all rights on the database"},
	{81, -ENOENT, "create it: CREATE DATABASE"},
};

/* "Code: 81, e.displayText() = DB::Exception: Database w doesn't exist, e.what() = …" */
static int explain(const char *node, int status, const char *answer, struct error *err)
{
	const char *code = strstr(answer, "Code: ");
	unsigned long number = code ? strtoul(code + 6, NULL, 10) : 0;
	const char *text = strstr(answer, "Exception: ");
	const char *end;
	struct bytes plain = {0};
	size_t i;
	int r = -EIO;

	text = text ? text + strlen("Exception: ") : answer;
	end = strstr(text, ", e.what()");
	text_put_plain(&plain, text);
	bytes_put_u8(&plain, '\0');
	(void)error_set(err, r, "%s: %.*s (ClickHouse code %lu, status %d)", node,
			end && end - text < 300 ? (int)(end - text) : 300,
			plain.failed ? "" : (const char *)plain.data, number, status);
	bytes_fini(&plain);
	for (i = 0; i < ARRAY_SIZE(problems) && r == -EIO; i++)
		if (problems[i].number == number) {
			r = problems[i].code;
			error_remedy(err, "%s", problems[i].remedy);
		}
	if (err)
		err->code = r;
	return r == -EIO ? error_advise(err, r, "see the log of ClickHouse") : r;
}

/* The rows as a file of a form. */
static void put_form(const struct clickhouse *clickhouse, const struct clickhouse_table *table,
		     struct bytes *body)
{
	bytes_printf(body,
		     "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"rows\"\r\n"
		     "Content-Type: application/octet-stream\r\n\r\n",
		     clickhouse->boundary, table->name);
	bytes_put(body, table->rows->data, table->rows->size);
	bytes_printf(body, "\r\n--%s--\r\n", clickhouse->boundary);
}

static void put_url(const struct clickhouse *clickhouse,
		    const struct clickhouse_statement *statement, struct bytes *url)
{
	bytes_printf(url, "%s/?", clickhouse->config.nodes[statement->node]);
	if (statement->table) {
		bytes_printf(url, "%s_format=RowBinary&%s_structure=", statement->table->name,
			     statement->table->name);
		http_url_put(url, statement->table->columns);
		bytes_put_u8(url, '&');
	}
	bytes_printf(url, "query=");
	if (statement->table || statement->data) {
		struct bytes sql = {0};

		bytes_put(&sql, statement->sql->data, statement->sql->size);
		bytes_put_u8(&sql, '\0');
		if (!sql.failed)
			http_url_put(url, (const char *)sql.data);
		url->failed |= sql.failed;
		bytes_fini(&sql);
	}
	bytes_printf(url, WAIT);
	if (statement->lock) {
		/* One block, so what is inserted is there whole or not at all. */
		bytes_printf(url, "&max_threads=1&min_insert_block_size_rows=1000000000"
				  "&min_insert_block_size_bytes=0&query_id=");
		http_url_put(url, statement->lock);
	}
	if (statement->skips_shards)
		bytes_printf(url, "&skip_unavailable_shards=1");
	bytes_put_u8(url, '\0');
}

static int send(struct clickhouse *clickhouse, const struct clickhouse_statement *statement,
		uint64_t timeout_ms, struct http_answer *ret, struct error *err)
{
	const char *headers[HEADERS + 1] = {clickhouse->user_header};
	struct http_request request = {
		.method = "POST",
		.headers = headers,
		.max_answer_bytes = ANSWER_MAX,
	};
	struct http_client *client = NULL;
	struct bytes body = {0};
	struct bytes url = {0};
	char type[96];
	size_t count = 1;
	int r;

	*ret = (struct http_answer){0};
	if (clickhouse->password_header)
		headers[count++] = clickhouse->password_header;
	if (statement->table) {
		(void)snprintf(type, sizeof(type), "Content-Type: multipart/form-data; boundary=%s",
			       clickhouse->boundary);
		headers[count++] = type;
		put_form(clickhouse, statement->table, &body);
	} else {
		const struct bytes *from = statement->data ? statement->data : statement->sql;

		bytes_put(&body, from->data, from->size);
	}
	headers[count] = NULL;
	put_url(clickhouse, statement, &url);
	request.url = (const char *)url.data;
	request.body = body.data;
	request.body_bytes = body.size;
	r = body.failed || url.failed || statement->sql->failed ? no_memory(err) : 0;
	if (r == 0)
		r = take_client(clickhouse, timeout_ms, &client, err);
	if (r == 0) {
		r = http_client_send(client, &request, ret, err);
		give_back(clickhouse, timeout_ms, client);
	}
	bytes_fini(&body);
	bytes_fini(&url);
	return r;
}

int clickhouse_run(struct clickhouse *clickhouse, const struct clickhouse_statement *statement,
		   struct bytes *ret, struct error *err)
{
	uint64_t timeout_ms = statement->is_long ? LONG_MS : USUAL_MS;
	const char *node = clickhouse_node_name(clickhouse, statement->node);
	struct http_answer answer;
	int r = send(clickhouse, statement, timeout_ms, &answer, err);

	if (r == -ECONNREFUSED || r == -ETIMEDOUT) {
		r = error_set(err, -EHOSTUNREACH, "%s, a server of ClickHouse, does not answer",
			      node);
		error_remedy(err, "check that it runs: curl http://%s/ping", node);
	} else if (r == 0 && answer.status != 200) {
		r = explain(node, answer.status, (const char *)answer.body.data, err);
	} else if (r == 0 && ret) {
		bytes_put(ret, answer.body.data, answer.body.size);
		r = ret->failed ? no_memory(err) : 0;
	}
	http_answer_fini(&answer);
	return r;
}

bool clickhouse_answers(struct clickhouse *clickhouse, size_t node)
{
	struct bytes sql = {0};
	struct clickhouse_statement statement = {.node = node, .sql = &sql};
	struct http_answer answer;
	int r;

	bytes_printf(&sql, "SELECT 1");
	r = send(clickhouse, &statement, PROBE_MS, &answer, NULL);
	if (r == 0 && answer.status != 200)
		r = -EIO;
	http_answer_fini(&answer);
	bytes_fini(&sql);
	return r == 0;
}

void clickhouse_put_text(struct bytes *sql, const char *text)
{
	struct bytes clean = {0};
	size_t i;

	/* What is stored was cleaned in the same way. */
	text_put_plain(&clean, text);
	sql->failed |= clean.failed;
	bytes_put_u8(sql, '\'');
	for (i = 0; i < clean.size; i++) {
		if (clean.data[i] == '\'' || clean.data[i] == '\\')
			bytes_put_u8(sql, '\\');
		bytes_put_u8(sql, clean.data[i]);
	}
	bytes_put_u8(sql, '\'');
	bytes_fini(&clean);
}

void clickhouse_put_string(struct bytes *rows, const char *text)
{
	bytes_put_string(rows, text, strlen(text));
}

const char *clickhouse_take_string(struct cursor *rows, size_t *ret_size)
{
	uint64_t size = cursor_varint(rows);
	const uint8_t *data = cursor_take(rows, size > cursor_left(rows) ? SIZE_MAX : size);

	*ret_size = data ? size : 0;
	return data ? (const char *)data : "";
}
