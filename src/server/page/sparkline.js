// SPDX-License-Identifier: BSD-2-Clause
// A small chart of values over time.
import { fitCanvas } from './canvas.js';
import { timelineColors } from './theme.js';

const WIDTH = 132, HEIGHT = 26;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number[]} values NaN: nothing is known
 */
export function drawSparkline(canvas, values) {
	const context = fitCanvas(canvas, WIDTH, HEIGHT), colors = timelineColors();
	const most = Math.max(...values.filter((value) => value > 0), 0);
	const wide = WIDTH / Math.max(1, values.length);
	context.fillStyle = colors.line;
	context.fillRect(0, HEIGHT - 1, WIDTH, 1);
	context.fillStyle = colors.bar;
	values.forEach((value, i) => {
		const high = value > 0 ? Math.max(1, value / most * (HEIGHT - 2)) : 0;
		context.fillRect(i * wide, HEIGHT - high, Math.max(1, wide - 0.5), high);
	});
}
