// SPDX-License-Identifier: BSD-2-Clause
// The mouse: pointing, clicking, and moving the view of a zoomed graph.

let grip = null; // where a drag started; moved: it was more than a click

function frameOf(event) {
	return event.target.flameFrame || null;
}

function drag(event) {
	if (!grip.moved && Math.abs(event.clientX - grip.x) < 5)
		return;
	hover(null);
	pan(grip.x - event.clientX);
	grip = { x: event.clientX, moved: true };
}

svg.addEventListener('mousedown', function (event) {
	if (event.button !== 0 || head.contains(event.target) || help.contains(event.target))
		return;
	event.preventDefault(); // select no text, and do not move the keyboard focus
	if (document.activeElement && svg.contains(document.activeElement))
		document.activeElement.blur();
	if (zoom)
		grip = { x: event.clientX, moved: false };
});
window.addEventListener('mousemove', function (event) {
	if (grip && event.buttons === 0)
		grip = null;
	if (grip)
		drag(event);
});
svg.addEventListener('wheel', function (event) {
	if (!event.shiftKey || !zoom)
		return;
	event.preventDefault();
	hover(null);
	pan(event.deltaX || event.deltaY);
}, { passive: false });

for (const each of ways) {
	each.group.addEventListener('mousemove', function (event) {
		if (grip && grip.moved)
			return;
		hover(frameOf(event));
		if (over)
			moveTip(event.clientX, event.clientY);
	});
	each.group.addEventListener('mouseleave', function () { hover(null); });
}
svg.addEventListener('click', function (event) {
	const frame = frameOf(event);
	const moved = grip && grip.moved;
	grip = null;
	if (moved)
		return;
	if (frame) {
		zoomTo(frame);
		hover(null);
	} else if (helpIsOpen() && !help.contains(event.target) && !head.contains(event.target)) {
		toggleHelp();
	}
});
svg.addEventListener('dblclick', function (event) {
	if (!frameOf(event) && !head.contains(event.target) && !help.contains(event.target))
		zoomTo(null);
});
