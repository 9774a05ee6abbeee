// SPDX-License-Identifier: BSD-2-Clause
// What types of profiles are called, and how their values are read.
import { quantity } from './quantity.js';

/** @typedef {{ name: string, unit: string }} Type */

const NAMES = /** @type {Record<string, string>} */ ({
	cpu: 'CPU', 'off-cpu': 'Off CPU', wall: 'Wall time', samples: 'Samples', alloc_space: 'Memory allocated',
	alloc_objects: 'Blocks allocated', inuse_space: 'Memory in use', inuse_objects: 'Blocks in use',
	live_space: 'Live memory', leak_space: 'Leaked memory',
});

/** @param {string} type */
export function typeName(type) {
	return Object.hasOwn(NAMES, type) ? NAMES[type] + '' : type;
}

/**
 * CPU time over a time as CPUs, waiting as the threads that wait; any other value as it is.
 * @param {number} value
 * @param {number} length_s
 * @param {Type} type
 */
export function rateText(value, length_s, type) {
	if (type.unit !== 'nanoseconds' || length_s <= 0)
		return quantity(value, type.unit);
	return type.name === 'cpu' ? cpusText(value / 1e9 / length_s) : (value / 1e9 / length_s).toFixed(2) + ' threads';
}

/** @param {number} cpus */
export function cpusText(cpus) {
	const digits = cpus === 0 || cpus >= 9.995 ? 1 : cpus >= 0.0995 ? 2 : 3;
	return cpus.toFixed(digits) + (cpus.toFixed(digits) === '1.00' ? ' CPU' : ' CPUs');
}
