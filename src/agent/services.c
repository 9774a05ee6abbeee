/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/services.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process_facts.h"
#include "agent/service_rules.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/dictionary.h"

#define OWN_LABELS 5u /* at most: those that are found for each process */
#define RELEASE_DIGITS 12u
#define OTHER_SERVICES "other"
#define KTHREADD_PID 2u /* the parent of all threads of the kernel */

struct known {
	uint32_t labels;  /* its label set; ID_NONE: not met */
	uint32_t service; /* its name, also if that is not kept */
	bool is_bare;     /* its environment may have come since */
};

struct services {
	struct services_config config;
	struct service_rules *rules;
	struct strings strings;
	struct label_sets sets;
	struct strings names;    /* of services */
	VEC(uint64_t) samples;   /* by name */
	bool keeps_some;         /* only the services of: */
	VEC(bool) kept;          /* by name */
	VEC(struct known) known; /* by process */
	size_t bare;             /* how many of them to look at again */
};

/* The names that a label of the user cannot have. */
static const char *const reserved[] = {"service", "host",      "type", "release",
				       "process", "container", "unit"};

int services_check_label(const char *text, struct error *err)
{
	size_t length = strcspn(text, "=");
	bool is_name = length > 0 && text[length] == '=' && !isdigit((unsigned char)text[0]);

	for (size_t i = 0; i < length; i++)
		is_name = is_name && (isalnum((unsigned char)text[i]) || text[i] == '_');
	if (!is_name) {
		(void)error_set(err, -EINVAL, "invalid label: %s", text);
		error_remedy(err, "write NAME=VALUE; a name has letters, digits and _");
		return -EINVAL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (strlen(reserved[i]) != length || memcmp(reserved[i], text, length) != 0)
			continue;
		(void)error_set(err, -EINVAL, "the label %s is set by the agent itself",
				reserved[i]);
		error_remedy(err, "choose another name; --rule names services, --release sets the "
				  "release");
		return -EINVAL;
	}
	return 0;
}

static void scope_release_services(struct services **services)
{
	services_free(*services);
}

static int check(const struct services_config *config, struct error *err)
{
	int r = 0;

	if (config->label_count > LABELS_MAX - OWN_LABELS) {
		(void)error_set(err, -E2BIG, "too many labels: %zu, at most %u are possible",
				config->label_count, LABELS_MAX - OWN_LABELS);
		error_remedy(err, "remove some: each label multiplies what a server stores");
		return -E2BIG;
	}
	for (size_t i = 0; i < config->label_count && r == 0; i++)
		r = services_check_label(config->labels[i], err);
	return r;
}

int services_new(const struct services_config *config, struct services **ret, struct error *err)
{
	SCOPED(services) struct services *services = calloc(1, sizeof(*services));
	int r = check(config, err);

	if (r < 0)
		return r;
	if (!services)
		return error_set(err, -ENOMEM, "out of memory");
	services->config = *config;
	if (strings_init(&services->strings) < 0 || strings_init(&services->names) < 0 ||
	    label_sets_init(&services->sets) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = service_rules_new(config->rules, config->rule_count, &services->rules, err);
	if (r < 0)
		return r;
	*ret = scope_take(&services);
	return 0;
}

void services_free(struct services *services)
{
	if (!services)
		return;
	service_rules_free(services->rules);
	label_sets_fini(&services->sets);
	strings_fini(&services->strings);
	strings_fini(&services->names);
	vec_fini(&services->samples);
	vec_fini(&services->kept);
	vec_fini(&services->known);
	free(services);
}

static int read_one(const struct services *services, uint32_t pid, struct process_facts *facts)
{
	return services->config.read ? services->config.read((pid_t)pid, facts)
				     : process_facts_read((pid_t)pid, facts);
}

/* Names such as kworker/u8:3-events are of no use as labels: there are any number of them. */
static bool is_kernel_thread(const struct process *process)
{
	return process->pid == KTHREADD_PID || process->parent_pid == KTHREADD_PID;
}

/*
 * A process that has ended already: most likely it was in the same group and had the same
 * environment as its parent.
 */
static void read_facts(const struct services *services, const struct process *process,
		       struct process_facts *facts)
{
	if (read_one(services, process->pid, facts) < 0 &&
	    (process->parent_pid == 0 || read_one(services, process->parent_pid, facts) < 0))
		*facts = (struct process_facts){0};
	process_fact_copy(facts->comm, sizeof(facts->comm), process->comm,
			  is_kernel_thread(process) ? strcspn(process->comm, "/")
						    : strlen(process->comm));
}

/* Without a release of its own, a process is as new as its program. */
static void find_release(const struct dictionary *dictionary, const struct process *process,
			 struct process_facts *facts)
{
	char hex[2 * BUILD_ID_MAX + 1];

	for (size_t i = 0; i < dictionary->modules.count && process->executable[0]; i++) {
		const struct module *module = &dictionary->modules.items[i];

		if (module->kind != MODULE_FILE || module->build_id.size == 0 ||
		    strcmp(module->path, process->executable) != 0)
			continue;
		build_id_format(&module->build_id, hex);
		process_fact_copy(facts->release, sizeof(facts->release), hex, RELEASE_DIGITS);
		return;
	}
}

static void put(struct label *labels, size_t *n, const char *key, const char *value)
{
	if (*value)
		labels[(*n)++] = (struct label){key, value};
}

static bool is_kept(const struct services *services, uint32_t name)
{
	return !services->keeps_some || (name < services->kept.count && services->kept.items[name]);
}

static uint32_t label_set_of(struct services *services, const struct process_facts *facts,
			     uint32_t *ret_service)
{
	const struct services_config *config = &services->config;
	char service[PROCESS_FACT_MAX];
	char keys[LABELS_MAX][PROCESS_FACT_MAX];
	struct label labels[LABELS_MAX];
	size_t n = 0;

	service_rules_name(services->rules, facts, service, sizeof(service));
	*ret_service = strings_add(&services->names, service);
	if (!is_kept(services, *ret_service))
		return label_sets_add(&services->sets, &services->strings,
				      &(struct label){"service", OTHER_SERVICES}, 1);
	for (size_t i = 0; i < config->label_count; i++) {
		size_t length = strcspn(config->labels[i], "=");

		(void)snprintf(keys[i], sizeof(keys[i]), "%.*s", (int)length, config->labels[i]);
		put(labels, &n, keys[i], config->labels[i] + length + 1);
	}
	put(labels, &n, "service", service);
	put(labels, &n, "release", facts->release);
	put(labels, &n, "container", facts->container);
	put(labels, &n, "unit", facts->unit);
	put(labels, &n, "process", facts->comm);
	return label_sets_add(&services->sets, &services->strings, labels, n);
}

/* The slot of a process, NULL if out of memory. */
static struct known *slot(struct services *services, uint32_t process)
{
	while (services->known.count <= process)
		if (vec_push(&services->known, (struct known){.labels = ID_NONE}) < 0)
			return NULL;
	return &services->known.items[process];
}

bool services_meet(struct services *services, const struct dictionary *dictionary, uint32_t process)
{
	const struct process *item = &dictionary->processes.items[process];
	struct known *known = slot(services, process);
	struct process_facts facts;

	if (!known)
		return true;
	read_facts(services, item, &facts);
	if (services->config.release)
		process_fact_copy(facts.release, sizeof(facts.release), services->config.release,
				  strlen(services->config.release));
	else if (!facts.release[0])
		find_release(dictionary, item, &facts);
	known->labels = label_set_of(services, &facts, &known->service);
	services->bare += facts.is_bare && !known->is_bare;
	known->is_bare = facts.is_bare;
	return is_kept(services, known->service);
}

void services_look_again(struct services *services, const struct dictionary *dictionary)
{
	struct process_facts facts;

	for (uint32_t i = 0; services->bare > 0 && i < services->known.count; i++) {
		struct known *known = &services->known.items[i];

		if (!known->is_bare)
			continue;
		/* Once only: kernel threads never have one, and later the pid may be another's. */
		known->is_bare = false;
		services->bare--;
		if (read_one(services, dictionary->processes.items[i].pid, &facts) == 0 &&
		    !facts.is_bare)
			(void)services_meet(services, dictionary, i);
	}
}

void services_meet_again(struct services *services, const struct services *others,
			 const struct dictionary *dictionary)
{
	for (uint32_t i = 0; i < others->known.count; i++) {
		struct label labels[LABELS_MAX];
		struct process_facts facts;
		struct known *known;

		if (others->known.items[i].labels == ID_NONE)
			continue;
		if (read_one(services, dictionary->processes.items[i].pid, &facts) == 0) {
			(void)services_meet(services, dictionary, i); /* stacks stay as they are */
			continue;
		}
		known = slot(services, i);
		if (known)
			known->labels = label_sets_add(&services->sets, &services->strings, labels,
						       services_labels(others, i, labels));
	}
}

size_t services_labels(const struct services *services, uint32_t process, struct label *ret)
{
	if (process >= services->known.count || services->known.items[process].labels == ID_NONE)
		return 0;
	return label_sets_get(&services->sets, &services->strings,
			      services->known.items[process].labels, ret);
}

void services_add_samples(struct services *services, uint32_t process, uint64_t samples)
{
	uint32_t name =
		process < services->known.count ? services->known.items[process].service : 0;

	while (services->samples.count <= name)
		if (vec_push(&services->samples, 0) < 0)
			return;
	services->samples.items[name] += samples;
}

/* The most sampled service that is not kept yet; 0: none. */
static uint32_t largest(const struct services *services)
{
	uint32_t found = 0;
	uint64_t most = 0;

	for (uint32_t i = 1; i < services->samples.count; i++)
		if (services->samples.items[i] > most && !services->kept.items[i]) {
			found = i;
			most = services->samples.items[i];
		}
	return found;
}

void services_restart(struct services *services, uint32_t most)
{
	uint32_t name;

	services->known.count = 0;
	services->bare = 0;
	services->keeps_some = most != UINT32_MAX;
	services->kept.count = 0;
	while (services->kept.count < services->samples.count)
		if (vec_push(&services->kept, false) < 0)
			return;
	while (services->keeps_some && most-- > 0 && (name = largest(services)) != 0)
		services->kept.items[name] = true;
	services->samples.count = 0;
}

bool services_has(const struct services *services, const char *name)
{
	for (size_t i = 0; i < services->names.entries.count; i++)
		if (strcmp(services->names.entries.items[i].text, name) == 0)
			return true;
	return false;
}

size_t services_count(const struct services *services)
{
	return services->names.entries.count - 1; /* without the empty string */
}
