/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/symbol_sender.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "agent/push_policy.h"
#include "agent/symbol_files.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "model/entity.h"
#include "net/content_coding.h"
#include "net/http_client.h"
#include "symbol/debug_file.h"
#include "symbol/module_symbols.h"
#include "symbol/symbol_file.h"

#define PATH "/api/symbols/"
#define RETRY_NS (60 * NS_PER_SEC)
#define RETRIES_MAX 5u

struct asked {
	struct build_id build_id;
	unsigned int tries;
};

struct symbol_sender {
	struct symbol_sender_config config;
	VEC(struct asked) queue;
	uint64_t next_ns; /* not before */
	struct symbol_sender_stats stats;
};

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

struct symbol_sender *symbol_sender_new(const struct symbol_sender_config *config)
{
	struct symbol_sender *sender = calloc(1, sizeof(*sender));

	if (sender)
		sender->config = *config;
	return sender;
}

void symbol_sender_free(struct symbol_sender *sender)
{
	if (!sender)
		return;
	vec_fini(&sender->queue);
	free(sender);
}

static bool is_queued(const struct symbol_sender *sender, const struct build_id *id)
{
	for (size_t i = 0; i < sender->queue.count; i++)
		if (build_id_equal(&sender->queue.items[i].build_id, id))
			return true;
	return false;
}

void symbol_sender_ask(struct symbol_sender *sender, const char *answer)
{
	json_t *root = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
	const json_t *list = json_object_get(root, "symbols");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));
		struct asked asked = {.tries = 0};

		if (text && build_id_parse(text, &asked.build_id) &&
		    !is_queued(sender, &asked.build_id) &&
		    sender->queue.count < SYMBOL_SENDER_QUEUE_MAX &&
		    vec_push(&sender->queue, asked) < 0)
			break; /* the server asks again */
	}
	json_decref(root);
}

/* One file on its way. */
struct source {
	struct symbol_file_found file;
	uint16_t machine;
};

/* A symbol_search.open: our descriptor leads to the file even if its name does not any more. */
static int open_held(void *self, uint32_t module_id, struct elf_file **ret)
{
	struct source *source = self;
	int fd = source->file.fd >= 0 ? dup(source->file.fd) : -1;
	int r;

	(void)module_id; /* there is one */
	if (fd < 0)
		return -ENOENT;
	r = elf_open_fd(fd, source->file.path, ret, NULL);
	if (r < 0)
		(void)close(fd); /* only read from */
	else
		source->machine = elf_machine(*ret);
	return r;
}

/* Whether reading the symbols would take too much memory. */
static bool is_too_large(struct source *source)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	uint64_t bytes = 0;

	if (open_held(source, 0, &elf) < 0)
		return false;
	for (size_t i = 0; i < elf_section_count(elf); i++) {
		const struct elf_section *section = elf_section_at(elf, i);

		if (section->type == SHT_SYMTAB || section->type == SHT_DYNSYM ||
		    section->type == SHT_STRTAB)
			bytes += section->size < SYMBOL_SENDER_MAX_BYTES ? section->size
									 : SYMBOL_SENDER_MAX_BYTES;
	}
	return bytes >= SYMBOL_SENDER_MAX_BYTES;
}

/* Makes the compressed body. */
static int make_body(const struct symbol_sender *sender, struct source *source, struct bytes *ret,
		     struct error *err)
{
	struct symbol_search search = {
		.paths = sender->config.symbol_paths,
		.path_count = sender->config.symbol_path_count,
		.root = source->file.root,
		.open = open_held,
		.open_self = source,
	};
	struct module module = {
		.kind = MODULE_FILE, .path = source->file.path, .build_id = source->file.build_id};
	struct symbol_file_source functions = {.build_id = &module.build_id};
	struct module_symbols symbols;
	struct bytes file = {0};
	int r;

	if (is_too_large(source)) {
		(void)error_set(err, -EFBIG, "the symbol table of %s is too large",
				source->file.path);
		error_remedy(err, "upload it by hand, see docs/reference/http-api.md");
		return -EFBIG;
	}
	module_symbols_init(&symbols, &module, 0, &search);
	functions.tables = (const struct elf_symbols *const *)symbols.tables;
	functions.table_count = symbols.table_count;
	functions.machine = source->machine;
	r = symbol_file_make(&functions, SYMBOL_SENDER_MAX_BYTES, &file, err);
	module_symbols_fini(&symbols);
	if (r > 0)
		r = content_encode_zstd(file.data, file.size, ret, err);
	bytes_fini(&file);
	return r;
}

/* Sends a body. Returns 0 if it is done with, -EAGAIN to try again later. */
static int post(struct symbol_sender *sender, struct http_client *client, const atomic_bool *cancel,
		const struct build_id *id, const struct bytes *body)
{
	static const char *const headers[] = {"Content-Type: application/octet-stream",
					      "Content-Encoding: zstd", NULL};
	char hex[2 * BUILD_ID_MAX + 1];
	struct bytes url = {0};
	struct http_request request = {.method = "POST",
				       .headers = headers,
				       .body = body->data,
				       .body_bytes = body->size,
				       .cancel = cancel};
	struct http_answer answer = {0};
	struct error err = {0};
	enum push_verdict verdict = PUSH_LATER;

	build_id_format(id, hex);
	bytes_printf(&url, "%s" PATH "%s", sender->config.url, hex);
	bytes_put_u8(&url, '\0');
	request.url = (const char *)url.data;
	if (!url.failed && http_client_send(client, &request, &answer, &err) == 0)
		verdict = push_verdict_of(answer.status);
	log_info("symbols of %s, %zu bytes: status %d", hex, body->size, answer.status);
	if (verdict == PUSH_STORED) {
		sender->stats.sent++;
		sender->stats.sent_bytes += body->size;
	}
	sender->stats.failures += verdict == PUSH_REFUSED;
	http_answer_fini(&answer);
	bytes_fini(&url);
	return verdict == PUSH_LATER ? -EAGAIN : 0;
}

/* Returns 0 if it is done with, -EAGAIN to try again later. */
static int send_one(struct symbol_sender *sender, struct http_client *client,
		    const atomic_bool *cancel, const struct build_id *id, size_t *ret_bytes)
{
	struct source source = {.file = {.fd = -1}};
	struct bytes body = {0};
	struct error err = {0};
	int r;

	if (symbol_files_take(sender->config.files, id, &source.file) < 0)
		return 0; /* not a file of this host any more */
	r = make_body(sender, &source, &body, &err);
	if (r < 0) {
		sender->stats.failures++;
		log_info("no symbols of %s: %s", source.file.path, err.text);
		r = 0;
	} else {
		r = post(sender, client, cancel, id, &body);
		*ret_bytes = body.size;
	}
	if (r == -EAGAIN)
		symbol_files_put_back(sender->config.files, &source.file);
	else if (source.file.fd >= 0)
		(void)close(source.file.fd); /* only read from */
	bytes_fini(&body);
	return r;
}

static void drop_first(struct symbol_sender *sender)
{
	memmove(sender->queue.items, sender->queue.items + 1,
		--sender->queue.count * sizeof(*sender->queue.items));
}

uint64_t symbol_sender_run(struct symbol_sender *sender, struct http_client *client,
			   const atomic_bool *cancel)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct asked *first = sender->queue.items;
	size_t bytes = 0;

	if (sender->queue.count == 0)
		return 0;
	if (now_ns >= sender->next_ns) {
		int r = send_one(sender, client, cancel, &first->build_id, &bytes);

		now_ns = clock_monotonic_ns();
		sender->next_ns = now_ns + (uint64_t)((double)bytes * 60e9 /
						      (double)sender->config.bytes_per_minute);
		if (r == 0 || ++first->tries > RETRIES_MAX)
			drop_first(sender);
		else if (sender->next_ns < now_ns + RETRY_NS)
			sender->next_ns = now_ns + RETRY_NS;
		if (sender->queue.count == 0)
			return 0;
	}
	return sender->next_ns > now_ns ? (sender->next_ns - now_ns) / NS_PER_MS + 1 : 1;
}

struct symbol_sender_stats symbol_sender_stats(const struct symbol_sender *sender)
{
	return sender ? sender->stats : (struct symbol_sender_stats){0};
}
