/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_WELL_FORMED_H
#define WICK_TESTS_WELL_FORMED_H

/*
 * well_formed: whether a text is well-formed XML of the kind wick writes:
 * elements, attributes in double quotes, the five entities, CDATA. Strict: what
 * it does not know is wrong.
 */

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

struct xml {
	const char *at;
	const char *open[64]; /* names of the open elements */
	size_t length[64];
	int depth;
};

static inline bool xml_fail(const struct xml *xml, const char *why)
{
	(void)fprintf(stderr, "not well-formed, %s: %.60s\n", why, xml->at);
	return false;
}

static inline size_t xml_name(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '-' || text[n] == ':')
		n++;
	return n;
}

/* Characters and entities up to an end mark. */
static inline bool xml_text(struct xml *xml, char end)
{
	static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};

	while (*xml->at && *xml->at != end) {
		uint32_t c;
		unsigned int n = text_decode_utf8(xml->at, &c);
		size_t i;

		if (c == '<' || (c < 0x20 && c != '\n' && c != '\t') || (c == 0xfffd && n == 1) ||
		    c == 0xfffe || c == 0xffff)
			return xml_fail(xml, "character");
		for (i = 0; c == '&' && n == 1; i++) {
			if (i == sizeof(entities) / sizeof(*entities))
				return xml_fail(xml, "entity");
			if (strncmp(xml->at, entities[i], strlen(entities[i])) == 0)
				n = (unsigned int)strlen(entities[i]);
		}
		xml->at += n;
	}
	return true;
}

static inline bool xml_tag(struct xml *xml)
{
	const char *name = ++xml->at;
	size_t n = xml_name(name);

	if (*name == '/') {
		n = xml_name(++name);
		xml->at = name + n + 1;
		return (xml->depth-- > 0 && xml->length[xml->depth] == n &&
			strncmp(xml->open[xml->depth], name, n) == 0 && name[n] == '>') ||
		       xml_fail(xml, "end tag");
	}
	xml->at += n;
	while (*xml->at == ' ' || *xml->at == '\n') {
		size_t attribute = xml_name(++xml->at);

		xml->at += attribute;
		if (attribute == 0 || strncmp(xml->at, "=\"", 2) != 0)
			return xml_fail(xml, "attribute");
		xml->at += 2;
		if (!xml_text(xml, '"') || *xml->at++ != '"')
			return xml_fail(xml, "attribute value");
	}
	if (strncmp(xml->at, "/>", 2) == 0) {
		xml->at += 2;
		return true;
	}
	if (n == 0 || *xml->at++ != '>' || xml->depth == 64)
		return xml_fail(xml, "tag");
	xml->open[xml->depth] = name;
	xml->length[xml->depth++] = n;
	return true;
}

static inline bool is_well_formed(const char *text)
{
	struct xml xml = {.at = text};

	if (strncmp(xml.at, "<?xml ", 6) == 0)
		xml.at = strstr(xml.at, "?>") + 3;
	while (*xml.at) {
		if (strncmp(xml.at, "<![CDATA[", 9) == 0) {
			const char *end = strstr(xml.at, "]]>");

			if (!end)
				return xml_fail(&xml, "CDATA");
			xml.at = end + 3;
		} else if (*xml.at == '<' ? !xml_tag(&xml) : !xml_text(&xml, '<')) {
			return false;
		}
	}
	return xml.depth == 0 || xml_fail(&xml, "unclosed element");
}

#endif
