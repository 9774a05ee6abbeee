/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_FILE_SERVER_H
#define WICK_SERVER_FILES_FILE_SERVER_H

/*
 * file_server: the web page and its queries for recordings, without a store. The answers have the
 * same shape as those of wick server. It listens beyond loopback only with TLS and tokens.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct file_server;
struct load_options;

struct file_server_config {
	const char *address;       /* numeric */
	uint16_t port;             /* 0: any free one */
	const char *tls_cert_path; /* NULL: no TLS */
	const char *tls_key_path;
	const char *token_path;   /* hashes of tokens; need not exist on loopback */
	const char *token_folder; /* what --data of wick token would be */
	const char *const *paths;
	size_t count;
	const struct load_options *load;
	bool is_own; /* this program is about to record the first of the paths, and only that */
};

/* Borrows config until file_server_close(). Signals are up to the caller: block them first. */
int file_server_open(const struct file_server_config *config, struct file_server **ret,
		     struct error *err);
uint16_t file_server_port(const struct file_server *server);

/* How many samples all recordings have together. */
uint64_t file_server_samples(struct file_server *server);

/* The recording of this program has ended: tells pages that watch it, in a second at most. */
void file_server_end(struct file_server *server);

/* Ends connections that take too long. Call it every second or so. */
void file_server_tidy(struct file_server *server);
void file_server_close(struct file_server *server); /* NULL is fine */

#endif
