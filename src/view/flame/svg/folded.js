// SPDX-License-Identifier: BSD-2-Clause
// The view as folded stacks: one line per stack with its cost, as wick export writes them. What was
// too narrow to draw appears as "[left out]".

// The stacks through the zoomed box, or all stacks.
function foldedStacks() {
	const lines = [];
	const put = function (path, cost) {
		if (cost > 0)
			lines.push(path + ' ' + cost);
	};
	const pending = (zoom ? [zoom] : way.rows[0] || []).map(function (frame) {
		return { frame: frame, path: pathTo(frame).slice(1).map(function (f) { return foldedName(f.name); }).join(';') };
	});
	while (pending.length > 0) {
		const at = pending.pop();
		let rest = at.frame.end - at.frame.begin - at.frame.self;
		put(at.path || '[no stack]', at.frame.self);
		for (let i = at.frame.children.length - 1; i >= 0; i--) {
			const child = at.frame.children[i];
			rest -= child.end - child.begin;
			if (child.end > child.begin)
				pending.push({ frame: child, path: (at.path ? at.path + ';' : '') + foldedName(child.name) });
		}
		put((at.path ? at.path + ';' : '') + '[left out]', rest);
	}
	return lines.join('\n') + '\n';
}

function downloadFolded() {
	saveFolded(tools, zoom ? zoom.name : 'stacks', foldedStacks());
}

makeButton(switches, 'Folded', 'folded', 'download this view as folded stacks ( d )', downloadFolded);
makeButton(switches, '?', 'keys', 'keyboard shortcuts ( ? )', toggleHelp);
keys.push(['d', 'download this view as folded stacks']);
