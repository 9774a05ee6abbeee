// SPDX-License-Identifier: BSD-2-Clause
// The tooltip of the box under the pointer, or of the focused box.

const tip = element(SVG, 'g', svg);
tip.setAttribute('class', 'tip');
tip.setAttribute('display', 'none');
tip.setAttribute('aria-hidden', 'true');
let over = null;

function aboutOf(frame) {
	const about = frame.about.concat(ratioWords(frame));
	if (!zoom)
		return about;
	return about.concat(percent(frame.end - frame.begin, zoom.end - zoom.begin) + ' of ' + label(zoom.name, 60));
}

function fillTip(frame) {
	const room = Math.max(20, Math.min(100, Math.floor((width - 60) / CHARACTER)));
	const lines = wrap(frame.name, room);
	const names = lines.length;
	for (const line of aboutOf(frame))
		lines.push.apply(lines, wrap(line, room));
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

function moveTip(clientX, clientY) {
	const point = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
	const size = tip.getBBox();
	const top = alone ? window.scrollY : 0;
	const x = Math.max(2, Math.min(point.x + 14, width - size.width - 4));
	const y = point.y - size.height - 10 < top + headHigh ? point.y + 22 : point.y - size.height - 10;
	tip.setAttribute('transform', 'translate(' + x + ' ' + y + ')');
}

function hover(frame) {
	if (over === frame)
		return;
	if (over)
		over.rect.classList.remove('over');
	over = frame;
	if (!frame) {
		tip.setAttribute('display', 'none');
		return;
	}
	frame.rect.classList.add('over');
	fillTip(frame);
	tip.removeAttribute('display');
}
