/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/file_server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "server/files/file_server_state.h"
#include "server/page/page_routes.h"
#include "server/routes.h"
#include "server/session.h"

#define DRAIN_S 2
/* How long pages may take to learn that a recording has ended, and how often to look. */
#define END_NS NS_PER_SEC
#define TURN_NS (10 * NS_PER_MS)

static void route_files_session(void *self, const struct http_call *request,
				struct http_response *response)
{
	static const char *const has[] = {"heat", "live", NULL};
	static const struct session_source source = {"files", has};
	struct file_server *server = self;

	session_put(&server->access, &source, request, response);
}

static void route_files_login(void *self, const struct http_call *request,
			      struct http_response *response)
{
	struct file_server *server = self;
	char who[HTTP_WHO_MAX];

	session_login(&server->access, &server->login_rate, request, response, who);
}

static void route_files_logout(void *self, const struct http_call *request,
			       struct http_response *response)
{
	struct file_server *server = self;

	session_logout(&server->access, request, response);
}

/* One on each line. */
/* clang-format off */
static const struct http_route routes[] = {
	{"GET", "/", TOKEN_NONE, route_page, .light = true},
	{"GET", "/page/{name}", TOKEN_NONE, route_page, .light = true},
	{"GET", "/api/session", TOKEN_NONE, route_files_session, .light = true},
	{"POST", "/api/login", TOKEN_NONE, route_files_login},
	{"POST", "/api/logout", TOKEN_NONE, route_files_logout},
	{"GET", "/api/profile", TOKEN_READ, route_profile},
	{"GET", "/api/diff", TOKEN_READ, route_diff},
	{"GET", "/api/top", TOKEN_READ, route_top},
	{"GET", "/api/series", TOKEN_READ, route_series},
	{"GET", "/api/services", TOKEN_READ, route_services},
	{"GET", "/api/types", TOKEN_READ, route_types},
	{"GET", "/api/labels", TOKEN_READ, route_labels},
	{"GET", "/api/gaps", TOKEN_READ, route_gaps},
	{"GET", "/api/heat", TOKEN_READ, route_heat},
	{"GET", "/api/live", TOKEN_READ, route_files_live},
	{"GET", "/healthz", TOKEN_NONE, route_healthz, .light = true},
};
/* clang-format on */

static unsigned int admit(void *self, struct http_call *request, struct http_response *response)
{
	struct file_server *server = self;

	return http_access_check(&server->access, request, response);
}

static int start_http(struct file_server *server, const struct file_server_config *config,
		      struct error *err)
{
	struct http_server_config http = {
		HTTP_SERVER_LIMITS,
		.address = config->address,
		.port = config->port,
		.tls_cert = server->access.tls_cert,
		.tls_key = server->access.tls_key,
		.routes = routes,
		.route_count = ARRAY_SIZE(routes),
		.self = server,
		.admit = admit,
	};

	http.max_body_bytes = 1 << 20;
	http.max_connections = 100;
	return http_server_start(&http, &server->http, err);
}

int file_server_open(const struct file_server_config *config, struct file_server **ret,
		     struct error *err)
{
	struct http_access_config access = {.address = config->address,
					    .tls_cert_path = config->tls_cert_path,
					    .tls_key_path = config->tls_key_path,
					    .token_path = config->token_path,
					    .token_folder = config->token_folder};
	struct file_server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return error_set(err, -ENOMEM, "out of memory");
	server->files.source.ops = &files_source;
	rate_limit_init(&server->login_rate, SESSION_TRIES_PER_SECOND, SESSION_TRIES);
	r = http_access_open(&server->access, &access, err);
	server->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r == 0 && server->end_fd < 0)
		r = error_errno(err, -errno, "cannot serve %s", config->paths[0]);
	if (r == 0)
		r = config->is_own ? served_files_init_own(&server->files.files, config->paths[0],
							   config->load, err)
				   : served_files_init(&server->files.files, config->paths,
						       config->count, config->load, err);
	if (r == 0)
		r = start_http(server, config, err);
	if (r < 0) {
		file_server_close(server);
		return r;
	}
	*ret = server;
	return 0;
}

uint16_t file_server_port(const struct file_server *server)
{
	return http_server_port(server->http);
}

uint64_t file_server_samples(struct file_server *server)
{
	struct served_files *files = &server->files.files;
	uint64_t samples = 0;
	size_t i;

	(void)pthread_mutex_lock(&files->lock);
	for (i = 0; i < files->count; i++)
		samples += files->files[i].summary.samples;
	(void)pthread_mutex_unlock(&files->lock);
	return samples;
}

void file_server_end(struct file_server *server)
{
	const struct timespec turn = {.tv_nsec = TURN_NS};
	struct http_server_stats stats;
	uint64_t waited_ns = 0;

	atomic_store(&server->has_ended, true);
	(void)eventfd_write(server->end_fd, 1); /* nobody reads it: it stays readable */
	do {
		http_server_stats(server->http, &stats);
		(void)nanosleep(&turn, NULL); /* a shorter wait is fine */
		waited_ns += TURN_NS;
	} while (stats.streams > 0 && waited_ns < END_NS);
}

void file_server_tidy(struct file_server *server)
{
	http_server_tidy(server->http);
}

void file_server_close(struct file_server *server)
{
	if (!server)
		return;
	http_server_stop(server->http, DRAIN_S);
	served_files_fini(&server->files.files);
	if (server->end_fd >= 0)
		(void)close(server->end_fd); /* nothing was written to a file */
	http_access_close(&server->access);
	rate_limit_fini(&server->login_rate);
	free(server);
}
