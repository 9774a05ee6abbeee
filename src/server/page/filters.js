// SPDX-License-Identifier: BSD-2-Clause
// Filters by label, as chips. Names and values come from the server.
import { askList } from './api.js';
import { fill, make, makeButton, makeSelect } from './dom.js';
import { showProblem } from './problem.js';
import { readConditions, whereText } from './selector.js';

/**
 * @typedef {import('./selector.js').Condition} Condition
 * @typedef {import('./marks.js').Part} Part
 */

// Every profile has these: the service is what is looked at, and the type has a choice of its own.
const HIDDEN = ['service', 'type', 'service_name'];
// As `wick report --by language` tells them apart.
const LANGUAGES = ['c', 'c++', 'rust', 'go', 'python', 'ruby', 'javascript', 'assembly', 'kernel'];

/** @type {Record<string, string>} */
const COMPARES = { '=': '=', '!=': '≠', '=~': 'matches', '!~': 'does not match' };

/**
 * @param {Condition} condition
 * @param {(() => void)} remove
 */
function makeChip(condition, remove) {
	const text = `${condition.label} ${COMPARES[condition.compare]} ${condition.value}`;
	return make('span', { class: 'chip' }, make('span', { text, title: text }), makeButton('×', remove, { 'aria-label': 'remove the filter ' + text }));
}

/**
 * The choice of a value for a label.
 * @param {Element} host
 * @param {string} label
 * @param {Part} part
 * @param {(condition: Condition) => void} add
 */
async function chooseValue(host, label, part, add) {
	const values = await askList('/api/labels', 'values', { ...part, name: label }, new AbortController().signal);
	let compare = '=';
	const how = makeSelect([['=', 'is'], ['!=', 'is not']], '=', (value) => { compare = value; }, { 'aria-label': 'how to compare' });
	const which = makeSelect([['', `choose ${label}…`], .../** @type {[string, string][]} */ (values.map((item) => [item.name, item.name || '(none)']))], '',
		(value) => add({ label, compare, value }), { 'aria-label': 'value of ' + label });
	fill(host, how, which);
	which.focus();
}

/**
 * @param {Part} part
 * @param {(condition: Condition) => void} add
 */
function makeAdder(part, add) {
	const host = make('span', { class: 'adder' });
	const fail = (/** @type {unknown} */ problem) => showProblem(host, problem);
	const chooseLabel = async () => {
		const labels = (await askList('/api/labels', 'labels', part, new AbortController().signal)).map((item) => item.name).filter((name) => !HIDDEN.includes(name));
		const select = makeSelect([['', labels.length ? 'choose a label…' : 'no labels'], .../** @type {[string, string][]} */ (labels.map((name) => [name, name]))], '',
			(label) => void chooseValue(host, label, part, add).catch(fail), { 'aria-label': 'label to filter by' });
		fill(host, select);
		select.focus();
	};
	fill(host, makeButton('+ Filter', () => void chooseLabel().catch(fail), { title: 'only samples with a label: host, release, process …' }));
	return host;
}

/**
 * @param {string} where
 * @param {Part} part
 * @param {(where: string) => void} act
 */
export function makeFilters(where, part, act) {
	const conditions = readConditions(where);
	if (conditions === null)
		return make('div', { class: 'filters' }, make('span', { class: 'chip' }, make('span', { text: where }), makeButton('×', () => act(''), { 'aria-label': 'remove the filter' })));
	return make('div', { class: 'filters', role: 'group', 'aria-label': 'filters' },
		...conditions.map((condition, i) => makeChip(condition, () => act(whereText(conditions.filter((_, k) => k !== i))))),
		makeAdder(part, (condition) => act(whereText([...conditions, condition]))));
}

/**
 * @param {string} language
 * @param {(language: string) => void} act
 */
export function makeLanguages(language, act) {
	const known = LANGUAGES.includes(language) || !language ? LANGUAGES : [language, ...LANGUAGES];
	return makeSelect([['', 'All languages'], .../** @type {[string, string][]} */ (known.map((name) => [name, name]))], language, act,
		{ 'aria-label': 'only stacks with a call in this language' });
}
