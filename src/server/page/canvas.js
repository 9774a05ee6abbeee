// SPDX-License-Identifier: BSD-2-Clause
// Canvases in CSS pixels, sharp on dense screens.

/**
 * Resizes and clears a canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function fitCanvas(canvas, width, height) {
	const dense = window.devicePixelRatio || 1;
	if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
		canvas.width = Math.round(width * dense);
		canvas.height = Math.round(height * dense);
		canvas.style.width = width + 'px';
		canvas.style.height = height + 'px';
	}
	const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
	context.setTransform(dense, 0, 0, dense, 0, 0);
	context.clearRect(0, 0, width, height);
	return context;
}

/**
 * A variable of the style sheet.
 * @param {string} name
 */
export function cssColor(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
