// SPDX-License-Identifier: BSD-2-Clause
// The flame graph: the document that `wick flame -o x.html` writes, in a frame without this page's origin,
// so that nothing in a profile can send requests. The two talk by messages.
import { ask, urlOf } from './api.js';
import { fill, make } from './dom.js';
import { showProblem } from './problem.js';
import { isDark } from './theme.js';

const READY_MS = 2500; // after this time a frame that says nothing is asked why

export class FlameFrame {
	/**
	 * @param {string} title For screen readers.
	 * @param {(state: string, isStep: boolean) => void} stateChanged
	 */
	constructor(title, stateChanged) {
		this.title = title;
		this.stateChanged = stateChanged;
		this.element = make('div', { class: 'flame' });
		/** @type {HTMLIFrameElement | null} */
		this.frame = null;
		this.timer = 0;
		this.isReady = false;
		this.wanted = '';
		this.listener = (/** @type {MessageEvent} */ event) => this.hear(event);
		window.addEventListener('message', this.listener);
	}

	close() {
		window.removeEventListener('message', this.listener);
		clearTimeout(this.timer);
	}

	/**
	 * @param {string} path
	 * @param {import('./api.js').Parameters} parameters
	 * @param {string} state
	 */
	load(path, parameters, state) {
		this.isReady = false;
		this.wanted = state;
		clearTimeout(this.timer);
		const src = urlOf(path, { ...parameters, format: 'html' }) + state;
		const frame = make('iframe', { src, title: this.title, sandbox: 'allow-scripts allow-downloads', referrerpolicy: 'no-referrer' });
		frame.addEventListener('load', () => {
			this.timer = window.setTimeout(() => this.askWhy(frame, path, parameters), READY_MS);
		});
		this.frame = frame;
		this.element.classList.add('waiting');
		fill(this.element, frame);
	}

	/** @param {Element} what What is shown instead of a graph. */
	showInstead(what) {
		clearTimeout(this.timer);
		this.frame = null;
		this.element.classList.remove('waiting');
		fill(this.element, what);
	}

	// A frame cannot say what went wrong: its answer is not a page then. The same question as JSON can.
	/**
	 * @param {HTMLIFrameElement} frame
	 * @param {string} path
	 * @param {import('./api.js').Parameters} parameters
	 */
	askWhy(frame, path, parameters) {
		if (this.isReady || this.frame !== frame)
			return;
		const isWaiting = () => this.frame === frame && !this.isReady;
		ask(path, { ...parameters, format: 'json', limit: 1 }).then(() => {
			if (isWaiting())
				this.element.classList.remove('waiting'); // it may be slow, or show its own words
		}, (problem) => {
			if (isWaiting()) {
				this.element.classList.remove('waiting');
				showProblem(this.element, problem, () => this.load(path, parameters, this.wanted));
			}
		});
	}

	/** @param {MessageEvent} event */
	hear(event) {
		if (!this.frame || event.source !== this.frame.contentWindow || typeof event.data !== 'object' || !event.data)
			return;
		if (event.data.wick === 'ready') {
			this.isReady = true;
			this.element.classList.remove('waiting');
			this.sendTheme();
		} else if (event.data.wick === 'state' && typeof event.data.text === 'string') {
			this.wanted = event.data.text;
			this.stateChanged(event.data.text.replace(/^#/, ''), Boolean(event.data.isStep));
		}
	}

	/** @param {Record<string, unknown>} message */
	send(message) {
		if (this.frame && this.frame.contentWindow)
			this.frame.contentWindow.postMessage(message, '*'); // its origin is opaque
	}

	/** @param {string} state */
	restore(state) {
		this.send({ wick: 'restore', text: '#' + state });
	}

	sendTheme() {
		this.send({ wick: 'theme', theme: isDark() ? 'dark' : 'light' });
	}
}
