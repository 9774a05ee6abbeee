/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_CLICKHOUSE_SERVER_H
#define WICK_TESTS_CLICKHOUSE_SERVER_H

/*
 * clickhouse_server: instances of ClickHouse on loopback, in a folder of their own, each a shard of
 * the cluster "wick". They end with the test, however it ends.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLICKHOUSE_PROGRAM "/usr/sbin/clickhouse-server"
#define CLICKHOUSE_SHARDS 2
#define CLICKHOUSE_START_S 60
#define CLICKHOUSE_STOP_S 10

struct clickhouse_server {
	char folder[64];
	pid_t pids[CLICKHOUSE_SHARDS];
	unsigned int http[CLICKHOUSE_SHARDS];
	unsigned int tcp[CLICKHOUSE_SHARDS];
};

static inline const char *clickhouse_program(void)
{
	const char *other = getenv("WICK_TEST_CLICKHOUSE");

	return other ? other : CLICKHOUSE_PROGRAM;
}

static inline unsigned int clickhouse_free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		abort();
	(void)close(fd);
	return ntohs(address.sin_port);
}

static inline FILE *clickhouse_file(const struct clickhouse_server *server, unsigned int shard,
				    const char *name)
{
	char path[160];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%u/%s", server->folder, shard, name);
	file = fopen(path, "we");
	if (!file)
		abort();
	return file;
}

static inline void clickhouse_configure(const struct clickhouse_server *server, unsigned int shard)
{
	FILE *file = clickhouse_file(server, shard, "config.xml");

	(void)fprintf(file,
		      "<yandex><logger><level>error</level><log>%1$s/%2$u/log</log>"
		      "<errorlog>%1$s/%2$u/log.err</errorlog></logger>"
		      "<listen_host>127.0.0.1</listen_host><http_port>%3$u</http_port>"
		      "<tcp_port>%4$u</tcp_port><path>%1$s/%2$u/data/</path>"
		      "<tmp_path>%1$s/%2$u/tmp/</tmp_path>"
		      "<users_config>%1$s/%2$u/users.xml</users_config>"
		      "<default_profile>default</default_profile>"
		      "<default_database>default</default_database>"
		      "<mark_cache_size>67108864</mark_cache_size><remote_servers><wick>",
		      server->folder, shard, server->http[shard], server->tcp[shard]);
	for (unsigned int i = 0; i < CLICKHOUSE_SHARDS; i++)
		(void)fprintf(file,
			      "<shard><replica><host>127.0.0.1</host><port>%u</port>"
			      "<user>wick</user><password>secret</password></replica></shard>",
			      server->tcp[i]);
	(void)fprintf(file, "</wick></remote_servers></yandex>\n");
	(void)fclose(file);
	file = clickhouse_file(server, shard, "users.xml");
	(void)fprintf(file, "<yandex><profiles><default><max_memory_usage>1000000000"
			    "</max_memory_usage><max_threads>2</max_threads></default></profiles>"
			    "<users><wick><password>secret</password><networks><ip>127.0.0.1</ip>"
			    "</networks><profile>default</profile><quota>default</quota></wick>"
			    "</users><quotas><default></default></quotas></yandex>\n");
	(void)fclose(file);
}

static inline void clickhouse_make_folders(const struct clickhouse_server *server,
					   unsigned int shard)
{
	static const char *const names[] = {"", "/data", "/tmp"};
	char path[160];

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%u%s", server->folder, shard, names[i]);
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			abort();
	}
}

static inline bool clickhouse_is_up(const struct clickhouse_server *server, unsigned int shard)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons((uint16_t)server->http[shard])};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_up = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

	(void)close(fd);
	return is_up;
}

/* Returns when it answers. */
static inline void clickhouse_start(struct clickhouse_server *server, unsigned int shard)
{
	const struct timespec wait = {.tv_nsec = 50000000};
	char option[160];

	(void)snprintf(option, sizeof(option), "--config-file=%s/%u/config.xml", server->folder,
		       shard);
	server->pids[shard] = fork();
	if (server->pids[shard] == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(null, 1);
		(void)dup2(null, 2);
		(void)execl(clickhouse_program(), clickhouse_program(), option, (char *)NULL);
		_exit(127);
	}
	for (unsigned int i = 0; i < CLICKHOUSE_START_S * 20; i++) {
		if (clickhouse_is_up(server, shard))
			return;
		(void)nanosleep(&wait, NULL);
	}
	(void)fprintf(stderr, "ClickHouse does not start: see %s\n", server->folder);
	abort();
}

/* It does not always end when it is asked to. */
static inline void clickhouse_stop(struct clickhouse_server *server, unsigned int shard, int number)
{
	const struct timespec wait = {.tv_nsec = 50000000};

	(void)kill(server->pids[shard], number);
	for (unsigned int i = 0; i < CLICKHOUSE_STOP_S * 20; i++) {
		if (waitpid(server->pids[shard], NULL, WNOHANG) != 0)
			return;
		(void)nanosleep(&wait, NULL);
	}
	(void)kill(server->pids[shard], SIGKILL);
	(void)waitpid(server->pids[shard], NULL, 0);
}

static inline void clickhouse_begin(struct clickhouse_server *server)
{
	(void)snprintf(server->folder, sizeof(server->folder), "/tmp/wick-clickhouse-XXXXXX");
	if (!mkdtemp(server->folder))
		abort();
	for (unsigned int i = 0; i < CLICKHOUSE_SHARDS; i++) {
		server->http[i] = clickhouse_free_port();
		server->tcp[i] = clickhouse_free_port();
	}
	for (unsigned int i = 0; i < CLICKHOUSE_SHARDS; i++) {
		clickhouse_make_folders(server, i);
		clickhouse_configure(server, i);
		clickhouse_start(server, i);
	}
}

static inline bool clickhouse_begin_or_skip(struct clickhouse_server *server)
{
	if (access(clickhouse_program(), X_OK) == 0) {
		clickhouse_begin(server);
		return true;
	}
	(void)fprintf(stderr, "skipped: install clickhouse-server to test the store in it\n");
	return false;
}

/* The URL of a database of its own, on the first shard or on two. */
static inline void clickhouse_url(const struct clickhouse_server *server, unsigned int shards,
				  unsigned int number, char *ret, size_t size)
{
	char second[32] = "";

	if (shards > 1)
		(void)snprintf(second, sizeof(second), ",127.0.0.1:%u", server->http[1]);
	(void)snprintf(ret, size, "clickhouse://127.0.0.1:%u%s/test%u", server->http[0], second,
		       number);
}

static inline void remove_folder(const char *folder)
{
	const char *const command[] = {"rm", "-rf", folder, NULL};
	pid_t pid = fork();

	if (pid == 0) {
		(void)execvp(command[0], (char **)(uintptr_t)command);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
}

/* The folder is left to the caller. */
static inline void clickhouse_end(struct clickhouse_server *server)
{
	for (unsigned int i = 0; i < CLICKHOUSE_SHARDS; i++)
		clickhouse_stop(server, i, SIGKILL);
}

#endif
