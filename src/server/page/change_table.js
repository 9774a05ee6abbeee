// SPDX-License-Identifier: BSD-2-Clause
// What changed between two profiles, in the words of `wick diff`.
import { make, makeButton } from './dom.js';
import { changeText, countText, pointsText, quantity, relativeText } from './quantity.js';

/**
 * @typedef {{ before: number, after: number, before_percent: number, after_percent: number, change_points: number, change_percent: number | null, confidence: number }} Change
 * @typedef {{ name: string, module: string, file: string, state: string, self: Change, total: Change }} Row
 * @typedef {{ name: string, unit: string, before: number, after: number, change_percent: number | null, confidence: number | null }} Whole
 * @typedef {{ samples: number, total: number, title: string }} Side
 * @typedef {{ before: Side, after: Side, value: { name: string, unit: string }, totals: Whole[], compares: string, exact: boolean, rows: Row[], more: number }} Diff
 */

// Percent, as in `wick diff`: below the first a change may be noise, from the second on it has a colour.
const NOISE = 95, SURE = 99;
const ROWS_FIRST = 8;

/**
 * @param {number | null} confidence
 * @param {boolean} exact
 */
function sureText(confidence, exact) {
	if (confidence === null || confidence <= 0)
		return '-';
	if (exact)
		return 'exact';
	return confidence > 99.9 ? '>99.9%' : confidence.toFixed(1) + '%';
}

/** @param {Change} change @param {boolean} exact */
function isSure(change, exact) {
	return exact ? change.before !== change.after : change.confidence >= SURE;
}

/** @param {Row} row @param {Diff} diff */
function isChanged(row, diff) {
	return [row.self, row.total].some((change) => diff.exact ? change.before !== change.after : change.confidence >= NOISE);
}

/** @param {Change} change @param {Diff} diff */
function changeCells(change, diff) {
	const isAmount = diff.compares === 'amounts', unit = diff.value.unit;
	const kind = !isSure(change, diff.exact) ? 'number soft' : change.after_percent > change.before_percent || (isAmount && change.after > change.before) ? 'number more' : 'number less';
	const side = (/** @type {number} */ value, /** @type {number} */ percent) => isAmount ? quantity(value, unit) : percent.toFixed(1) + '%';
	const relative = isAmount ? relativeText(change.before, change.after) : relativeText(change.before_percent, change.after_percent);
	return [make('td', { class: 'number wide-only', text: side(change.before, change.before_percent) }), make('td', { class: 'number wide-only', text: side(change.after, change.after_percent) }),
		make('td', { class: kind, text: isAmount ? changeText(change.after - change.before, unit) : pointsText(change.change_points / 100) }),
		make('td', { class: 'number wide-only', text: relative }), make('td', { class: 'number', text: sureText(change.confidence, diff.exact) })];
}

/** @param {Row} row @param {Diff} diff */
function rowOf(row, diff) {
	const where = row.module || row.file;
	return make('tr', { class: isChanged(row, diff) ? '' : 'noise' }, make('th', { scope: 'row', class: 'function', title: where ? `${row.name} (${where})` : row.name, text: row.name || '[unnamed]' }),
		...changeCells(row.self, diff), ...changeCells(row.total, diff));
}

/** @param {Diff} diff */
function headings(diff) {
	const columns = ['before', 'after', 'change', 'relative', 'sure'];
	const heads = columns.map((text) => ({ text, class: text === 'change' || text === 'sure' ? 'number' : 'number wide-only' }));
	return [make('tr', { class: 'wide-only' }, make('td', {}), make('th', { scope: 'colgroup', colspan: 5, class: 'group', text: 'self' }), make('th', { scope: 'colgroup', colspan: 5, class: 'group', text: 'total' })),
		make('tr', {}, make('th', { scope: 'col', text: diff.compares === 'amounts' ? 'amounts' : 'shares of the total' }),
			...['self', 'total'].flatMap((group) => heads.map((head) => make('th', { scope: 'col', 'data-group': group, ...head }))))];
}

/** @param {Whole} whole @param {boolean} exact */
function wholeWords(whole, exact) {
	const name = { cpu: 'CPU time', duration: 'wall time', wall: "threads' time" }[whole.name] || whole.name;
	const sure = whole.confidence === null ? '' : `, sure: ${sureText(whole.confidence, exact)}`;
	return `${name} ${quantity(whole.before, whole.unit)} → ${quantity(whole.after, whole.unit)} (${relativeText(whole.before, whole.after)}${sure})`;
}

/** @param {number} count */
function noiseWords(count, exact = false) {
	const functions = `${countText(count)} function${count === 1 ? '' : 's'}`;
	return exact ? `${functions} did not change` : `${functions} changed by no more than noise (below ${NOISE}% confidence)`;
}

/**
 * @param {Diff} diff
 * @returns {string} Which side has nothing to compare; '': none.
 */
function emptySide(diff) {
	const empty = [diff.before, diff.after].map((side) => side.total === 0);
	return empty[0] && empty[1] ? 'Neither side has samples' : empty[0] ? 'Before has no samples' : empty[1] ? 'After has no samples' : '';
}

/**
 * @param {Diff} diff
 */
export function makeChangeTable(diff) {
	const empty = emptySide(diff);
	if (empty)
		return make('section', { class: 'changeset', 'aria-label': 'changes' }, make('p', { class: 'verdict', text: empty + ', so there is nothing to compare' }),
			make('p', { class: 'soft', text: 'Choose another time, or remove a filter.' }));
	const sure = diff.rows.filter((row) => isChanged(row, diff)), noise = diff.rows.length - sure.length;
	const body = make('tbody', {}), note = make('p', { class: 'soft' });
	const table = make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'functions that changed' }, make('table', { class: 'list changes', 'aria-label': 'functions that changed' }, make('thead', {}, ...headings(diff)), body));
	/** @param {boolean} all */
	const show = (all) => {
		const rows = all ? diff.rows : sure.slice(0, ROWS_FIRST);
		body.replaceChildren(...rows.map((row) => rowOf(row, diff)));
		const left = sure.length - Math.min(sure.length, ROWS_FIRST);
		const words = [left > 0 && !all ? `${left} more function${left === 1 ? '' : 's'} changed` : '', noise > 0 ? noiseWords(noise, diff.exact) : ''].filter((part) => part).join('; ');
		note.replaceChildren(words + ' ', ...(rows.length < diff.rows.length || all ? [makeButton(all ? 'Show fewer' : 'Show all', () => show(!all))] : []));
		table.hidden = rows.length === 0;
	};
	show(false);
	return make('section', { class: 'changeset', 'aria-label': 'changes' },
		make('p', { class: 'verdict', text: sure.length ? `${countText(sure.length)} function${sure.length === 1 ? '' : 's'} changed significantly` : 'no function changed significantly' }),
		make('p', { class: 'soft', text: diff.totals.map((whole) => wholeWords(whole, diff.exact)).join('; ') + `; ${countText(diff.before.samples)} → ${countText(diff.after.samples)} samples` }),
		table, note);
}
