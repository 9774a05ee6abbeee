// SPDX-License-Identifier: BSD-2-Clause
// One service: what it costs over time, and the flame graph of the selected time.
import { addressText, changed, param } from './address.js';
import { ask, askList, Problem } from './api.js';
import { fill, make, makeButton, makeSelect, say } from './dom.js';
import { makeFilters, makeLanguages } from './filters.js';
import { FlameFrame } from './flame_frame.js';
import { loadMarks } from './marks.js';
import { showProblem } from './problem.js';
import { makeRangeForm } from './range_form.js';
import { go, note } from './router.js';
import { selectorOf } from './selector.js';
import { has, isFiles } from './session.js';
import { makeShare, PROFILE_FORMATS } from './share.js';
import { Strip } from './strip.js';
import { lengthText, rangeText, readTime, timeText } from './times.js';
import { rateText, typeName } from './units.js';

/**
 * @typedef {import('./address.js').Address} Address
 * @typedef {import('./api.js').Item} Item
 * @typedef {import('./strip.js').Range} Range
 * @typedef {import('./strip_paint.js').Picture} Picture
 */

const ROWS_MOST = 6;    // more hosts than these are one
const STEPS_MOST = 120; // bars of the strip
const WINDOW_S = 60;    // agents send one a minute: shorter steps would have holes
const HOUR_S = 3600;

/** @param {Address} address */
function partOf(address) {
	const found = /^(\d+)-(\d+)$/.exec(param(address, 'part'));
	return found && Number(found[1]) < Number(found[2]) ? { from: Number(found[1]), to: Number(found[2]) } : null;
}

/** @param {Address} address */
function questionOf(address) {
	return { query: selectorOf(address.name, param(address, 'where')), type: param(address, 'type', 'cpu'), from: param(address, 'from', '-1h'), to: param(address, 'to', 'now') };
}

/** @param {{ from: string, to: string }} range */
function stepOf({ from, to }) {
	const length = readTime(to) - readTime(from);
	if (!Number.isFinite(length) || length <= 0)
		return undefined;
	const least = isFiles() ? 1 : length < 20 * WINDOW_S ? 10 : WINDOW_S;
	return Math.max(least, Math.ceil(length / STEPS_MOST / least) * least);
}

/**
 * Points of the server as rows of numbers, the most expensive hosts first.
 * @param {{ from: number, to: number, points: Item[] }} series
 * @param {number} step
 */
function rowsOf(series, step) {
	const first = Math.floor(series.from / step) * step; // steps of the server begin at multiples
	const count = Math.max(1, Math.ceil((series.to - first) / step));
	const total = new Array(count).fill(0);
	/** @type {Map<string, number[]>} */
	const hosts = new Map();
	for (const point of series.points) {
		const at = Math.min(count - 1, Math.max(0, Math.floor((point.from - first) / step)));
		const row = hosts.get(point.name) || new Array(count).fill(0);
		hosts.set(point.name, row);
		row[at] += point.value;
		total[at] += point.value;
	}
	const sum = (/** @type {number[]} */ values) => values.reduce((all, value) => all + value, 0);
	const rows = [...hosts].map(([name, values]) => ({ name, values })).sort((a, b) => sum(b.values) - sum(a.values));
	return { first, total, rows: rows.length <= ROWS_MOST && !(rows.length === 1 && rows[0] && rows[0].name === '') ? rows : [] };
}

class ServiceView {
	/**
	 * @param {HTMLElement} host
	 * @param {Address} address
	 */
	constructor(host, address) {
		this.address = address;
		this.question = questionOf(address);
		this.stop = new AbortController();
		this.type = { name: this.question.type, unit: this.question.type === 'cpu' || this.question.type === 'off-cpu' ? 'nanoseconds' : '' };
		this.flame = new FlameFrame('flame graph of ' + address.name, (state, isStep) => this.keepState(state, isStep));
		this.strip = new Strip({ select: (part) => this.select(part), compare: (release) => this.compareRelease(release) }, this.type);
		this.summary = make('p', { class: 'summary', role: 'status' });
		this.types = make('span', {});
		this.shares = make('span', {});
		this.parts = make('div', { class: 'parts' });
		this.stripHost = make('div', { class: 'striphost' }, this.strip.element);
		fill(host, this.makeHead(), this.makeBar(), this.stripHost, this.parts, this.flame.element);
		this.showPart();
		this.loadFlame();
		this.loadTypes().catch(() => {}); // the choice stays as it is
		this.loadStrip().catch((problem) => {
			showProblem(this.stripHost, problem, () => go(this.address, false));
			if (problem instanceof Problem)
				this.flame.showInstead(make('span', {})); // the graph has the same problem
		});
	}

	makeHead() {
		const toCompare = addressText(changed(this.address, { ...this.dayBefore(), flame: '', part: '' }, 'compare'));
		return make('div', { class: 'head' }, make('h1', { text: this.address.name, title: this.address.name }), this.summary,
			make('div', { class: 'tools' }, has('live') && make('a', { class: 'button', text: 'Live', href: addressText({ view: 'live', name: this.address.name,
				params: new URLSearchParams({ type: this.question.type, ...(param(this.address, 'where') ? { where: param(this.address, 'where') } : {}) }) }) }),
			make('a', { class: 'button', href: toCompare, text: 'Compare', title: 'with the same time a day before, or with anything else' }), this.shares));
	}

	makeBar() {
		const { from, to, type } = this.question;
		fill(this.types, makeSelect([[type, typeName(type)]], type, () => {}, { 'aria-label': 'type of profile' }));
		return make('div', { class: 'controls' }, this.types, makeRangeForm(from, to, (first, last) => this.change({ from: first, to: last, part: '' }), !isFiles()),
			makeLanguages(param(this.address, 'language'), (language) => this.change({ language })),
			makeFilters(param(this.address, 'where'), { query: selectorOf(this.address.name, ''), from, to }, (where) => this.change({ where })));
	}

	// Two ranges: the shown one, and the same a day earlier before it.
	dayBefore() {
		const part = partOf(this.address) || { from: readTime(this.question.from), to: readTime(this.question.to) };
		if (!Number.isFinite(part.from) || !Number.isFinite(part.to) || isFiles())
			return { diff_from: this.question.from, diff_to: this.question.to };
		return { from: String(part.from - 86400), to: String(part.to - 86400), diff_from: String(part.from), diff_to: String(part.to) };
	}

	/** @param {Record<string, string>} changes */
	change(changes) {
		go(changed(this.address, { ...changes, flame: '' }));
	}

	/** @param {Range | null} part */
	select(part) {
		this.address = changed(this.address, { part: part ? `${part.from}-${part.to}` : '' });
		note(this.address, true);
		this.strip.setPart(part);
		this.showPart();
		clearTimeout(this.waiting);
		this.waiting = window.setTimeout(() => this.loadFlame(), 150); // keys come in rows
	}

	showPart() {
		const part = partOf(this.address);
		fill(this.parts, ...(part ? [make('span', { text: `${rangeText(part.from, part.to)} (${lengthText(part.to - part.from)})` }),
			makeButton('Zoom in', () => this.change({ from: String(part.from), to: String(part.to), part: '' })),
			makeButton('Compare with the time before', () => this.compareBefore(part)), makeButton('Full range', () => this.select(null))]
			: [make('span', { class: 'soft', text: 'Drag over the strip to select a part of the time.' })]));
		if (part)
			say(`selected ${rangeText(part.from, part.to)}`);
	}

	/** @param {Range} part */
	compareBefore(part) {
		const length = part.to - part.from;
		go(changed(this.address, { from: String(part.from - length), to: String(part.from), diff_from: String(part.from), diff_to: String(part.to), part: '', flame: '' }, 'compare'));
	}

	/** @param {import('./marks.js').Release} release */
	compareRelease(release) {
		const times = release.before ? { release_before: release.before, release_after: release.name, from: '', to: '' }
			: { from: String(release.at - HOUR_S), to: String(release.at), diff_from: String(release.at), diff_to: String(release.at + HOUR_S) };
		go(changed(this.address, { ...times, part: '', flame: '' }, 'compare'));
	}

	// What is asked about the selected time.
	parameters() {
		const part = partOf(this.address);
		return { ...this.question, ...(part || {}), language: param(this.address, 'language') };
	}

	loadFlame() {
		const state = param(this.address, 'flame');
		this.flame.load('/api/profile', this.parameters(), state ? '#' + state : '');
		fill(this.shares, makeShare(this.address.name, { path: '/api/profile', parameters: this.parameters(), formats: PROFILE_FORMATS }));
	}

	async loadTypes() {
		const { query, from, to, type } = this.question;
		const items = await askList('/api/types', 'types', { query, from, to }, this.stop.signal);
		const known = items.map((item) => item.name);
		const found = items.find((item) => item.name === type);
		if (!found && items[0] && !this.address.params.has('type')) {
			go(changed(this.address, { type: items[0].name }), false); // it has no CPU samples
			return;
		}
		if (found && found.detail) {
			this.type.unit = found.detail;
			this.strip.draw();
		}
		fill(this.types, makeSelect((known.includes(type) ? known : [type, ...known]).map((name) => [name, typeName(name)]), type,
			(value) => this.change({ type: value }), { 'aria-label': 'type of profile' }));
	}

	async loadStrip() {
		const { query, type, from, to } = this.question, step = stepOf(this.question);
		const marks = loadMarks(this.address.name, { query, from, to }, this.stop.signal);
		marks.catch(() => {}); // awaited below
		const series = await ask('/api/series', { query, type, from, to, step, by: has('hosts') ? 'host' : undefined }, this.stop.signal);
		const step_s = step || Math.max(10, Math.floor((series.to - series.from) / 100));
		/** @type {Picture} */
		const picture = { from: series.from, to: series.to, step: step_s, ...rowsOf(series, step_s), marks: { gaps: [], bursts: [], releases: [] }, part: partOf(this.address) };
		this.strip.show(picture);
		this.showSummary(picture, series.points);
		picture.marks = await marks;
		this.strip.show(picture);
	}

	/**
	 * @param {Picture} picture
	 * @param {Item[]} points
	 */
	showSummary(picture, points) {
		const value = points.reduce((all, point) => all + point.value, 0), samples = points.reduce((all, point) => all + point.samples, 0);
		this.summary.textContent = `${rateText(value, picture.to - picture.from, this.type)}, ${samples.toLocaleString('en')} samples, ${rangeText(picture.from, picture.to)}`;
		if (points.length === 0) {
			const hint = make('p', { text: 'Choose a longer time, another type, or remove a filter.' });
			this.flame.showInstead(make('div', { class: 'empty' }, make('h2', { text: 'No samples in this time range' }), hint));
			this.showNewest(hint).catch(() => {}); // the hint stays as it is
		}
	}

	/**
	 * Where the newest samples of the service are, whatever the type and the filters.
	 * @param {Element} hint
	 */
	async showNewest(hint) {
		const items = await askList('/api/types', 'types', { query: selectorOf(this.address.name, ''), from: isFiles() ? 0 : '-30d', to: 'now' }, this.stop.signal);
		const newest = Math.max(0, ...items.map((item) => item.to));
		if (newest === 0) {
			fill(hint, isFiles() ? 'This recording has no samples.' : 'This service has sent no samples in the last 30 days. Check its name, and the agents.');
			return;
		}
		hint.append(` Its newest samples are from ${timeText(newest)}. `, makeButton(isFiles() ? 'Show them' : 'Show the hour before', () => this.change({ from: String(newest - HOUR_S), to: String(newest + WINDOW_S), part: '' })));
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
		this.strip.draw();
		this.flame.sendTheme();
	}

	close() {
		this.stop.abort();
		clearTimeout(this.waiting);
		this.strip.close();
		this.flame.close();
	}
}

/**
 * @param {HTMLElement} host
 * @param {Address} address
 */
export function showService(host, address) {
	return new ServiceView(host, address);
}
