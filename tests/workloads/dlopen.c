/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * dlopen [MS]: loads plugin A and burns MS in it, unloads it, loads plugin B (of
 * the same size, so very likely at the same address) and burns 2 x MS in it.
 */

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

typedef uint64_t (*burn_function)(uint64_t cpu_ns);

static char folder[4096];

static NOINLINE uint64_t run_plugin(const char *name, uint64_t cpu_ns, uintptr_t *ret_address)
{
	char path[4352];
	char symbol[64];
	burn_function burn;
	uint64_t burnt_ns;
	void *handle;

	(void)snprintf(path, sizeof(path), "%s/plugin_%s.so", folder, name); /* sizes add up */
	(void)snprintf(symbol, sizeof(symbol), "plugin_%s_burn", name);      /* short names */
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*(void **)&burn = dlsym(handle, symbol);
	if (!burn)
		abort();
	*ret_address = (uintptr_t)burn;
	burnt_ns = burn(cpu_ns);
	(void)dlclose(handle); /* the last reference: unmaps it */
	return burnt_ns;
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns = argument(argc, argv, 1, 500) * NS_PER_MS;
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	uintptr_t address_a = 0;
	uintptr_t address_b = 0;
	uint64_t a_ns;
	uint64_t b_ns;
	char *slash;

	if (length <= 0)
		abort();
	slash = strrchr(folder, '/');
	*slash = '\0';
	a_ns = run_plugin("a", cpu_ns, &address_a);
	b_ns = run_plugin("b", 2 * cpu_ns, &address_b);
	printf("{\"functions\": {\"plugin_a_burn\": %llu, \"plugin_b_burn\": %llu}, "
	       "\"address_reused\": %s}\n",
	       (unsigned long long)a_ns, (unsigned long long)b_ns,
	       address_a == address_b ? "true" : "false");
	return 0;
}
