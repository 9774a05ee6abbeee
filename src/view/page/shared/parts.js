// SPDX-License-Identifier: BSD-2-Clause
// Buttons, tooltips, panels.

function makeButton(parent, text, kind, tells, act) {
	const button = element(HTML, 'button', parent, text);
	button.type = 'button';
	button.setAttribute('class', kind);
	button.setAttribute('title', tells);
	button.addEventListener('click', act);
	return button;
}

// Resizes and clears a canvas; drawing uses CSS pixels.
function fitCanvas(canvas, wide, high) {
	const dense = window.devicePixelRatio || 1;
	if (canvas.width !== Math.round(wide * dense) || canvas.height !== Math.round(high * dense)) {
		canvas.width = Math.round(wide * dense);
		canvas.height = Math.round(high * dense);
		canvas.style.width = wide + 'px';
		canvas.style.height = high + 'px';
	}
	const context = canvas.getContext('2d');
	context.setTransform(dense, 0, 0, dense, 0, 0);
	context.clearRect(0, 0, wide, high);
	return context;
}

// No words: hides the tooltip.
function tellWords(words) {
	const tip = byId('tip');
	tip.hidden = words.length === 0;
	tip.textContent = '';
	words.forEach(function (each, i) {
		for (const line of wrap(each, 100))
			element(HTML, 'div', tip, line).setAttribute('class', i === 0 ? 'name' : 'more');
	});
}

function moveTip(x, y) {
	const tip = byId('tip'), wide = tip.offsetWidth, high = tip.offsetHeight;
	tip.style.left = Math.max(4, Math.min(x + 14, window.innerWidth - wide - 6)) + 'px';
	tip.style.top = (y - high - 12 < 4 ? Math.min(y + 22, window.innerHeight - high - 4) : y - high - 12) + 'px';
}

function togglePanel(id) {
	const panel = byId(id);
	panel.hidden = !panel.hidden;
	if (!panel.hidden)
		panel.focus();
}

function toggleHelp() {
	if (!byId('help').firstChild)
		putKeys(byId('help'));
	togglePanel('help');
}

// How the recording was made, and what wrote the page.
function recordingWords(told) {
	const words = [['recorded', told.title]];
	if (told.start_unix_ns)
		words.push(['at', new Date(told.start_unix_ns / 1e6).toISOString().replace('T', ' ').replace(/\..*/, ' UTC')]);
	if (told.duration_ns)
		words.push(['for', quantity(told.recorded_ns || told.duration_ns, 'nanoseconds')]);
	if (told.period_ns)
		words.push(['one sample every', quantity(told.period_ns, 'nanoseconds')]);
	for (const name of ['samples', 'lost', 'unreadable', 'truncated'])
		words.push([name === 'samples' ? about.counted || name : name, countText(told[name])]);
	for (const name of Object.keys(told.recording))
		words.push([name === 'wick' ? 'recorded by' : name.replace(/_/g, ' '), (name === 'wick' ? 'wick ' : '') + told.recording[name]]);
	return told.filters.length > 0 ? words.concat([['filters', told.filters.join(' \u00b7 ')]]) : words;
}

// In a comparison, values that differ are shown for both sides.
function sessionWords() {
	const written = [['written by', 'wick ' + about.wick]];
	if (!about.before)
		return written.concat(recordingWords(about));
	const before = new Map(recordingWords(about.before)), after = new Map(recordingWords(about.after));
	return written.concat(Array.from(new Set([...before.keys(), ...after.keys()]), function (name) {
		const texts = [before, after].map(function (side) { return side.get(name) || 'unknown'; });
		return [name, texts[0] === texts[1] ? texts[0] : texts.join(' \u2192 ')];
	}));
}

function toggleSession() {
	if (!byId('session').firstChild)
		putRows(byId('session'), sessionWords());
	togglePanel('session');
}

function tellProblem(problem) {
	document.body.classList.remove('waiting');
	byId('summary').textContent = 'Cannot show this page: ' + problem.message + '. It needs a browser from 2023 or later.';
	throw problem;
}
