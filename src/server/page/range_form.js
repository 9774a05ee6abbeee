// SPDX-License-Identifier: BSD-2-Clause
// The choice of a time range: the last hours, or two times.
import { make, makeButton } from './dom.js';
import { shownTime, writtenTime } from './times.js';

/** @type {[from: string, text: string, tells: string][]} */
const PRESETS = [['-15m', '15 min', 'the last 15 minutes'], ['-1h', '1 h', 'the last hour'], ['-6h', '6 h', 'the last 6 hours'],
	['-1d', '1 d', 'the last day'], ['-7d', '7 d', 'the last 7 days']];

/**
 * @param {string} from
 * @param {string} to
 * @param {(from: string, to: string) => void} act
 * @param {boolean} hasPresets A recording has no "last hour".
 * @param {string} [whose] For screen readers, where there are two ranges.
 */
export function makeRangeForm(from, to, act, hasPresets, whose = '') {
	const inputs = [from, to].map((text, i) => make('input', { type: 'text', class: 'time', value: shownTime(text), spellcheck: 'false', autocomplete: 'off',
		'aria-label': (i === 0 ? 'from' : 'to') + whose, title: '-15m, now, 14:05, 2026-11-16 14:05 or seconds since 1970' }));
	const [first, last] = /** @type {[HTMLInputElement, HTMLInputElement]} */ (inputs);
	const form = make('form', {
		class: 'range', onsubmit: (event) => {
			event.preventDefault();
			act(writtenTime(first.value) || '-1h', writtenTime(last.value) || 'now');
		},
	}, first, make('span', { text: '–', 'aria-hidden': 'true' }), last, make('button', { type: 'submit', text: 'Show' }));
	const presets = make('div', { class: 'presets', role: 'group', 'aria-label': 'time range' + whose },
		...PRESETS.map(([value, text, tells]) => makeButton(text, () => act(value, 'now'), { title: tells, 'aria-pressed': from === value && to === 'now' ? 'true' : 'false' })));
	return make('div', { class: 'ranges' }, hasPresets && presets, form);
}
