// SPDX-License-Identifier: BSD-2-Clause
// The services: how much each costs now and since yesterday. A few requests answer for all services.
import { addressText, changed, param } from './address.js';
import { askList } from './api.js';
import { fill, make, makeSelect, say } from './dom.js';
import { showProblem } from './problem.js';
import { quantity, relativeText } from './quantity.js';
import { go } from './router.js';
import { isFiles, now_s } from './session.js';
import { drawSparkline } from './sparkline.js';
import { agoText, timeText } from './times.js';
import { cpusText } from './units.js';

/**
 * @typedef {import('./api.js').Item} Item
 * @typedef {import('./address.js').Address} Address
 * @typedef {{ name: string, from: number, to: number, cpus: number, hour: number, yesterday: number, points: number[] }} Service
 */

const DAY_S = 86400, HOUR_S = 3600, NOW_S = 600;
const CHANGE_LEAST = 0.05; // a relative change that gets a colour

/** @type {[key: string, title: string, order: (a: Service, b: Service) => number][]} */
const ORDERS = [
	['cpu', 'CPU now', (a, b) => b.cpus - a.cpus || b.hour - a.hour],
	['change', 'largest change', (a, b) => Math.abs(changeOf(b)) - Math.abs(changeOf(a))],
	['name', 'name', (a, b) => a.name.localeCompare(b.name)],
	['seen', 'last seen', (a, b) => b.to - a.to],
];

/** @param {Service} service */
function changeOf(service) {
	return service.yesterday > 0 ? service.hour / service.yesterday - 1 : 0;
}

/**
 * @param {Item[]} items
 * @returns {Map<string, Service>}
 */
function servicesOf(items) {
	return new Map(items.map((item) => [item.name, { name: item.name, from: item.from, to: item.to, cpus: 0, hour: 0, yesterday: 0, points: [] }]));
}

/**
 * @param {Map<string, Service>} services
 * @param {number} end_s
 * @param {Item[]} points
 */
function addPoints(services, end_s, points) {
	const first_s = Math.floor((end_s - DAY_S) / HOUR_S) * HOUR_S, count = DAY_S / HOUR_S + 1;
	for (const item of points) {
		const service = services.get(item.name), at = Math.floor((item.from - first_s) / HOUR_S);
		if (!service || at < 0 || at >= count)
			continue;
		if (service.points.length === 0)
			service.points = new Array(count).fill(0);
		service.points[at] = (service.points[at] || 0) + item.value;
	}
}

/**
 * Adds what the other requests answered.
 * @param {Map<string, Service>} services
 * @param {number} end_s
 * @param {Item[][]} answers
 */
function addNumbers(services, end_s, [recent = [], hour = [], yesterday = [], points = []]) {
	for (const service of services.values()) {
		const valueIn = (/** @type {Item[]} */ items) => (items.find((item) => item.name === service.name) || { value: 0 }).value;
		service.cpus = valueIn(recent) / 1e9 / NOW_S;
		service.hour = valueIn(hour);
		service.yesterday = valueIn(yesterday);
	}
	addPoints(services, end_s, points);
}

/** @param {Service} service */
function hrefOf(service) {
	const params = new URLSearchParams(isFiles() ? { from: String(service.from), to: String(service.to + 1) } : {});
	return addressText({ view: 'service', name: service.name, params });
}

/** @param {Service} service */
function changeCell(service) {
	const change = changeOf(service);
	const kind = Math.abs(change) < CHANGE_LEAST ? 'number' : change > 0 ? 'number more' : 'number less';
	const text = service.yesterday > 0 || service.hour > 0 ? relativeText(service.yesterday, service.hour) : '-';
	const tells = `last hour ${quantity(service.hour, 'nanoseconds')}, the same hour yesterday ${quantity(service.yesterday, 'nanoseconds')}`;
	return make('td', { class: kind, title: tells, text });
}

/** @param {Service} service */
function storeCells(service) {
	const canvas = make('canvas', { class: 'spark', role: 'img', 'aria-label': service.points.length ? 'CPU over the last day' : 'no CPU samples in the last day' });
	drawSparkline(canvas, service.points);
	return [make('td', { class: 'sparkcell' }, canvas), make('td', { class: 'number', text: cpusText(service.cpus) }), changeCell(service),
		make('td', { class: 'number soft wide-only', text: agoText(service.to) })];
}

/** @param {Service} service */
function rowOf(service) {
	return make('tr', {}, make('th', { scope: 'row' }, make('a', { href: hrefOf(service), text: service.name || '(no name)' })),
		...(isFiles() ? [make('td', { class: 'number soft', text: timeText(service.from) })] : storeCells(service)));
}

function headings() {
	const names = isFiles() ? ['Recording', 'Recorded at'] : ['Service', 'Last day', 'CPU now', 'Vs. yesterday', 'Last samples'];
	return make('tr', {}, ...names.map((text, i) => make('th', { scope: 'col', text, class: i === 4 ? 'number wide-only' : i === 0 || text === 'Last day' ? '' : 'number' })));
}

function emptyWords() {
	return make('div', { class: 'empty' }, make('h2', { text: 'No service has sent samples in the last day' }),
		make('p', { text: 'Start an agent on each host that you want to watch:' }),
		make('pre', { text: `wick agent --server ${location.origin}` }),
		make('p', { text: 'The first service appears here after a minute. Programs that push Pyroscope or OpenTelemetry profiles need no agent.' }));
}

/**
 * @param {Element} list
 * @param {Service[]} services
 * @param {Address} address
 */
function showList(list, services, address) {
	const text = param(address, 'search').toLowerCase();
	const order = ORDERS.find(([key]) => key === param(address, 'sort', 'cpu')) || ORDERS[0];
	const found = services.filter((service) => service.name.toLowerCase().includes(text));
	if (order)
		found.sort((a, b) => order[2](a, b) || a.name.localeCompare(b.name));
	if (services.length === 0) {
		fill(list, emptyWords());
		return;
	}
	const kind = isFiles() ? 'recording' : 'service';
	say(`${found.length} of ${services.length} ${kind}s`);
	fill(list, found.length ? make('table', { class: 'list', 'aria-label': kind + 's' }, make('thead', {}, headings()), make('tbody', {}, ...found.map(rowOf)))
		: make('p', { class: 'empty', text: `No ${kind} name contains this.` }));
}

/** @param {AbortSignal} signal */
async function loadServices(signal) {
	const end_s = now_s(), cpu = { type: 'cpu' };
	const day_s = Math.floor((end_s - DAY_S) / HOUR_S) * HOUR_S; // whole hours are faster
	const from = isFiles() ? 0 : day_s;
	const list = askList('/api/services', 'services', { from, to: end_s }, signal);
	const numbers = isFiles() ? Promise.resolve([]) : Promise.all([
		askList('/api/services', 'services', { ...cpu, from: end_s - NOW_S, to: end_s }, signal),
		askList('/api/services', 'services', { ...cpu, from: end_s - HOUR_S, to: end_s }, signal),
		askList('/api/services', 'services', { ...cpu, from: end_s - DAY_S - HOUR_S, to: end_s - DAY_S }, signal),
		askList('/api/series', 'points', { ...cpu, from: day_s, to: end_s, step: HOUR_S, by: 'service' }, signal)]);
	numbers.catch(() => {}); // awaited below, unless the list fails first
	return { services: servicesOf(await list), numbers, end_s };
}

/**
 * @param {HTMLElement} host
 * @param {Address} first
 */
export function showServices(host, first) {
	const stop = new AbortController(), list = make('div', { class: 'scroll', 'aria-busy': 'true' });
	/** @type {Service[]} */
	let services = [];
	let address = first;
	const again = () => go(address, false);
	const search = make('input', { type: 'search', placeholder: 'Search', 'aria-label': 'search names', value: param(address, 'search'),
		oninput: () => refine({ search: search.value }) });
	const sort = makeSelect(ORDERS.map(([key, text]) => [key, 'By ' + text]), param(address, 'sort', 'cpu'), (value) => refine({ sort: value }), { 'aria-label': 'sort by' });
	/** @param {Record<string, string>} changes */
	const refine = (changes) => {
		address = changed(address, changes);
		history.replaceState(null, '', addressText(address));
		showList(list, services, address);
	};
	fill(host, make('div', { class: 'head' }, make('h1', { text: isFiles() ? 'Recordings' : 'Services' }), make('div', { class: 'tools' }, search, !isFiles() && sort)), list);
	fill(list, make('p', { class: 'empty', text: 'Loading…' }));
	(async () => {
		const loaded = await loadServices(stop.signal);
		services = [...loaded.services.values()];
		showList(list, services, address);
		addNumbers(loaded.services, loaded.end_s, await loaded.numbers);
		showList(list, services, address);
		list.removeAttribute('aria-busy');
	})().catch((problem) => showProblem(list, problem, again));
	return { close: () => stop.abort(), redraw: () => showList(list, services, address) };
}
