// SPDX-License-Identifier: BSD-2-Clause
// The picture of the heat strip: bars of the total, a row of heat for each host, gaps, bursts, the
// selected part, and an axis.
import { cssColor, fitCanvas } from './canvas.js';
import { timelineColors } from './theme.js';
import { clockText, dayText } from './times.js';

/**
 * @typedef {import('./marks.js').Marks} Marks
 * @typedef {{ name: string, values: number[] }} Row
 * @typedef {{ from: number, to: number, first: number, step: number, total: number[], rows: Row[], marks: Marks, part: { from: number, to: number } | null }} Picture
 */

export const CHART = 56, ROW = 15, AXIS = 18;
const ZONE_STEPS_S = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];

/** @param {Picture} picture */
export function pictureHeight(picture) {
	return CHART + picture.rows.length * ROW + AXIS;
}

/**
 * @param {Picture} picture
 * @param {number} width
 */
export function scaleOf(picture, width) {
	const length = Math.max(1, picture.to - picture.from);
	return {
		/** @param {number} time_s */
		x: (time_s) => Math.max(0, Math.min(width, (time_s - picture.from) / length * width)),
		/** @param {number} x */
		time: (x) => picture.from + Math.max(0, Math.min(1, x / width)) * length,
	};
}

/** @param {string} color */
function hatch(color) {
	const tile = document.createElement('canvas');
	tile.width = tile.height = 6;
	const context = /** @type {CanvasRenderingContext2D} */ (tile.getContext('2d'));
	context.strokeStyle = color;
	context.beginPath();
	context.moveTo(0, 6);
	context.lineTo(6, 0);
	context.stroke();
	return tile;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Picture} picture
 * @param {number} width
 */
function paintBars(context, picture, width) {
	const { x } = scaleOf(picture, width), most = Math.max(...picture.total, 1);
	context.fillStyle = timelineColors().bar;
	picture.total.forEach((value, i) => {
		const left = x(picture.first + i * picture.step), right = x(picture.first + (i + 1) * picture.step);
		const high = value > 0 ? Math.max(1, value / most * (CHART - 6)) : 0;
		context.fillRect(left, CHART - high, Math.max(1, right - left - (right - left > 3 ? 1 : 0)), high);
	});
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Picture} picture
 * @param {number} width
 */
function paintRows(context, picture, width) {
	const { x } = scaleOf(picture, width), colors = timelineColors();
	const most = Math.max(...picture.rows.flatMap((row) => row.values), 1);
	picture.rows.forEach((row, k) => {
		const top = CHART + k * ROW + 1;
		context.fillStyle = colors.dull;
		context.fillRect(0, top, width, ROW - 2);
		context.fillStyle = colors.bar;
		row.values.forEach((value, i) => {
			if (!(value > 0))
				return;
			const left = x(picture.first + i * picture.step), right = x(picture.first + (i + 1) * picture.step);
			context.globalAlpha = 0.15 + 0.85 * value / most;
			context.fillRect(left, top, right - left, ROW - 2);
		});
		context.globalAlpha = 1;
	});
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Picture} picture
 * @param {number} width
 */
function paintMarks(context, picture, width) {
	const { x } = scaleOf(picture, width), bottom = pictureHeight(picture) - AXIS;
	const soft = cssColor('--soft'), pattern = context.createPattern(hatch(soft), 'repeat');
	for (const gap of picture.marks.gaps) {
		const row = picture.rows.findIndex((each) => each.name === gap.host);
		const top = row < 0 ? 0 : CHART + row * ROW, high = row < 0 ? bottom : ROW;
		if (pattern)
			context.fillStyle = pattern;
		context.fillRect(x(gap.from), top, Math.max(2, x(gap.to) - x(gap.from)), high);
	}
	context.fillStyle = timelineColors().site;
	for (const burst of picture.marks.bursts)
		if (burst.to > picture.from && burst.from < picture.to)
			context.fillRect(x(burst.from), 0, Math.max(3, x(burst.to) - x(burst.from)), 4);
	context.strokeStyle = cssColor('--text');
	context.setLineDash([3, 2]);
	for (const release of picture.marks.releases) {
		context.beginPath();
		context.moveTo(Math.round(x(release.at)) + 0.5, 0);
		context.lineTo(Math.round(x(release.at)) + 0.5, bottom);
		context.stroke();
	}
	context.setLineDash([]);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Picture} picture
 * @param {number} width
 */
function paintAxis(context, picture, width) {
	const { x } = scaleOf(picture, width), top = pictureHeight(picture) - AXIS;
	const least = (picture.to - picture.from) / Math.max(2, width / 90);
	const step = ZONE_STEPS_S.find((each) => each >= least) || 604800;
	const zone_s = new Date(picture.from * 1000).getTimezoneOffset() * 60;
	context.font = "10px 'DejaVu Sans', Helvetica, Arial, sans-serif";
	context.fillStyle = cssColor('--soft');
	context.fillRect(0, top, width, 1);
	for (let time_s = Math.ceil((picture.from - zone_s) / step) * step + zone_s; time_s < picture.to; time_s += step) {
		const left = Math.round(x(time_s));
		context.fillRect(left, top, 1, 5);
		if (left + 34 < width)
			context.fillText(step >= 86400 ? dayText(time_s).slice(5) : clockText(time_s), left + 3, top + 13);
	}
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Picture} picture
 * @param {number} width
 */
function paintPart(context, picture, width) {
	if (!picture.part)
		return;
	const { x } = scaleOf(picture, width), bottom = pictureHeight(picture) - AXIS;
	const left = x(picture.part.from), right = Math.max(x(picture.part.to), left + 1);
	context.fillStyle = cssColor('--page');
	context.globalAlpha = 0.6;
	context.fillRect(0, 0, left, bottom);
	context.fillRect(right, 0, width - right, bottom);
	context.globalAlpha = 1;
	context.fillStyle = cssColor('--accent');
	for (const edge of [left, right])
		context.fillRect(Math.min(width - 2, Math.max(0, edge - 1)), 0, 2, bottom);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 * @param {number} width
 */
export function paintStrip(canvas, picture, width) {
	const context = fitCanvas(canvas, width, pictureHeight(picture));
	paintBars(context, picture, width);
	paintRows(context, picture, width);
	paintPart(context, picture, width);
	paintMarks(context, picture, width);
	paintAxis(context, picture, width);
}
