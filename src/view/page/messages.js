// SPDX-License-Identifier: BSD-2-Clause
// In a frame of the web page: messages from and to the page around it (docs/design/web-page.md). A
// file that is opened alone sends nothing and listens to nobody.

const isFramed = window.parent !== window;
let updates = 0; // that came; the last one counts

// The frame does not know the origin of its page, and tells nothing that it does not know already.
function tellParent(message) {
	window.parent.postMessage(message, '*');
}

// Dark or light is the choice of the page around it, which can store it.
if (isFramed) {
	byId('title').classList.add('unseen'); // the page around it has one
	delete actions.t;
	keys.splice(keys.findIndex(function (key) { return key[0] === 't'; }), 1);
}

function tellState(text, isStep) {
	tellParent({ wick: 'state', text: text, isStep: isStep });
}

function tellReady() {
	tellParent({ wick: 'ready', boxes: graphPanes.reduce(function (sum, pane) { return sum + pane.node.length; }, 0) });
}

// The data of another profile: 4 bytes with the size of its JSON, the JSON, the packed columns.
function openData(data) {
	const size = new DataView(data).getUint32(0, true), told = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, size)));
	if (told.wick !== about.wick || told.page.pair !== compared)
		throw new Error('the data is for another page');
	return { told: told, packed: new Uint8Array(data, 4 + size) };
}

function takeUpdate(data) {
	const number = ++updates;
	return new Promise(function (done) { done(openData(data)); }).then(function (opened) {
		return unpackBytes(opened.packed).then(function (buffer) {
			if (number !== updates)
				return;
			update(opened.told, buffer);
			tellReady();
		});
	}).catch(function (problem) { tellParent({ wick: 'refused', reason: problem.message }); });
}

function talkToParent() {
	window.addEventListener('message', function (event) {
		if (event.source !== window.parent || !event.data)
			return;
		if (event.data.wick === 'restore') {
			restore(String(event.data.text));
			tellReady();
		} else if (event.data.wick === 'theme') {
			setTheme(event.data.theme);
		} else if (event.data.wick === 'update') {
			takeUpdate(event.data.data);
		}
	});
	tellReady();
}
