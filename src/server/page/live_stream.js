// SPDX-License-Identifier: BSD-2-Clause
// The stream that says that there is something new. It is closed while the tab is hidden, so that a tab in
// the background costs nothing, and opened again after a connection was lost.
import { request, urlOf } from './api.js';

/**
 * @typedef {{ from: number, to: number, samples: number, newest: number }} Step
 * @typedef {Object} Listener
 * @property {(step: Step) => void} step
 * @property {() => void} end The recording has ended: no step follows.
 * @property {(problem: unknown) => void} lost The stream is opened again by itself.
 */

const AGAIN_MS = 2000, AGAIN_MOST_MS = 60000;

/**
 * A step as the server tells it; null: something else.
 * @param {string} text
 * @returns {Step | null}
 */
export function readStep(text) {
	const told = JSON.parse(text);
	const [from, to, samples, newest] = [told.from, told.to, told.samples, told.newest].map(Number);
	if (from === undefined || to === undefined || !(from < to))
		return null;
	return { from, to, samples: samples || 0, newest: newest || 0 };
}

export class LiveStream {
	/**
	 * @param {import('./api.js').Parameters} parameters
	 * @param {Listener} listener
	 */
	constructor(parameters, listener) {
		this.url = urlOf('/api/live', parameters);
		this.listener = listener;
		/** @type {EventSource | null} */
		this.source = null;
		/** @type {AbortController | null} */
		this.asking = null;
		this.timer = 0;
		this.wait_ms = AGAIN_MS;
		this.hasEnded = false;
		this.seen = () => (document.hidden ? this.stop() : this.open());
		document.addEventListener('visibilitychange', this.seen);
		if (!document.hidden)
			this.open();
	}

	open() {
		if (this.source || this.hasEnded)
			return;
		this.stop(); // an attempt that waits
		const source = new EventSource(this.url);
		this.source = source;
		source.addEventListener('step', (event) => {
			const step = readStep(event.data);
			this.wait_ms = AGAIN_MS;
			if (step)
				this.listener.step(step);
		});
		source.addEventListener('end', () => {
			this.hasEnded = true;
			this.stop();
			this.listener.end();
		});
		source.addEventListener('error', () => this.fail());
	}

	// A stream cannot say what went wrong: the same question as a request can.
	async fail() {
		const asking = new AbortController();
		this.stop();
		this.asking = asking;
		try {
			await request(this.url, { signal: asking.signal });
			this.listener.lost(new Error('the connection was lost'));
		} catch (problem) {
			if (asking.signal.aborted)
				return; // the tab is hidden, or the view was left
			this.listener.lost(problem);
		} finally {
			asking.abort(); // an answer is a stream: it does not end
		}
		if (this.asking === asking)
			this.timer = window.setTimeout(() => this.open(), this.wait_ms);
		this.wait_ms = Math.min(AGAIN_MOST_MS, 2 * this.wait_ms);
	}

	stop() {
		clearTimeout(this.timer);
		if (this.asking)
			this.asking.abort();
		if (this.source)
			this.source.close();
		this.source = this.asking = null;
	}

	close() {
		document.removeEventListener('visibilitychange', this.seen);
		this.stop();
	}
}
