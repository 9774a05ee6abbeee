// SPDX-License-Identifier: BSD-2-Clause
// Questions to the server. An answer that is an error becomes a Problem with the server's words and its
// remedy; on 401, the part that shows the login hears of it too.

/**
 * @typedef {{ name: string, detail?: string, samples: number, value: number, self?: number, from: number, to: number }} Item
 * @typedef {Record<string, string | number | boolean | null | undefined>} Parameters
 */

export class Problem extends Error {
	/**
	 * @param {number} status 0: the server did not answer
	 * @param {string} message
	 * @param {string} [remedy]
	 */
	constructor(status, message, remedy = '') {
		super(message);
		this.status = status;
		this.remedy = remedy;
	}
}

/** @type {() => void} */
let loggedOut = () => {};

/** @param {() => void} act Called when the server wants a token. */
export function onLoggedOut(act) {
	loggedOut = act;
}

/**
 * The address of a question; parameters without a value are left out.
 * @param {string} path
 * @param {Parameters} [parameters]
 */
export function urlOf(path, parameters = {}) {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(parameters))
		if (value !== undefined && value !== null && value !== '' && value !== false)
			query.set(name, value === true ? '1' : String(value));
	const text = query.toString();
	return text ? path + '?' + text : path;
}

/** @param {Response} answer */
async function problemOf(answer) {
	const told = await answer.json().catch(() => ({}));
	return new Problem(answer.status, String(told.error || `the server answered ${answer.status}`), String(told.remedy || ''));
}

/**
 * @param {string} url
 * @param {RequestInit} [options]
 */
export async function request(url, options = {}) {
	/** @type {Response} */
	let answer;
	try {
		answer = await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...options });
	} catch (problem) {
		if (options.signal && options.signal.aborted)
			throw problem;
		throw new Problem(0, 'the server did not answer', 'check the network, and that the server is running');
	}
	if (answer.ok)
		return answer;
	if (answer.status === 401 && !url.startsWith('/api/login'))
		loggedOut();
	throw await problemOf(answer);
}

/**
 * @param {string} path
 * @param {Parameters} [parameters]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function ask(path, parameters, signal) {
	const answer = await request(urlOf(path, parameters), { signal: signal || null });
	return answer.json();
}

/**
 * @param {string} path
 * @param {Record<string, unknown>} body
 * @returns {Promise<any>}
 */
export async function post(path, body) {
	const answer = await request(path, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
	return answer.json().catch(() => ({}));
}

/**
 * The items of a list, or none where this source does not have the list.
 * @param {string} path
 * @param {string} list
 * @param {Parameters} parameters
 * @param {AbortSignal} signal
 * @returns {Promise<Item[]>}
 */
export async function askList(path, list, parameters, signal) {
	try {
		return (await ask(path, parameters, signal))[list] || [];
	} catch (problem) {
		if (problem instanceof Problem && (problem.status === 404 || problem.status === 405 || problem.status === 501))
			return [];
		throw problem;
	}
}
