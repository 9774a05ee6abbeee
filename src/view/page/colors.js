// SPDX-License-Identifier: BSD-2-Clause
// The fill of boxes. The palettes are those of the SVG; the file has them as tables.

let colors = page.colors;
let ratio = null; // null: the default colours
let ratios = page.ratios;
const fills = new Map(); // by swatch and shade; cleared when the theme changes

function paletteNow() {
	return page.palettes[ratio ? 'ratio' : colors];
}

// Line patterns over a colour.
const LINES = { '/': [0, 8, 8, 0], '\\': [0, 0, 8, 8], '|': [4, 0, 4, 8], '-': [0, 4, 8, 4], '+': [4, 0, 4, 8, 0, 4, 8, 4] };

function patternFill(swatch, color) {
	const tile = document.createElement('canvas');
	const draw = tile.getContext('2d');
	tile.width = tile.height = 8;
	draw.fillStyle = color;
	draw.fillRect(0, 0, 8, 8);
	draw.strokeStyle = swatch.line;
	draw.lineWidth = 2;
	const ends = LINES[swatch.pattern];
	for (let i = 0; i < ends.length; i += 4) {
		draw.moveTo(ends[i], ends[i + 1]);
		draw.lineTo(ends[i + 2], ends[i + 3]);
	}
	draw.stroke();
	return draw.createPattern(tile, 'repeat');
}

function fillOf(name, hash) {
	const swatch = paletteNow().swatches[name];
	const shade = hash % swatch.light.length;
	if (!fills.has(swatch))
		fills.set(swatch, []);
	const known = fills.get(swatch);
	if (!known[shade]) {
		const color = (isDark() ? swatch.dark : swatch.light)[shade];
		known[shade] = { color: color, fill: swatch.pattern ? patternFill(swatch, color) : color, white: swatch.white, class: name };
	}
	return known[shade];
}

function hueFill(hue, shade) {
	const at = (shade % 4 * 360 + hue % 360) * 6;
	const color = '#' + page.hues.slice(at, at + 6);
	return { color: color, fill: color, white: false, class: '' };
}

// The ratio of a box; undefined if the divisor is 0.
function ratioOf(which, shape, node) {
	const names = page.values.map(function (each) { return each.name; });
	const whole = costOf(shape, names.indexOf(which.whole)).total[node];
	return whole > 0 ? costOf(shape, names.indexOf(which.part)).total[node] / whole : undefined;
}

function heatClass(share) {
	return page.heats.find(function (heat) { return share >= heat.share; }).class;
}

function classOf(shape, node, cost) {
	const func = shape.func[node];
	if (ratio)
		return ratioStep(ratio, ratioOf(ratio, shape, node) / ratioOf(ratio, shape, 0));
	if (func < 0)
		return 'g';
	if (colors === 'heat')
		return cost.self[node] > 0 ? heatClass(cost.self[node] / cost.total[0]) : heatClass(0);
	if (colors === 'language')
		return page.languages[profile.functions.language[func]];
	return shape.inlined[node] ? 'i' : page.origins[profile.functions.origin[func]] || 'u';
}

// The fill of a box: { fill, color, white, class }.
function paintOf(shape, node, cost) {
	const func = shape.func[node];
	const hash = func < 0 ? 0 : profile.functions.hash[func];
	if (compared)
		return fillOf(changeOf(shape, node, absolute).color, 0);
	if (!ratio && func >= 0 && colors === 'module')
		return hueFill(profile.functions.moduleHash[func], hash);
	if (!ratio && func >= 0 && colors === 'hash')
		return hueFill(hash, Math.floor(hash / 360));
	return fillOf(classOf(shape, node, cost), hash);
}
