/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/dictionary_sink.h"

#include <errno.h>

#include "model/dictionary.h"

static int answer(uint32_t id, uint32_t *ret_id)
{
	if (id == ID_NONE)
		return -ENOMEM;
	*ret_id = id;
	return 0;
}

int dictionary_sink_module(void *self, const struct module *module, uint32_t *ret_id)
{
	return answer(dictionary_module(self, module), ret_id);
}

int dictionary_sink_process(void *self, const struct process *process, uint32_t *ret_id)
{
	return answer(dictionary_process(self, process), ret_id);
}

int dictionary_sink_thread(void *self, const struct thread *thread, uint32_t *ret_id)
{
	return answer(dictionary_thread(self, thread), ret_id);
}

int dictionary_sink_place(void *self, const struct place *place, uint32_t *ret_id)
{
	return answer(dictionary_place(self, place), ret_id);
}

int dictionary_sink_stack(void *self, const struct frame *frames, size_t n, uint32_t *ret_id)
{
	return answer(dictionary_stack(self, frames, n), ret_id);
}

int dictionary_sink_labels(void *self, const struct label *labels, size_t n, uint32_t *ret_id)
{
	return n > LABELS_MAX ? -E2BIG : answer(dictionary_labels(self, labels, n), ret_id);
}
