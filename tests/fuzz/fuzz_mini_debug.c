/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds .gnu_debugdata with whatever comes: the input is the section. What is no xz
 * stream is put into one, so that the file in it is reached.
 */

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>

#include "base/scope.h"
#include "elf/elf.h"
#include "symbol/elf_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADERS 3
#define NAMES "\0.gnu_debugdata\0.shstrtab"
#define MAX_INPUT_BYTES (1u << 20)

/* A file with the section and nothing else; returns its size. */
static size_t build(uint8_t *image, const uint8_t *data, size_t size)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_AARCH64,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = HEADERS,
		.e_shstrndx = 2,
	};
	size_t names_at = sizeof(header) + HEADERS * sizeof(Elf64_Shdr);
	Elf64_Shdr sections[HEADERS] = {
		{0},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_offset = names_at + sizeof(NAMES),
		 .sh_size = size},
		{.sh_name = 16,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = names_at,
		 .sh_size = sizeof(NAMES)},
	};

	memcpy(image, &header, sizeof(header));
	memcpy(image + sizeof(header), sections, sizeof(sections));
	memcpy(image + names_at, NAMES, sizeof(NAMES));
	if (size)
		memcpy(image + names_at + sizeof(NAMES), data, size);
	return names_at + sizeof(NAMES) + size;
}

static void read_image(const uint8_t *data, size_t size)
{
	SCOPED(mem) uint8_t *image = malloc(size + 4096);
	struct elf_symbols *symbols = NULL;
	struct elf_file *elf = NULL;

	if (!image || elf_open_memory(image, build(image, data, size), "image", &elf, NULL) < 0)
		abort();
	if (elf_symbols_read(elf, &symbols, NULL) == 0)
		elf_symbols_free(symbols);
	elf_close(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
	SCOPED(mem) uint8_t *packed = malloc(lzma_stream_buffer_bound(MAX_INPUT_BYTES));
	size_t used = 0;

	if (!packed || size > MAX_INPUT_BYTES)
		return 0;
	if (size >= sizeof(magic) && memcmp(data, magic, sizeof(magic)) == 0) {
		read_image(data, size);
	} else if (lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, data, size, packed, &used,
					   lzma_stream_buffer_bound(MAX_INPUT_BYTES)) == LZMA_OK) {
		read_image(packed, used);
	}
	return 0;
}
