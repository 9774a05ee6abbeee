// SPDX-License-Identifier: BSD-2-Clause
// The data in the file: how the recording was made as JSON, the rest compressed
// (view/page/shared/page_file.h).

const byId = function (id) { return document.getElementById(id); };
let about = JSON.parse(byId('about').textContent);

function bytesOf(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text);
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

function unpack(id) {
	const source = byId(id);
	const packed = bytesOf(source.textContent);
	source.remove(); // frees its text
	return unpackBytes(packed);
}

function unpackBytes(packed) {
	return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}
