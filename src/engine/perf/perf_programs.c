/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_programs.h"

int perf_programs_attach(struct perf_programs *programs, int event_fd, struct error *err)
{
	return programs->ops->attach(programs, event_fd, err);
}

int perf_programs_set_output(struct perf_programs *programs, int cpu, int event_fd,
			     struct error *err)
{
	return programs->ops->set_output(programs, cpu, event_fd, err);
}

int perf_programs_arm(struct perf_programs *programs, const struct perf_programs_host *host,
		      const struct engine_config *config, const struct target *target,
		      struct error *err)
{
	return programs->ops->arm(programs, host, config, target, err);
}

int perf_programs_start(struct perf_programs *programs, uint64_t now_ns, struct error *err)
{
	return programs->ops->start(programs, now_ns, err);
}

int perf_programs_take(struct perf_programs *programs, struct sample_record *sample,
		       struct perf_following *following, struct error *err)
{
	return programs->ops->take(programs, sample, following, err);
}

bool perf_programs_read_chain(struct perf_programs *programs, struct tracked_process *process,
			      struct sample_record *sample)
{
	return programs->ops->read_chain(programs, process, sample);
}

int perf_programs_flush(struct perf_programs *programs, uint64_t until_ns, struct error *err)
{
	return programs->ops->flush ? programs->ops->flush(programs, until_ns, err) : 0;
}

int perf_programs_bell_fd(struct perf_programs *programs)
{
	return programs->ops->bell_fd ? programs->ops->bell_fd(programs) : -1;
}

bool perf_programs_take_bell(struct perf_programs *programs)
{
	return programs->ops->take_bell && programs->ops->take_bell(programs);
}

bool perf_programs_drained(struct perf_programs *programs)
{
	return programs->ops->drained(programs);
}

uint64_t perf_programs_count_lost_stacks(struct perf_programs *programs, uint64_t lost)
{
	return programs->ops->count_lost_stacks ? programs->ops->count_lost_stacks(programs, lost)
						: 0;
}

void perf_programs_set_share(struct perf_programs *programs, double share)
{
	programs->ops->set_share(programs, share);
}

int perf_programs_rate_changed(struct perf_programs *programs, uint64_t now_ns, struct error *err)
{
	return programs->ops->rate_changed ? programs->ops->rate_changed(programs, now_ns, err) : 0;
}

void perf_programs_forget_stacks(struct perf_programs *programs)
{
	if (programs->ops->forget_stacks)
		programs->ops->forget_stacks(programs);
}

void perf_programs_count(struct perf_programs *programs, struct perf_programs_counts *ret,
			 struct engine_stats *stats)
{
	programs->ops->count(programs, ret, stats);
}

void perf_programs_stop(struct perf_programs *programs)
{
	if (programs->ops->stop)
		programs->ops->stop(programs);
}

int perf_programs_finish(struct perf_programs *programs, uint64_t now_ns, struct error *err)
{
	return programs->ops->finish ? programs->ops->finish(programs, now_ns, err) : 0;
}

void perf_programs_close(struct perf_programs *programs)
{
	if (programs)
		programs->ops->close(programs);
}
