// SPDX-License-Identifier: BSD-2-Clause
// The live view: the flame graph of the last seconds, which moves on every few seconds, or the comparison of
// them with a moment before. A moment is two times, so the page keeps nothing but numbers.
//
//	#/live/NAME?type=cpu&window=60&moment=1763301900-1763301960&compare=1&flame=…
import { addressText, changed, param } from './address.js';
import { request, urlOf } from './api.js';
import { fill, labelled, make, makeButton, makeSelect, say } from './dom.js';
import { FlameFrame } from './flame_frame.js';
import { LiveStream } from './live_stream.js';
import { go, note } from './router.js';
import { selectorOf } from './selector.js';
import { agoText, lengthText, rangeText, readTime, timeText, writtenTime } from './times.js';
import { typeName } from './units.js';

/**
 * @typedef {import('./address.js').Address} Address
 * @typedef {import('./live_stream.js').Step} Step
 * @typedef {{ from: number, to: number }} Moment
 */

const WINDOWS_S = [10, 30, 60, 120, 300, 600];
const WINDOW_S = 60;
const AGE_MS = 5000; // how often the age of the data is told again

/** @param {Address} address */
function windowOf(address) {
	const wanted = Number(param(address, 'window'));
	return wanted >= WINDOWS_S[0] && wanted <= WINDOWS_S[WINDOWS_S.length - 1] ? Math.floor(wanted) : WINDOW_S;
}

/**
 * @param {Address} address
 * @returns {Moment | null}
 */
function momentOf(address) {
	const found = /^(\d+)-(\d+)$/.exec(param(address, 'moment'));
	return found && Number(found[1]) < Number(found[2]) ? { from: Number(found[1]), to: Number(found[2]) } : null;
}

/** @param {unknown} problem */
function wordsOf(problem) {
	return problem instanceof Error ? problem.message : String(problem);
}

class LiveView {
	/**
	 * @param {HTMLElement} host
	 * @param {Address} address
	 */
	constructor(host, address) {
		this.address = address;
		this.window_s = windowOf(address);
		this.question = { query: selectorOf(address.name, param(address, 'where')), type: param(address, 'type', 'cpu'), language: param(address, 'language') };
		/** @type {Step | null} */
		this.step = null; // the last one that came
		/** @type {Step | null} */
		this.shown = null;
		this.loaded = ''; // what the frame was loaded from
		this.isPaused = this.isBusy = this.hasEnded = false;
		this.trouble = '';
		this.clock = 0;
		this.stop = new AbortController();
		this.flame = new FlameFrame('live flame graph of ' + address.name, (state, isStep) => this.keepState(state, isStep));
		this.hear = (/** @type {MessageEvent} */ event) => this.heard(event);
		window.addEventListener('message', this.hear);
		this.summary = make('p', { class: 'summary livestate' });
		this.tools = make('div', { class: 'tools' });
		this.moment = make('div', { class: 'controls moment' });
		this.makeMomentForm();
		fill(host, make('div', { class: 'head' }, make('h1', {}, make('a', { href: addressText(this.service()), text: address.name }), ' live'), this.summary, this.tools),
			this.moment, this.flame.element);
		this.showTools();
		this.showMoment();
		this.showSummary();
		this.stream = new LiveStream({ ...this.question, window: this.window_s }, {
			step: (step) => this.take(step), end: () => this.end(), lost: (problem) => this.lose(problem),
		});
	}

	service() {
		return changed({ ...this.address, params: new URLSearchParams() }, { type: param(this.address, 'type'), where: param(this.address, 'where') }, 'service');
	}

	// Controls

	showTools() {
		const windows = WINDOWS_S.includes(this.window_s) ? WINDOWS_S : [...WINDOWS_S, this.window_s].sort((a, b) => a - b);
		fill(this.tools, labelled('Last', makeSelect(windows.map((length) => [String(length), lengthText(length)]), String(this.window_s),
			(value) => go(changed(this.address, { window: value })), { 'aria-label': 'length of the window' })),
		makeButton(this.isPaused ? 'Resume' : 'Pause', () => this.pause(), { 'aria-pressed': String(this.isPaused), disabled: this.hasEnded }),
		makeButton('Freeze', () => this.freeze(), { title: 'remember this moment, to compare with it later', disabled: !this.shown }));
	}

	makeMomentForm() {
		const time = make('input', { type: 'text', class: 'time', spellcheck: 'false', autocomplete: 'off', 'aria-label': 'start of the moment to compare with',
			placeholder: '14:05', title: '-15m, 14:05, 2026-11-16 14:05 or seconds since 1970' });
		this.form = make('form', { class: 'range', onsubmit: (event) => {
			event.preventDefault();
			const from = readTime(writtenTime(time.value));
			if (Number.isFinite(from) && time.value.trim())
				this.choose({ from, to: from + this.window_s }, true);
			else
				time.focus();
		} }, time, make('button', { type: 'submit', text: 'Compare with this time' }));
	}

	isComparing() {
		return momentOf(this.address) !== null && param(this.address, 'compare') === '1';
	}

	showMoment() {
		const moment = momentOf(this.address), isComparing = this.isComparing();
		const begin = make('span', { class: 'soft', text: typeName(this.question.type) });
		if (!moment || !this.form) {
			fill(this.moment, begin, this.form);
			return;
		}
		fill(this.moment, begin, make('span', { class: 'chip' }, make('span', { text: 'moment ' + rangeText(moment.from, moment.to) }),
			makeButton('×', () => this.choose(null, false), { title: 'forget this moment', 'aria-label': 'forget this moment' })),
		isComparing ? makeButton('Stop comparing', () => this.choose(moment, false)) : makeButton('Compare with now', () => this.choose(moment, true), { class: 'primary' }),
		this.form);
	}

	pause() {
		this.isPaused = !this.isPaused;
		this.showTools();
		this.showSummary();
		say(this.isPaused ? 'paused' : 'running');
		if (!this.isPaused)
			this.show();
	}

	freeze() {
		if (this.shown)
			this.choose({ from: this.shown.from, to: this.shown.to }, false);
	}

	/**
	 * @param {Moment | null} moment
	 * @param {boolean} isComparing
	 */
	choose(moment, isComparing) {
		this.address = changed(this.address, { moment: moment ? `${moment.from}-${moment.to}` : '', compare: moment && isComparing ? '1' : '' });
		note(this.address, true);
		this.showMoment();
		if (moment)
			say((isComparing ? 'comparing with ' : 'remembered ') + rangeText(moment.from, moment.to));
		this.show();
	}

	// What the stream says

	/** @param {Step} step */
	take(step) {
		this.step = step;
		this.trouble = '';
		this.showSummary();
		if (!this.isPaused)
			this.show();
	}

	end() {
		this.hasEnded = true;
		this.showTools();
		this.showSummary();
		say('the recording has ended');
	}

	/** @param {unknown} problem */
	lose(problem) {
		this.trouble = wordsOf(problem) + '; trying again';
		this.showSummary();
		say(this.trouble);
	}

	// The age of the data grows. While the tab is hidden nothing is told; the first step after that goes on.
	tellAgain() {
		clearTimeout(this.clock);
		if (!document.hidden && !this.hasEnded)
			this.clock = window.setTimeout(() => this.showSummary(), AGE_MS);
	}

	showSummary() {
		this.tellAgain();
		const step = this.shown || this.step, words = [];
		if (step && step.samples === 0)
			words.push('no samples in ' + rangeText(step.from, step.to));
		else if (step)
			words.push(`${step.samples.toLocaleString('en')} samples, ${rangeText(step.from, step.to)}`);
		if (this.step && this.step.newest && !this.hasEnded)
			words.push(`data until ${timeText(this.step.newest)}, ${agoText(this.step.newest)}`);
		if (this.isPaused)
			words.push('paused');
		if (this.hasEnded)
			words.push('the recording has ended');
		if (!this.step && !this.trouble)
			words.push('waiting for data');
		fill(this.summary, words.join(' · '), this.trouble && make('strong', { class: 'warning', text: (words.length ? ' · ' : '') + this.trouble }));
	}

	// The graph

	// What is asked about a step: its profile, or the comparison of the moment with it.
	/** @param {Step} step */
	parametersOf(step) {
		const moment = this.isComparing() ? momentOf(this.address) : null;
		if (!moment)
			return { path: '/api/profile', parameters: { ...this.question, from: step.from, to: step.to } };
		return { path: '/api/diff', parameters: { ...this.question, from: moment.from, to: moment.to, diff_query: this.question.query, diff_from: step.from, diff_to: step.to } };
	}

	// Shows the last step, or the one at which it was paused. While one is on its way, later ones wait.
	show() {
		const step = this.isPaused && this.shown ? this.shown : this.step;
		if (!step || this.isBusy)
			return;
		const { path, parameters } = this.parametersOf(step);
		if (this.loaded === path && this.flame.frame) {
			this.update(step, path, parameters);
			return;
		}
		if (step.samples === 0 && !this.flame.frame) {
			this.flame.showInstead(make('div', { class: 'empty' }, make('h2', { text: 'No samples in this window' }),
				make('p', { text: 'The program did not run, or its samples have not arrived yet.' })));
			return;
		}
		this.load(step, path, parameters);
	}

	/**
	 * @param {Step} step
	 * @param {string} path
	 * @param {import('./api.js').Parameters} parameters
	 */
	load(step, path, parameters) {
		const state = param(this.address, 'flame');
		this.loaded = path;
		this.flame.load(path, parameters, state ? '#' + state : '');
		this.setShown(step);
	}

	/** @param {Step} step */
	setShown(step) {
		this.shown = step;
		this.showTools();
		this.showSummary();
	}

	/**
	 * @param {Step} step
	 * @param {string} path
	 * @param {import('./api.js').Parameters} parameters
	 */
	async update(step, path, parameters) {
		if (!this.flame.isReady)
			return; // heard() comes back
		this.isBusy = true;
		try {
			const answer = await request(urlOf(path, { ...parameters, format: 'page' }), { signal: this.stop.signal });
			const data = await answer.arrayBuffer();
			if (this.loaded === path && !(this.isPaused && this.shown !== step)) {
				this.flame.send({ wick: 'update', data });
				this.setShown(step);
			}
		} catch (problem) {
			if (!this.stop.signal.aborted)
				this.lose(problem);
		} finally {
			this.isBusy = false;
		}
		if (!this.stop.signal.aborted && !this.isPaused && this.step && this.step !== step)
			this.show();
		else if (!this.stop.signal.aborted && this.parametersOf(step).path !== path)
			this.show(); // compared or not meanwhile
	}

	/** @param {MessageEvent} event */
	heard(event) {
		if (!this.flame.frame || event.source !== this.flame.frame.contentWindow || !event.data)
			return;
		if (event.data.wick === 'refused' && this.step) {
			const { path, parameters } = this.parametersOf(this.step);
			this.load(this.step, path, parameters);
		} else if (event.data.wick === 'ready' && this.step !== this.shown && !this.isPaused) {
			this.show();
		}
	}

	/**
	 * @param {string} state
	 * @param {boolean} isStep
	 */
	keepState(state, isStep) {
		this.address = changed(this.address, { flame: state });
		note(this.address, isStep);
	}

	redraw() {
		this.flame.sendTheme();
	}

	close() {
		this.stop.abort();
		clearTimeout(this.clock);
		this.stream.close();
		window.removeEventListener('message', this.hear);
		this.flame.close();
	}
}

/**
 * @param {HTMLElement} host
 * @param {Address} address
 */
export function showLive(host, address) {
	return new LiveView(host, address);
}
