// SPDX-License-Identifier: BSD-2-Clause
// The agents: the rate each was asked for and achieved, and its health.
import { ask } from './api.js';
import { makeBursts } from './bursts.js';
import { fill, make } from './dom.js';
import { showProblem } from './problem.js';
import { countText, quantity } from './quantity.js';
import { go } from './router.js';
import { agoText, lengthText } from './times.js';

/**
 * @typedef {Record<string, any> & { host: string, health: string }} Agent
 * @typedef {import('./address.js').Address} Address
 */

const AGAIN_MS = 15000;

/** @type {Record<string, string>} */
const WHY = {
	ok: 'sends its windows as it should', late: 'has sent nothing for three windows', refused: 'its last window was refused',
	clock: 'its clock is off by more than 5 s', slow: 'achieved less than half of the rate that was asked for',
};

/** @param {Agent} agent */
function healthWords(agent) {
	const why = agent['breaker'] === 'open' && agent.health === 'slow' ? 'sampling is paused: the host is busier than --breaker allows' : WHY[agent.health] || agent.health;
	return agent.health === 'refused' && agent['problem'] ? `${why}: ${agent['problem']}` : agent.health === 'clock' ? `${why} (${agent['clock_offset_s']} s)` : why;
}

/**
 * @param {unknown} value
 * @param {(value: number) => string} text
 */
function known(value, text) {
	return typeof value === 'number' ? text(value) : '-';
}

/** @param {Agent} agent */
function spoolText(agent) {
	if (typeof agent['spool_windows'] !== 'number')
		return '-';
	return agent['spool_windows'] === 0 ? 'empty' : `${countText(agent['spool_windows'])} windows, ${quantity(agent['spool_bytes'] || 0, 'bytes')}`;
}

const percent = (/** @type {number} */ value) => value.toFixed(value < 9.95 ? 2 : 1) + '%';
const hertz = (/** @type {number} */ value) => Number(value.toFixed(1)) + ' Hz';

/** @type {[title: string, text: (agent: Agent) => string, isWarning?: (agent: Agent) => boolean][]} */
const COLUMNS = [
	['Rate requested', (agent) => known(agent['rate_asked'], hertz)],
	['Rate achieved', (agent) => known(agent['rate_achieved'], hertz), (agent) => agent['rate_achieved'] < agent['rate_asked'] / 2],
	['CPU / budget', (agent) => known(agent['cpu_percent'], percent) + (agent['budget_percent'] > 0 ? ' of ' + percent(agent['budget_percent']) : ''),
		(agent) => agent['budget_percent'] > 0 && agent['cpu_percent'] > agent['budget_percent']],
	['Breaker', (agent) => agent['breaker'] || '-', (agent) => agent['breaker'] === 'open'],
	['Memory', (agent) => known(agent['memory_bytes'], (value) => quantity(value, 'bytes')) + (agent['memory_limit_bytes'] ? ' of ' + quantity(agent['memory_limit_bytes'], 'bytes') : ''),
		(agent) => agent['memory_limit_bytes'] > 0 && agent['memory_bytes'] > agent['memory_limit_bytes']],
	['Waiting to be sent', spoolText, (agent) => agent['spool_windows'] > 3],
	['Window', (agent) => known(agent['window_s'], lengthText)],
	['Gaps', (agent) => known(agent['gaps'], countText) + (agent['last_gap'] ? ', last: ' + agent['last_gap'] : '')],
	['Version', (agent) => agent['version'] || agent['client'] || '-'],
	['Last push', (agent) => agoText(agent['seen'])],
];

/** @param {Agent} agent */
function rowOf(agent) {
	return make('tr', {}, make('th', { scope: 'row', text: agent.host || '(no name)' }),
		make('td', {}, make('span', { class: 'health ' + (agent.health === 'ok' ? 'ok' : 'bad'), text: agent.health }), make('span', { class: 'why', text: healthWords(agent) })),
		...COLUMNS.map(([title, text, isWarning]) => make('td', { 'data-title': title, class: isWarning && isWarning(agent) ? 'warning' : '', text: text(agent) })));
}

/** @param {Agent[]} agents */
function makeTable(agents) {
	if (agents.length === 0)
		return make('div', { class: 'empty' }, make('h2', { text: 'No agent has pushed since the server started' }),
			make('pre', { text: `wick agent --server ${location.origin}` }));
	const sorted = agents.slice().sort((a, b) => Number(a.health === 'ok') - Number(b.health === 'ok') || a.host.localeCompare(b.host));
	return make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'agents' }, make('table', { class: 'list agents', 'aria-label': 'agents' },
		make('thead', {}, make('tr', {}, ...['Host', 'Health', ...COLUMNS.map(([title]) => title)].map((text) => make('th', { scope: 'col', text })))),
		make('tbody', {}, ...sorted.map(rowOf))));
}

/** @param {Agent[]} agents */
function summaryOf(agents) {
	if (agents.length === 0)
		return '';
	const bad = agents.filter((agent) => agent.health !== 'ok').length;
	return `${countText(agents.length)} agent${agents.length === 1 ? '' : 's'}${bad ? `, ${countText(bad)} need${bad === 1 ? 's' : ''} attention` : ', all healthy'}`;
}

/**
 * @param {HTMLElement} host
 * @param {Address} address
 */
export function showAgents(host, address) {
	const stop = new AbortController(), table = make('div', {}), summary = make('p', { class: 'summary', role: 'status' });
	let timer = 0;
	const bursts = makeBursts(stop.signal);
	fill(host, make('div', { class: 'head' }, make('h1', { text: 'Agents' }), summary), table, bursts);
	const load = async () => {
		if (!document.hidden) {
			const { agents } = await ask('/api/agents', {}, stop.signal);
			const text = summaryOf(agents);
			if (summary.textContent !== text) // screen readers hear changes only
				summary.textContent = text;
			fill(table, makeTable(agents));
		}
		timer = window.setTimeout(attempt, AGAIN_MS);
	};
	const attempt = () => void load().catch((problem) => showProblem(table, problem, () => go(address, false)));
	attempt();
	return {
		close: () => {
			stop.abort();
			clearTimeout(timer);
		},
	};
}
