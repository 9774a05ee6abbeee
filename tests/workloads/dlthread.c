/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * dlthread [MS]: another thread loads plugin A after half a second; the main thread,
 * which burns CPU all the while, goes on inside it for MS.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

typedef uint64_t (*burn_function)(uint64_t cpu_ns);

static _Atomic(burn_function) loaded;

static void *load(void *folder)
{
	char path[4352];
	burn_function burn;
	void *handle;

	(void)usleep(500000);
	(void)snprintf(path, sizeof(path), "%s/plugin_a.so", (const char *)folder);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		abort();
	*(void **)&burn = dlsym(handle, "plugin_a_burn");
	atomic_store(&loaded, burn);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns = argument(argc, argv, 1, 1000) * NS_PER_MS;
	char folder[4096] = "";
	pthread_t thread;
	uint64_t burnt_ns;

	if (readlink("/proc/self/exe", folder, sizeof(folder) - 1) <= 0)
		abort();
	*strrchr(folder, '/') = '\0';
	if (pthread_create(&thread, NULL, load, folder) != 0)
		abort();
	while (!atomic_load(&loaded))
		(void)burn_cpu(NS_PER_MS);
	burnt_ns = atomic_load(&loaded)(cpu_ns);
	(void)pthread_join(thread, NULL);
	printf("{\"functions\": {\"plugin_a_burn\": %llu}}\n", (unsigned long long)burnt_ns);
	return 0;
}
