// SPDX-License-Identifier: BSD-2-Clause
// Selectors: which samples a query is about. `where` of an address is the inside of the braces.

/** @typedef {{ label: string, compare: string, value: string }} Condition */

const CONDITION = /^\s*([A-Za-z_][\w.]*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)/;

/** @param {string} value */
function quoted(value) {
	return '"' + value.replace(/[\\"]/g, '\\$&') + '"';
}

/**
 * @param {string} service
 * @param {string} where
 */
export function selectorOf(service, where) {
	if (/^[A-Za-z][\w.-]*$/.test(service))
		return where ? `${service}{${where}}` : service; // this is also the title of the graph
	const conditions = [service && 'service=' + quoted(service), where].filter((part) => part);
	return conditions.length ? '{' + conditions.join(', ') + '}' : '';
}

/** @param {Condition} condition */
export function conditionText({ label, compare, value }) {
	return label + compare + quoted(value);
}

/**
 * The conditions of `where`; null if this page cannot read it, which the server may all the same.
 * @param {string} where
 * @returns {Condition[] | null}
 */
export function readConditions(where) {
	const conditions = [];
	let rest = where.trim();
	while (rest) {
		const found = CONDITION.exec(rest);
		if (!found)
			return null;
		conditions.push({ label: found[1] || '', compare: found[2] || '', value: (found[3] || '').replace(/\\(.)/g, '$1') });
		rest = rest.slice(found[0].length).trim();
	}
	return conditions;
}

/** @param {Condition[]} conditions */
export function whereText(conditions) {
	return conditions.map(conditionText).join(', ');
}
