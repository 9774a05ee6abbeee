// SPDX-License-Identifier: BSD-2-Clause
// The heat strip: what a service cost over time. Dragging over it, or arrow keys, select a part.
import { fill, make, makeButton } from './dom.js';
import { releaseText } from './marks.js';
import { CHART, paintStrip, ROW, scaleOf } from './strip_paint.js';
import { hideTip, showTip } from './tip.js';
import { lengthText, rangeText } from './times.js';
import { rateText } from './units.js';

/**
 * @typedef {import('./strip_paint.js').Picture} Picture
 * @typedef {import('./marks.js').Release} Release
 * @typedef {{ from: number, to: number }} Range
 * @typedef {{ select: (part: Range | null) => void, compare: (release: Release) => void }} Acts
 */

const CLICK = 4;       // pixels that a finger may move in a click
const FLAG = 76;       // pixels that the name of a release needs
const LABELS_LEAST = 640; // pixels of a strip that has room for names of hosts

export class Strip {
	/**
	 * @param {Acts} acts
	 * @param {import('./units.js').Type} type
	 */
	constructor(acts, type) {
		this.acts = acts;
		this.type = type;
		/** @type {Picture | null} */
		this.picture = null;
		/** @type {number | null} */
		this.anchor = null;
		this.canvas = make('canvas', { tabindex: 0, role: 'slider', 'aria-label': 'selected part of the time: arrow keys move it, with Shift they make it longer or shorter, Escape removes it' });
		this.flags = make('div', { class: 'flags' });
		this.names = make('div', { class: 'hosts', 'aria-hidden': 'true' });
		this.plot = make('div', { class: 'plot' }, this.flags, this.canvas);
		this.events = make('details', { class: 'events' });
		this.element = make('section', { class: 'strip', 'aria-label': 'cost over time' }, make('div', { class: 'lines' }, this.names, this.plot), this.events);
		this.listen();
	}

	listen() {
		this.sizes = new ResizeObserver(() => this.draw());
		this.sizes.observe(this.plot);
		this.canvas.addEventListener('pointerdown', (event) => this.press(event));
		this.canvas.addEventListener('pointermove', (event) => this.move(event));
		this.canvas.addEventListener('pointerup', (event) => this.release(event));
		this.canvas.addEventListener('pointercancel', () => { this.anchor = null; });
		this.canvas.addEventListener('pointerleave', hideTip);
		this.canvas.addEventListener('keydown', (event) => this.key(event));
	}

	close() {
		if (this.sizes)
			this.sizes.disconnect();
	}

	/** @param {Picture} picture */
	show(picture) {
		this.picture = picture;
		this.showEvents();
		this.draw();
	}

	/** @param {Range | null} part */
	setPart(part) {
		if (!this.picture)
			return;
		this.picture.part = part;
		this.draw();
	}

	draw() {
		const picture = this.picture;
		if (!picture)
			return;
		const isRoomy = this.element.clientWidth >= LABELS_LEAST && picture.rows.length > 0;
		this.names.hidden = !isRoomy;
		fill(this.names, make('span', { class: 'spacer' }), ...picture.rows.map((row) => make('span', { text: row.name || '(no host)', title: row.name })));
		const width = Math.max(100, Math.floor(this.plot.clientWidth));
		paintStrip(this.canvas, picture, width);
		this.showFlags(picture, width);
		this.describe(picture);
	}

	/**
	 * @param {Picture} picture
	 * @param {number} width
	 */
	showFlags(picture, width) {
		const { x } = scaleOf(picture, width);
		let free = -Infinity; // where the next name has room
		this.flags.hidden = picture.marks.releases.length === 0;
		fill(this.flags, ...picture.marks.releases.map((release) => {
			const at = Math.min(x(release.at), width - FLAG), isNamed = at >= free;
			free = isNamed ? at + FLAG : free;
			const flag = makeButton(isNamed ? '▾ ' + release.name : '▾', () => this.acts.compare(release), { class: isNamed ? 'flag' : 'flag bare',
				title: releaseText(release) + ': compare before and after', 'aria-label': `compare before and after release ${release.name}` });
			flag.style.left = (isNamed ? at : x(release.at)) + 'px';
			return flag;
		}));
	}

	/** @param {Picture} picture */
	describe(picture) {
		const part = picture.part || picture;
		this.canvas.setAttribute('aria-valuemin', String(picture.from));
		this.canvas.setAttribute('aria-valuemax', String(picture.to));
		this.canvas.setAttribute('aria-valuenow', String(part.from));
		this.canvas.setAttribute('aria-valuetext', picture.part ? `${rangeText(part.from, part.to)}, ${lengthText(part.to - part.from)}` : 'everything is selected');
	}

	showEvents() {
		const marks = this.picture ? this.picture.marks : { gaps: [], bursts: [], releases: [] };
		/** @type {[number, string][]} */
		const counts = [[marks.gaps.length, 'gap'], [marks.bursts.length, 'burst'], [marks.releases.length, 'release']];
		const words = counts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}${count === 1 ? '' : 's'}`);
		this.events.hidden = words.length === 0;
		fill(this.events, make('summary', { text: words.join(', ') }), make('ul', {},
			...marks.releases.map((release) => make('li', {}, releaseText(release) + ' ',
				makeButton('Before / after', () => this.acts.compare(release), { 'aria-label': `compare before and after release ${release.name}` }))),
			...marks.bursts.map((burst) => make('li', { text: burst.text })),
			...marks.gaps.slice(0, 200).map((gap) => make('li', { text: gap.text }))));
	}

	/**
	 * The range between two times, in whole steps.
	 * @param {number} a
	 * @param {number} b
	 * @returns {Range}
	 */
	snapped(a, b) {
		const picture = /** @type {Picture} */ (this.picture), step = picture.step;
		const from = picture.first + Math.floor((Math.min(a, b) - picture.first) / step) * step;
		const to = picture.first + Math.ceil((Math.max(a, b) - picture.first) / step) * step;
		return { from: Math.max(picture.from, from), to: Math.min(picture.to, Math.max(to, from + step)) };
	}

	/** @param {PointerEvent} event */
	press(event) {
		if (event.button !== 0 || !this.picture)
			return;
		this.anchor = event.offsetX;
		this.before = this.picture.part;
		this.canvas.setPointerCapture(event.pointerId);
	}

	/** @param {PointerEvent} event */
	move(event) {
		if (!this.picture)
			return;
		if (this.anchor === null) {
			this.tell(event);
			return;
		}
		if (Math.abs(event.offsetX - this.anchor) >= CLICK) {
			const { time } = scaleOf(this.picture, this.canvas.clientWidth);
			this.setPart(this.snapped(time(this.anchor), time(event.offsetX)));
			const part = /** @type {Range} */ (this.picture.part);
			showTip([rangeText(part.from, part.to), lengthText(part.to - part.from)], event.clientX, event.clientY);
		}
	}

	/** @param {PointerEvent} event */
	release(event) {
		if (this.anchor === null || !this.picture)
			return;
		const isClick = Math.abs(event.offsetX - this.anchor) < CLICK;
		this.anchor = null;
		hideTip();
		if (!isClick)
			this.acts.select(this.picture.part);
		else if (this.before)
			this.acts.select(null);
	}

	/** @param {PointerEvent} event */
	tell(event) {
		const picture = /** @type {Picture} */ (this.picture), { time } = scaleOf(picture, this.canvas.clientWidth);
		const at = time(event.offsetX), i = Math.min(picture.total.length - 1, Math.floor((at - picture.first) / picture.step));
		const row = picture.rows[Math.floor((event.offsetY - CHART) / ROW)];
		const values = event.offsetY >= CHART && row ? row.values : picture.total, from = picture.first + i * picture.step;
		const near = (picture.to - picture.from) / this.canvas.clientWidth * 3;
		const happened = [...picture.marks.gaps, ...picture.marks.bursts].filter((span) => span.from - near <= at && at <= span.to + near && (!row || event.offsetY < CHART || !span.host || span.host === row.name));
		showTip([event.offsetY >= CHART && row ? row.name || '(no host)' : rangeText(from, from + picture.step),
			rateText(values[i] || 0, picture.step, this.type), ...(event.offsetY >= CHART && row ? [rangeText(from, from + picture.step)] : []),
			...happened.slice(0, 4).map((span) => span.text),
			...picture.marks.releases.filter((release) => Math.abs(release.at - at) <= near).map(releaseText)], event.clientX, event.clientY);
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		const picture = this.picture, step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
		if (!picture || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === 'Escape' && picture.part) {
			this.acts.select(null);
		} else if (step) {
			event.preventDefault();
			this.acts.select(this.stepped(picture, step * picture.step, event.shiftKey));
		}
	}

	/**
	 * The selected part after a key: moved, or longer or shorter.
	 * @param {Picture} picture
	 * @param {number} by
	 * @param {boolean} isLength
	 * @returns {Range}
	 */
	stepped(picture, by, isLength) {
		const { from, to, step } = picture;
		if (!picture.part)
			return by > 0 ? this.snapped(from, from + 10 * step) : this.snapped(to - 10 * step, to - 1);
		if (isLength)
			return { from: picture.part.from, to: Math.min(to, Math.max(picture.part.from + step, picture.part.to + by)) };
		const length = picture.part.to - picture.part.from, left = Math.max(from, Math.min(to - length, picture.part.from + by));
		return { from: left, to: left + length };
	}
}

