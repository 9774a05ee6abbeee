// SPDX-License-Identifier: BSD-2-Clause
// Who looks at the page, and what the server has.
import { ask } from './api.js';

/** @typedef {{ version: string, source: string, tokens: boolean, access: string, who: string, has: string[], now: number }} Session */

/** @type {Session} */
let session = { version: '', source: 'store', tokens: false, access: 'none', who: '', has: [], now: 0 };
let ahead_s = 0; // how far the server's clock is ahead of ours

export async function loadSession() {
	session = await ask('/api/session');
	ahead_s = session.now ? session.now - Date.now() / 1000 : 0;
	return session;
}

export function currentSession() {
	return session;
}

/** @param {string} part */
export function has(part) {
	return session.has.includes(part);
}

export function isFiles() {
	return session.source === 'files';
}

export function mustLogIn() {
	return session.tokens && session.access === 'none';
}

/** The server's time, in seconds since 1970. */
export function now_s() {
	return Math.floor(Date.now() / 1000 + ahead_s);
}
