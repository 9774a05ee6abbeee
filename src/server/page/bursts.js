// SPDX-License-Identifier: BSD-2-Clause
// Bursts, which sample a service faster for a short time: the form, the limits, and earlier requests.
import { ask, askList, post, Problem } from './api.js';
import { fill, labelled, make } from './dom.js';
import { showProblem } from './problem.js';
import { currentSession, has } from './session.js';
import { agoText, lengthText, timeText } from './times.js';

/**
 * @typedef {{ hosts: number, interval_s: number, rate_max: number, seconds_max: number }} Limits
 * @typedef {{ id: string, service: string, rate: number, seconds: number, hosts: number, asked: number, by: string, started: number }} Burst
 */

/** @param {Limits} limits */
function limitWords(limits) {
	return `At most ${limits.rate_max} Hz for ${lengthText(limits.seconds_max)}, on at most ${limits.hosts} hosts at once, and one burst of a service every ${lengthText(limits.interval_s)}.` +
		' Agents start with their next push. A burst may cost more CPU than their budget.';
}

/** @param {Burst[]} bursts */
function makeHistory(bursts) {
	if (bursts.length === 0)
		return make('p', { class: 'soft', text: 'No burst has been requested since the server started.' });
	const rows = bursts.slice().sort((a, b) => b.asked - a.asked).map((burst) => make('tr', {}, make('th', { scope: 'row', text: burst.service }),
		...[`${burst.rate} Hz`, lengthText(burst.seconds), String(burst.hosts), `${timeText(burst.asked)} (${agoText(burst.asked)})`, burst.by || '-',
			burst.started ? 'started ' + timeText(burst.started) : 'waits for the next push'].map((text) => make('td', { text }))));
	return make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'bursts' }, make('table', { class: 'list', 'aria-label': 'bursts' }, make('thead', {}, make('tr', {},
		...['Service', 'Rate', 'Length', 'Hosts', 'Requested', 'By', 'State'].map((text) => make('th', { scope: 'col', text })))), make('tbody', {}, ...rows)));
}

/**
 * @param {string[]} services
 * @param {Limits} limits
 * @param {() => void} done
 */
function makeForm(services, limits, done) {
	const number = (/** @type {number} */ value, /** @type {number} */ most) => make('input', { type: 'number', min: 1, max: most, value: Math.min(value, most), required: true });
	const service = make('input', { type: 'text', list: 'burst-services', required: true, autocomplete: 'off' });
	const rate = number(1000, limits.rate_max), seconds = number(60, limits.seconds_max), hosts = number(5, limits.hosts);
	const told = make('div', { role: 'status' }), button = make('button', { type: 'submit', class: 'primary', text: 'Start burst' });
	return make('form', {
		class: 'burst', onsubmit: (event) => {
			event.preventDefault();
			button.disabled = true;
			post('/api/burst', { service: service.value, rate: Number(rate.value), seconds: Number(seconds.value), hosts: Number(hosts.value) }).then(() => {
				fill(told, 'Requested: the agents start with their next push.');
				done();
			}).catch((problem) => showProblem(told, problem)).finally(() => { button.disabled = false; });
		},
	}, labelled('Service', service), make('datalist', { id: 'burst-services' }, ...services.map((value) => make('option', { value }))), labelled('Rate (Hz)', rate),
	labelled('Seconds', seconds), labelled('Hosts', hosts), button, told);
}

/** @param {AbortSignal} signal */
export function makeBursts(signal) {
	const form = make('div', {}), limits = make('p', { class: 'soft' }), history = make('div', {});
	const section = make('section', { class: 'bursts', 'aria-labelledby': 'bursts' }, make('h2', { id: 'bursts', text: 'Bursts' }), limits, form, history);
	let isMade = false;
	const load = async () => {
		const [answer, services] = await Promise.all([ask('/api/bursts', {}, signal), isMade ? [] : askList('/api/services', 'services', { from: '-1d' }, signal)]);
		limits.textContent = limitWords(answer.limits);
		fill(history, makeHistory(answer.bursts));
		if (isMade)
			return;
		isMade = true;
		if (currentSession().access === 'admin')
			form.append(makeForm(services.map((item) => item.name), answer.limits, attempt));
		else
			form.append(make('p', { class: 'soft', text: 'Starting one needs an admin token.' }));
	};
	const attempt = () => void load().catch((problem) => {
		if (problem instanceof Problem && (problem.status === 404 || problem.status === 403))
			section.hidden = true; // this server, or this token, has none
		else
			showProblem(history, problem, attempt);
	});
	section.hidden = !has('burst');
	if (has('burst'))
		attempt();
	return section;
}
