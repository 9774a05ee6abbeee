// SPDX-License-Identifier: BSD-2-Clause
// Two ranges, releases, hosts or labels compared: what changed and how sure that is, and the graphs.
import { addressText, changed, param } from './address.js';
import { ask, askList } from './api.js';
import { makeChangeTable } from './change_table.js';
import { fill, labelled, make, makeButton, makeSelect } from './dom.js';
import { makeFilters, makeLanguages } from './filters.js';
import { FlameFrame } from './flame_frame.js';
import { showProblem } from './problem.js';
import { makeRangeForm } from './range_form.js';
import { go, note } from './router.js';
import { selectorOf } from './selector.js';
import { has, isFiles } from './session.js';
import { DIFF_FORMATS, makeShare } from './share.js';
import { readTime } from './times.js';
import { typeName } from './units.js';

/**
 * @typedef {import('./address.js').Address} Address
 * @typedef {{ where: string, from: string, to: string }} Side
 */

/**
 * The two sides of an address: what one leaves out is as in the other.
 * @param {Address} address
 * @returns {[before: Side, after: Side]}
 */
function sidesOf(address) {
	const before = { where: param(address, 'where'), from: param(address, 'from', '-1h'), to: param(address, 'to', 'now') };
	return [before, { where: address.params.has('diff_where') ? param(address, 'diff_where').replace(/^\*$/, '') : before.where,
		from: param(address, 'diff_from', before.from), to: param(address, 'diff_to', before.to) }];
}

/** @param {Address} address */
function releasesOf(address) {
	const before = param(address, 'release_before'), after = param(address, 'release_after');
	return before && after ? { before, after } : null;
}

/** @param {Address} address */
function otherOf(address) {
	return param(address, 'other', address.name); // another service, or recording, to compare with
}

/** @param {Address} address */
function parametersOf(address) {
	const [before, after] = sidesOf(address), releases = releasesOf(address);
	const common = { type: param(address, 'type', 'cpu'), absolute: param(address, 'absolute'), language: param(address, 'language') };
	if (releases)
		return { ...common, query: selectorOf(address.name, before.where), release_before: releases.before, release_after: releases.after,
			from: param(address, 'from'), to: param(address, 'to') };
	return { ...common, query: selectorOf(address.name, before.where), from: before.from, to: before.to,
		diff_query: selectorOf(otherOf(address), after.where), diff_from: after.from, diff_to: after.to };
}

class CompareView {
	/**
	 * @param {HTMLElement} host
	 * @param {Address} address
	 */
	constructor(host, address) {
		this.address = address;
		this.stop = new AbortController();
		this.flame = new FlameFrame(`flame graphs of ${address.name}, before and after`, (state, isStep) => this.keepState(state, isStep));
		this.changes = make('div', { class: 'changehost', 'aria-busy': 'true' }, make('p', { class: 'empty', text: 'Comparing…' }));
		this.sides = make('div', { class: 'sides' });
		const parameters = parametersOf(address), isAbsolute = Boolean(param(address, 'absolute'));
		fill(host, make('div', { class: 'head' },
			make('h1', {}, make('a', { href: addressText(this.service()), text: address.name }), ' compared'),
			make('div', { class: 'tools' }, makeButton('Shares', () => this.change({ absolute: '' }), { 'aria-pressed': String(!isAbsolute), title: 'compare shares of the total' }),
				makeButton('Amounts', () => this.change({ absolute: '1' }), { 'aria-pressed': String(isAbsolute), title: 'compare amounts' }),
				makeButton('Swap', () => this.swap(), { title: 'exchange before and after', disabled: Boolean(releasesOf(address)) }),
				makeShare(address.name + '-compared', { path: '/api/diff', parameters, formats: DIFF_FORMATS }))), this.sides, this.changes, this.flame.element);
		this.showSides();
		const state = param(address, 'flame');
		this.flame.load('/api/diff', parameters, state ? '#' + state : '');
		ask('/api/diff', { ...parameters, format: 'json', limit: 500 }, this.stop.signal).then((diff) => {
			this.changes.removeAttribute('aria-busy');
			fill(this.changes, makeChangeTable(diff));
		}).catch((problem) => {
			showProblem(this.changes, problem, () => go(this.address, false));
			this.flame.showInstead(make('span', {}));
		});
	}

	service() {
		const after = sidesOf(this.address)[1];
		const range = releasesOf(this.address) ? {} : { from: after.from, to: after.to };
		return changed({ ...this.address, params: new URLSearchParams() }, { type: param(this.address, 'type'), where: after.where, ...range }, 'service');
	}

	/** @param {Record<string, string>} changes */
	change(changes) {
		go(changed(this.address, { ...changes, flame: '' }));
	}

	swap() {
		const [before, after] = sidesOf(this.address);
		this.change({ from: after.from, to: after.to, where: after.where, diff_from: before.from, diff_to: before.to, diff_where: before.where || '*' });
	}

	/**
	 * One side's time and filters.
	 * @param {Side} side
	 * @param {'before' | 'after'} which
	 */
	makeSide(side, which) {
		const isAfter = which === 'after', name = isAfter ? otherOf(this.address) : this.address.name;
		const act = (/** @type {string} */ from, /** @type {string} */ to) => this.change({ ...this.freeze(), ...(isAfter ? { diff_from: from, diff_to: to } : { from, to }) });
		const filters = makeFilters(side.where, { query: selectorOf(name, ''), from: side.from, to: side.to },
			(where) => this.change({ ...this.freeze(), ...(isAfter ? { diff_where: where || '*' } : { where }) }));
		return make('fieldset', { class: 'side ' + which }, make('legend', { text: isAfter ? 'After' : 'Before' }),
			isFiles() ? make('span', { text: name }) : makeRangeForm(side.from, side.to, act, false, ' (' + which + ')'), filters);
	}

	// Both sides written out: a change of one must not change the other.
	freeze() {
		const [before, after] = sidesOf(this.address);
		return { release_before: '', release_after: '', from: before.from, to: before.to, where: before.where, diff_from: after.from, diff_to: after.to, diff_where: after.where || '*' };
	}

	makeReleases(/** @type {{ before: string, after: string }} */ { before, after }) {
		return make('p', { class: 'releases' }, 'Release ', make('strong', { text: before }), ' in the hour before ', make('strong', { text: after }),
			' appeared, and release ', make('strong', { text: after }), ' in the hour after. ',
			makeButton('Choose times instead', () => this.change({ release_before: '', release_after: '' })));
	}

	showSides() {
		const releases = releasesOf(this.address), [before, after] = sidesOf(this.address);
		const choices = make('div', { class: 'choices' }, ...(isFiles() || releases ? [] : this.makeShortcuts(after)));
		fill(this.sides, releases ? this.makeReleases(releases) : null, !releases && this.makeSide(before, 'before'), !releases && this.makeSide(after, 'after'), choices);
		if (isFiles())
			this.addRecordings(choices).catch(() => {});
		else if (has('releases'))
			this.addReleases(choices).catch(() => {});
		choices.prepend(this.makeTypes(), makeLanguages(param(this.address, 'language'), (language) => this.change({ language })));
	}

	makeTypes() {
		const type = param(this.address, 'type', 'cpu'), after = sidesOf(this.address)[1], host = make('span', {});
		const show = (/** @type {string[]} */ names) => fill(host, makeSelect((names.includes(type) ? names : [type, ...names]).map((name) => [name, typeName(name)]), type,
			(value) => this.change({ type: value }), { 'aria-label': 'type of profile' }));
		const range = releasesOf(this.address) ? { from: '-30d', to: 'now' } : { from: after.from, to: after.to };
		show([type]);
		askList('/api/types', 'types', { query: selectorOf(otherOf(this.address), ''), ...range }, this.stop.signal)
			.then((items) => show(items.map((item) => item.name))).catch(() => {}); // the choice stays as it is
		return host;
	}

	/** @param {Side} after */
	makeShortcuts(after) {
		const from = readTime(after.from), to = readTime(after.to);
		if (!Number.isFinite(from) || !Number.isFinite(to))
			return [];
		const against = (/** @type {number} */ by) => this.change({ ...this.freeze(), from: String(from - by), to: String(to - by), diff_from: String(from), diff_to: String(to) });
		return [make('span', { text: 'Before is' }), makeButton('the time just before', () => against(to - from)), makeButton('a day earlier', () => against(86400)),
			makeButton('a week earlier', () => against(604800))];
	}

	/** @param {Element} choices */
	async addReleases(choices) {
		const items = (await askList('/api/releases', 'releases', { query: selectorOf(this.address.name, ''), from: '-30d', to: 'now' }, this.stop.signal))
			.filter((item) => item.name !== '').sort((a, b) => b.from - a.from);
		if (items.length < 2)
			return;
		const chosen = releasesOf(this.address) || { before: '', after: '' };
		const pick = (/** @type {'before' | 'after'} */ which) => makeSelect([['', '–'], .../** @type {[string, string][]} */ (items.map((item) => [item.name, item.name]))], chosen[which], (value) => {
			chosen[which] = value;
			if (chosen.before && chosen.after)
				this.change({ release_before: chosen.before, release_after: chosen.after, from: '', to: '', diff_from: '', diff_to: '' });
		});
		choices.append(labelled('Release before', pick('before')), labelled('Release after', pick('after')));
	}

	/** @param {Element} choices */
	async addRecordings(choices) {
		const items = await askList('/api/services', 'services', { from: 0, to: 'now' }, this.stop.signal);
		const choose = (/** @type {string} */ value, /** @type {boolean} */ isStep) => {
			const range = (/** @type {string} */ name) => items.filter((item) => item.name === name).map((item) => [String(item.from), String(item.to + 1)])[0] || [];
			const [from, to] = range(this.address.name), [diff_from, diff_to] = range(value);
			go(changed(this.address, { other: value, from, to, diff_from, diff_to, flame: '' }), isStep);
		};
		const second = items.find((item) => item.name !== this.address.name);
		if (!this.address.params.has('other') && second)
			choose(second.name, false); // nobody compares a recording with itself
		else
			choices.append(labelled('After', makeSelect(items.map((item) => [item.name, item.name]), otherOf(this.address), (value) => choose(value, true))));
	}

	/**
	 * @param {string} state
	 * @param {boolean} isStep
	 */
	keepState(state, isStep) {
		this.address = changed(this.address, { flame: state });
		note(this.address, isStep);
	}

	/** @param {Address} address */
	follow(address) {
		this.address = address;
		this.flame.restore(param(address, 'flame'));
	}

	redraw() {
		this.flame.sendTheme();
	}

	close() {
		this.stop.abort();
		this.flame.close();
	}
}

/**
 * @param {HTMLElement} host
 * @param {Address} address
 */
export function showCompare(host, address) {
	return new CompareView(host, address);
}
