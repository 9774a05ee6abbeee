// SPDX-License-Identifier: BSD-2-Clause
// What happened to a service: gaps, bursts, releases.
import { ask, askList, Problem } from './api.js';
import { has } from './session.js';
import { clockText, lengthText, rangeText, timeText } from './times.js';

/**
 * @typedef {import('./api.js').Item} Item
 * @typedef {{ from: number, to: number, host: string, text: string }} Span
 * @typedef {{ name: string, at: number, before: string }} Release
 * @typedef {{ gaps: Span[], bursts: Span[], releases: Release[] }} Marks
 * @typedef {{ query: string, from: string | number, to: string | number }} Part
 */

/** @param {Item} gap */
function gapSpan(gap) {
	const where = gap.detail ? ' on ' + gap.detail : '';
	return { from: gap.from, to: gap.to, host: gap.detail || '', text: `gap${where}: ${gap.name || 'no reason given'}, ${rangeText(gap.from, gap.to)}` };
}

/**
 * Releases that appear within the range, each with the one that ran before it.
 * @param {Item[]} items
 * @param {number} from_s
 */
function releasesOf(items, from_s) {
	const named = items.filter((item) => item.name !== '').sort((a, b) => a.from - b.from);
	const first_s = named[0] ? named[0].from : 0;
	return named.map((item, i) => {
		const earlier = named.slice(0, i).sort((a, b) => b.to - a.to)[0];
		return { name: item.name, at: item.from, before: earlier ? earlier.name : '' };
	}).filter((release) => release.before !== '' && release.at > Math.max(from_s, first_s));
}

/**
 * @param {string} service
 * @param {AbortSignal} signal
 * @returns {Promise<Span[]>}
 */
async function loadBursts(service, signal) {
	if (!has('burst'))
		return [];
	try {
		const answer = await ask('/api/bursts', {}, signal);
		return answer.bursts.filter((/** @type {any} */ burst) => burst.service === service && burst.started).map((/** @type {any} */ burst) => ({
			from: burst.started, to: burst.started + burst.seconds, host: '',
			text: `burst: ${burst.rate} Hz for ${lengthText(burst.seconds)} at ${clockText(burst.started)}${burst.by ? ', requested by ' + burst.by : ''}`,
		}));
	} catch (problem) {
		if (problem instanceof Problem && (problem.status === 403 || problem.status === 404))
			return []; // this token may not see them
		throw problem;
	}
}

/**
 * @param {string} service
 * @param {Part} part
 * @param {AbortSignal} signal
 * @returns {Promise<Marks>}
 */
export async function loadMarks(service, part, signal) {
	const [gaps, bursts, releases] = await Promise.all([
		askList('/api/gaps', 'gaps', part, signal), loadBursts(service, signal),
		has('releases') ? askList('/api/releases', 'releases', part, signal) : Promise.resolve([])]);
	return { gaps: gaps.map(gapSpan), bursts, releases: releasesOf(releases, 0) };
}

/** @param {Release} release */
export function releaseText(release) {
	return `release ${release.name} first seen ${timeText(release.at)}, after ${release.before}`;
}
