// SPDX-License-Identifier: BSD-2-Clause
// Makes a flame graph SVG interactive. Names go through textContent only; the
// file loads nothing. The numbers below are those of flame.c.
(function () {
	'use strict';
	const MARGIN = 10, TEXT = 3, CHARACTER = 7.3, HEAD = 62;
	const SVG = 'http://www.w3.org/2000/svg', HTML = 'http://www.w3.org/1999/xhtml';
	const svg = document.currentScript ? document.currentScript.ownerSVGElement : document.documentElement;
	const alone = svg === document.documentElement;
	const total = Number(svg.getAttribute('data-total'));
	const icicle = svg.getAttribute('data-icicle') === '1';
	const head = svg.querySelector('.head');
	const area = svg.querySelector('.frames');
	const height = Number(svg.getAttribute('height'));
	let width = Number(svg.getAttribute('width'));
	let zoom = null;
	// Of a comparison: which side the widths are of, and whether amounts are compared.
	const compared = svg.hasAttribute('data-before');
	const totals = { after: total, before: Number(svg.getAttribute('data-before')) };
	let side = 'after';
	let absolute = svg.getAttribute('data-absolute') === '1';

	function placeOf(g, attribute) {
		const place = (g.getAttribute(attribute) || '0 0').split(' ').map(Number);
		return { begin: place[0], end: place[0] + place[1] };
	}

	// Frames, row by row. The titles become tooltips of our own.
	const frames = [];
	Array.from(area.children).forEach(function (rowGroup, row) {
		Array.from(rowGroup.children).forEach(function (g) {
			const title = g.firstElementChild;
			const words = title.textContent.split('\n');
			title.remove();
			const places = { after: placeOf(g, 'data-v'), before: placeOf(g, 'data-b') };
			const frame = { g: g, rect: g.firstElementChild, text: g.querySelector('text'), row: row,
				begin: places.after.begin, end: places.after.end, places: places, name: words[0],
				about: words.slice(1), hit: false, shown: !g.hasAttribute('display') };
			if (compared) {
				frame.colors = g.getAttribute('data-c').split(' ');
				frame.changes = g.getAttribute('data-s').split('|');
			}
			g.flameFrame = frame;
			frames.push(frame);
		});
	});
	const everything = { row: 0, begin: 0, end: total, name: 'all' };

	function element(space, name, parent, text) {
		const made = document.createElementNS(space, name);
		if (text !== undefined)
			made.textContent = text;
		parent.appendChild(made);
		return made;
	}

	function columns(c) {
		return c.codePointAt(0) >= 0x1100 ? 2 : 1;
	}

	// The part of a name that fits, ".." in place of the rest.
	function label(name, room) {
		let used = 0, fits = 0, at = 0;
		for (const c of name) {
			used += columns(c);
			at += c.length;
			if (used > room)
				return name.slice(0, fits) + '..';
			if (used + 2 <= room)
				fits = at;
		}
		return name;
	}

	function percent(part, whole) {
		return (whole > 0 ? 100 * part / whole : 0).toFixed(1) + '%';
	}

	// The label of a frame; in a comparison with the change, or its sign where there is little room.
	function labelOf(frame, room) {
		if (!compared)
			return label(frame.name, room);
		let change = frame.changes[absolute ? 1 : 0];
		if (room < change.length + 5)
			change = change.replace(/^(new|gone) /, '');
		if (room >= change.length + 5)
			return label(frame.name, room - change.length - 1) + ' ' + change;
		const sign = (/[+-]/.exec(change) || [''])[0];
		return sign + label(frame.name, room - sign.length);
	}

	function show(frame, left, right) {
		const room = (right - left - 2 * TEXT) / CHARACTER;
		if (!frame.shown)
			frame.g.removeAttribute('display');
		frame.shown = true;
		frame.rect.setAttribute('x', (MARGIN + left).toFixed(2));
		frame.rect.setAttribute('width', (right - left).toFixed(2));
		if (room >= 3) {
			if (!frame.text) {
				frame.text = element(SVG, 'text', frame.g);
				frame.text.setAttribute('y', 13);
			}
			frame.text.setAttribute('x', (MARGIN + left + TEXT).toFixed(2));
			frame.text.textContent = labelOf(frame, Math.floor(room));
		} else if (frame.text) {
			frame.text.remove();
			frame.text = null;
		}
	}

	function hide(frame) {
		if (frame.shown)
			frame.g.setAttribute('display', 'none');
		frame.shown = false;
	}

	function layOut() {
		const view = zoom || everything;
		const room = width - 2 * MARGIN;
		const scale = view.end > view.begin ? room / (view.end - view.begin) : 0;
		for (const frame of frames) {
			const around = frame.begin <= view.begin && frame.end >= view.end;
			const below = frame.row < view.row;
			frame.g.classList.toggle('dim', below && around);
			if (below && around)
				show(frame, 0, room);
			else if (below || frame.begin < view.begin || frame.end > view.end ||
				 (frame.end - frame.begin) * scale < 0.1)
				hide(frame);
			else
				show(frame, (frame.begin - view.begin) * scale, (frame.end - view.begin) * scale);
		}
	}

	// Zoom

	function zoomTo(frame) {
		zoom = frame && frame.row > 0 ? frame : null;
		reset.disabled = !zoom;
		layOut();
	}

	// Comparison

	// Lays out one side. Amounts of both sides have one scale: a smaller side fills less.
	function compare() {
		for (const frame of frames) {
			frame.begin = frame.places[side].begin;
			frame.end = frame.places[side].end;
			frame.rect.setAttribute('class', frame.colors[absolute ? 1 : 0]);
		}
		everything.end = absolute ? Math.max(totals.after, totals.before) : totals[side];
		widths.textContent = 'Widths: ' + side;
		scale.textContent = 'Compare: ' + (absolute ? 'amounts' : 'shares');
		zoomTo(zoom && zoom.end > zoom.begin ? zoom : null);
		search(input.value);
	}

	function switchSide() {
		side = side === 'after' ? 'before' : 'after';
		compare();
	}

	function switchScale() {
		absolute = !absolute;
		compare();
	}

	// Search

	function search(pattern) {
		let test = null;
		input.classList.remove('bad');
		try {
			// Without capitals, case makes no difference.
			test = pattern ? new RegExp(pattern, /[A-Z]/.test(pattern) ? '' : 'i') : null;
		} catch (problem) {
			input.classList.add('bad');
			found.textContent = 'not a regular expression';
			return;
		}
		const known = new Map();
		const hits = [];
		for (const frame of frames) {
			if (!known.has(frame.name))
				known.set(frame.name, test !== null && test.test(frame.name));
			frame.hit = known.get(frame.name);
			frame.g.classList.toggle('hit', frame.hit);
			if (frame.hit)
				hits.push(frame);
		}
		found.textContent = test ? percent(union(hits), totals[side]) + ' matched' : '';
	}

	// What the frames cover together: one inside another counts once.
	function union(hits) {
		let sum = 0, until = -Infinity;
		hits.sort(function (a, b) { return a.begin - b.begin || b.end - a.end; });
		for (const frame of hits) {
			sum += Math.max(0, frame.end - Math.max(frame.begin, until));
			until = Math.max(until, frame.end);
		}
		return sum;
	}

	// Tools

	const box = element(SVG, 'foreignObject', head);
	box.setAttribute('y', 8);
	box.setAttribute('width', 440);
	box.setAttribute('height', 30);
	const tools = element(HTML, 'div', box);
	tools.setAttribute('class', 'tools');
	const found = element(HTML, 'span', tools, '');
	found.setAttribute('class', 'found');
	const input = element(HTML, 'input', tools);
	input.setAttribute('placeholder', 'search, regex  ( / )');
	input.setAttribute('spellcheck', 'false');
	input.setAttribute('aria-label', 'search function names');
	const find = element(HTML, 'button', tools, 'Search');
	const reset = element(HTML, 'button', tools, 'Reset zoom');
	reset.setAttribute('class', 'reset');
	reset.disabled = true;
	const choices = element(SVG, 'foreignObject', head);
	choices.setAttribute('y', 34);
	choices.setAttribute('width', compared ? 330 : 0);
	choices.setAttribute('height', compared ? 26 : 0);
	const switches = element(HTML, 'div', choices);
	switches.setAttribute('class', 'tools');
	const widths = element(HTML, 'button', switches, '');
	widths.setAttribute('class', 'widths');
	widths.setAttribute('title', 'widths after or before ( b )');
	widths.addEventListener('click', switchSide);
	const scale = element(HTML, 'button', switches, '');
	scale.setAttribute('class', 'scale');
	scale.setAttribute('title', 'shares of the whole, or amounts on one scale ( a )');
	scale.addEventListener('click', switchScale);
	let waiting = 0;
	input.addEventListener('input', function () {
		clearTimeout(waiting);
		waiting = setTimeout(function () { search(input.value); }, 150);
	});
	find.addEventListener('click', function () {
		input.focus();
		search(input.value);
	});
	reset.addEventListener('click', function () { zoomTo(null); });

	// Tooltip

	const tip = element(SVG, 'g', svg);
	tip.setAttribute('class', 'tip');
	tip.setAttribute('display', 'none');
	let over = null;

	function wrap(name, room) {
		const lines = [];
		for (let at = 0; at < name.length && lines.length < 8; at += room)
			lines.push(name.slice(at, at + room));
		if (lines.length * room < name.length)
			lines[lines.length - 1] += '..';
		return lines;
	}

	function fillTip(frame) {
		const lines = wrap(frame.name, Math.max(20, Math.min(100, Math.floor((width - 60) / CHARACTER))));
		const names = lines.length;
		lines.push.apply(lines, frame.about);
		if (zoom)
			lines.push(percent(frame.end - frame.begin, zoom.end - zoom.begin) + ' of ' + label(zoom.name, 60));
		tip.textContent = '';
		const back = element(SVG, 'rect', tip);
		lines.forEach(function (line, i) {
			const text = element(SVG, 'text', tip, line);
			text.setAttribute('x', 7);
			text.setAttribute('y', 17 + i * 16);
			if (i >= names)
				text.setAttribute('class', 'more');
		});
		const widest = Math.max.apply(null, lines.map(function (line) { return line.length; }));
		back.setAttribute('rx', 3);
		back.setAttribute('width', widest * CHARACTER + 14);
		back.setAttribute('height', lines.length * 16 + 10);
	}

	function moveTip(event) {
		const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
		const size = tip.getBBox();
		const top = alone ? window.scrollY : 0;
		const x = Math.max(2, Math.min(point.x + 14, width - size.width - 4));
		const y = point.y - size.height - 10 < top + HEAD ? point.y + 22 : point.y - size.height - 10;
		tip.setAttribute('transform', 'translate(' + x + ' ' + y + ')');
	}

	function hover(frame) {
		if (over === frame)
			return;
		if (over)
			over.g.classList.remove('over');
		over = frame;
		if (!frame) {
			tip.setAttribute('display', 'none');
			return;
		}
		frame.g.classList.add('over');
		fillTip(frame);
		tip.removeAttribute('display');
	}

	function frameOf(event) {
		const g = event.target.closest ? event.target.closest('g') : null;
		return g && g.flameFrame ? g.flameFrame : null;
	}

	area.addEventListener('mousemove', function (event) {
		hover(frameOf(event));
		if (over)
			moveTip(event);
	});
	area.addEventListener('mouseleave', function () { hover(null); });
	area.addEventListener('click', function (event) {
		const frame = frameOf(event);
		if (frame) {
			zoomTo(frame);
			hover(null);
		}
	});

	// Keys

	function clearSearch() {
		input.value = '';
		input.blur();
		search('');
	}

	window.addEventListener('keydown', function (event) {
		const typing = event.target === input;
		const wantsSearch = (event.key === '/' && !typing) ||
			(event.key === 'f' && (event.ctrlKey || event.metaKey) && !typing);
		if (wantsSearch && (alone || event.key === '/')) {
			event.preventDefault();
			input.focus();
			input.select();
		} else if (event.key === 'Enter' && typing) {
			search(input.value);
		} else if (compared && !typing && !event.ctrlKey && !event.metaKey && event.key === 'b') {
			switchSide();
		} else if (compared && !typing && !event.ctrlKey && !event.metaKey && event.key === 'a') {
			switchScale();
		} else if (event.key === 'Escape') {
			if (typing || !zoom)
				clearSearch();
			else
				zoomTo(null);
		}
	});

	// Window

	function fit() {
		if (alone) {
			width = Math.max(320, document.documentElement.clientWidth || window.innerWidth);
			svg.setAttribute('width', width);
			svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
		}
		box.setAttribute('x', width - MARGIN - 440);
		choices.setAttribute('x', width - MARGIN - 330);
		layOut();
	}

	function stick() {
		head.setAttribute('transform', 'translate(0 ' + window.scrollY + ')');
	}

	window.addEventListener('resize', fit);
	fit();
	if (compared)
		compare();
	if (alone) {
		window.addEventListener('scroll', stick);
		window.addEventListener('load', function () {
			if (!icicle)
				window.scrollTo(0, height);
			stick();
		});
	}
})();
