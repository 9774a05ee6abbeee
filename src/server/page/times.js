// SPDX-License-Identifier: BSD-2-Clause
// Times and ranges as people read them, in the time zone of the browser.
import { now_s } from './session.js';

const UNITS_S = /** @type {Record<string, number>} */ ({ s: 1, m: 60, h: 3600, d: 86400, w: 604800 });

/** @param {number} number */
function two(number) {
	return String(number).padStart(2, '0');
}

/** @param {number} time_s */
export function clockText(time_s) {
	const date = new Date(time_s * 1000);
	return two(date.getHours()) + ':' + two(date.getMinutes()) + (date.getSeconds() ? ':' + two(date.getSeconds()) : '');
}

/** @param {number} time_s */
export function dayText(time_s) {
	const date = new Date(time_s * 1000);
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** @param {number} time_s */
export function timeText(time_s) {
	return dayText(time_s) === dayText(now_s()) ? clockText(time_s) : dayText(time_s) + ' ' + clockText(time_s);
}

/**
 * @param {number} from_s
 * @param {number} to_s
 */
export function rangeText(from_s, to_s) {
	return timeText(from_s) + ' – ' + (dayText(from_s) === dayText(to_s) ? clockText(to_s) : timeText(to_s));
}

/** @param {number} length_s */
export function lengthText(length_s) {
	for (const [unit, name] of /** @type {[number, string][]} */ ([[86400, 'd'], [3600, 'h'], [60, 'min']]))
		if (length_s >= unit)
			return Number((length_s / unit).toFixed(length_s % unit ? 1 : 0)) + ' ' + name;
	return length_s + ' s';
}

/** @param {number} time_s */
export function agoText(time_s) {
	const age_s = Math.max(0, now_s() - time_s);
	return age_s < 5 ? 'just now' : lengthText(age_s) + ' ago';
}

/**
 * Seconds since 1970 of a time in a query, or NaN where only the server can tell ("14:05").
 * @param {string} text
 */
export function readTime(text) {
	const relative = /^-(\d+)([smhdw])$/.exec(text);
	if (text === '' || text === 'now')
		return now_s();
	if (relative)
		return now_s() - Number(relative[1]) * UNITS_S[relative[2] || 's'];
	return /^\d+$/.test(text) ? Number(text) : NaN;
}

/**
 * A time as the query understands it: people choose times of their own zone.
 * @param {string} text
 */
export function writtenTime(text) {
	const local = /^(\d{4})-(\d\d?)-(\d\d?)(?:[ T](\d\d?):(\d\d)(?::(\d\d))?)?$/.exec(text.trim());
	const clock = /^(\d\d?):(\d\d)(?::(\d\d))?$/.exec(text.trim());
	if (local) {
		const [, year, month, day, hour, minute, second] = local.map(Number);
		return String(new Date(year || 0, (month || 1) - 1, day, hour || 0, minute || 0, second || 0).getTime() / 1000);
	}
	if (clock) {
		const date = new Date(now_s() * 1000);
		date.setHours(Number(clock[1]), Number(clock[2]), Number(clock[3] || 0), 0);
		if (date.getTime() / 1000 > now_s())
			date.setDate(date.getDate() - 1);
		return String(Math.floor(date.getTime() / 1000));
	}
	return text.trim();
}

/**
 * A time of the address as people read it.
 * @param {string} text
 */
export function shownTime(text) {
	return /^\d{6,}$/.test(text) ? dayText(Number(text)) + ' ' + clockText(Number(text)) : text;
}
