/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_AUDIT_H
#define WICK_SERVER_AUDIT_H

/*
 * audit: who read or changed what, and who was refused: one line of JSON each, appended to a file
 * that only its owner can read. At AUDIT_MAX_BYTES the file becomes FILE.1. Any thread may call.
 */

#include <pthread.h>
#include <stdint.h>

struct error;
struct http_call;

#define AUDIT_MAX_BYTES (64ull << 20)

struct audit {
	pthread_mutex_t lock;
	int fd; /* -1: not open */
	char *path;
	uint64_t size;
};

int audit_open(struct audit *audit, const char *path, struct error *err);
void audit_close(struct audit *audit);

/* What was asked for is in detail; status is that of the answer. */
void audit_add(struct audit *audit, const struct http_call *request, unsigned int status,
	       const char *detail);

#endif
