// SPDX-License-Identifier: BSD-2-Clause
// The tooltip of canvases.
import { byId, fill, make } from './dom.js';

/**
 * @param {string[]} lines The first one is a title; none hides the tooltip.
 * @param {number} x
 * @param {number} y
 */
export function showTip(lines, x, y) {
	const tip = byId('tip');
	tip.hidden = lines.length === 0;
	fill(tip, ...lines.map((text, i) => make('div', { class: i === 0 ? 'name' : 'more', text })));
	const wide = tip.offsetWidth, high = tip.offsetHeight;
	tip.style.left = Math.max(4, Math.min(x + 14, window.innerWidth - wide - 6)) + 'px';
	tip.style.top = (y + 22 + high > window.innerHeight ? y - high - 12 : y + 22) + 'px';
}

export function hideTip() {
	byId('tip').hidden = true;
}
