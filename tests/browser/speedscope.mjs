// SPDX-License-Identifier: BSD-2-Clause
// Opens what wick writes for speedscope with speedscope itself, the page of its npm package, and
// compares what that made of it with wick's own report. What it saves must come back as the same.
//
//	node speedscope.mjs WICK FILE...
//
// The last file has one thread, few functions, and counts as its main value: its table is read too.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, finish, openFile } from './lib/page.mjs';

const [, , wick, ...files] = process.argv;
const MAIN = 'the main value';
const folder = mkdtempSync(join(tmpdir(), 'speedscope-'));
const run = (...args) => execFileSync(wick, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
const index = fileURLToPath(new URL('node_modules/speedscope/dist/release/index.html', import.meta.url));
const opened = await openFile(index);
const { page, problems } = opened;

// Functions of all threads, each as "name|file", with what they cost by value: "self total". A file
// that is not known is the module, as in the export.
class Costs {
	#sums = new Map();

	add(value, name, file, self, total) {
		const key = `${value}: ${name}|${file}`;
		const [selfSum, totalSum] = this.#sums.get(key) ?? [0, 0];
		this.#sums.set(key, [selfSum + self, totalSum + total]);
	}

	text() {
		return [...this.#sums].filter(([, [, total]]) => total !== 0).map(([key, sums]) => `${key} ${sums.join(' ')}`).sort().join('\n');
	}
}

// The main value is called MAIN: its name is not in the format.
function reportOf(file) {
	const costs = new Costs();
	const report = JSON.parse(run('report', '--format', 'json', file));
	const all = (report.values ?? [report.value]).filter(({ name }) => name !== 'samples' || report.value.name === 'samples');
	const values = all.map(({ name }) => name);
	for (const value of values)
		for (const row of JSON.parse(run('report', '--format', 'json', '--value', value, file)).rows)
			costs.add(value === report.value.name ? MAIN : value, row.name, row.file || row.module, row.self, row.total);
	return { values: values.map((name) => (name === report.value.name ? MAIN : name)), text: costs.text(),
		totals: all.map(({ total }) => total) };
}

// What speedscope has made of a file, as it saves it: when frames open and close.
function replay(document, report) {
	const costs = new Costs();
	const totals = report.values.map(() => 0);
	for (const profile of document.profiles) {
		const value = report.values.find((name) => profile.name.endsWith(`): ${name}`)) ?? MAIN;
		const open = [];
		let last = profile.startValue;
		totals[report.values.indexOf(value)] += profile.endValue - profile.startValue;
		for (const { type, frame, at } of profile.events) {
			const keys = new Set();
			open.forEach(({ name, file = '' }, i) => {
				const isNew = !keys.has(`${name}|${file}`); // recursion counts once
				keys.add(`${name}|${file}`);
				costs.add(value, name, file, i === open.length - 1 ? at - last : 0, isNew ? at - last : 0);
			});
			if (type === 'O')
				open.push(document.shared.frames[frame]);
			else
				open.pop();
			last = at;
		}
	}
	return { text: costs.text(), totals };
}

async function load(path) {
	await page.goto('about:blank');
	await page.goto(opened.file);
	await page.setInputFiles('input[type=file]', path);
	await page.waitForFunction(() => document.title !== 'speedscope');
}

async function save(path) {
	const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Control+s')]);
	await download.saveAs(path);
	return JSON.parse(readFileSync(path, 'utf8'));
}

for (const file of files) {
	const name = basename(file);
	const [written, saved] = [join(folder, `${name}.json`), join(folder, `${name}.saved.json`)];
	const report = reportOf(file);
	run('export', '--format', 'speedscope', file, '-o', written);
	await load(written);
	const document = await save(saved);
	const read = replay(document, report);
	check(`${name}: speedscope reads it without complaint`, problems.length === 0, problems.join('; '));
	check(`${name}: all values are there`, read.totals.join() === report.totals.join(), `${read.totals} is not ${report.totals}`);
	check(`${name}: functions cost what wick reports`, read.text === report.text && read.text !== '', `${read.text}\nis not\n${report.text}`);
	const back = reportOf(saved);
	check(`${name}: wick reads what speedscope saves`, back.text === report.text, `${back.text}\nis not\n${report.text}`);
}

// The rows of its "sandwich": total and self with their shares, name.
await page.keyboard.press('3');
const table = await page.waitForFunction(() => {
	const rows = [...document.querySelectorAll('tr')].map((row) => [...row.children].map((cell) => cell.textContent));
	const head = rows.findIndex((cells) => cells.join() === 'Total,Self,Symbol Name');
	return head >= 0 && rows.length > head + 1 && rows.slice(head + 1);
});
const number = (text) => Number(text.replace(/,| .*/g, ''));
const shown = (await table.jsonValue()).map(([total, self, name]) => `${name} ${number(total)} ${number(self)}`);
const rows = JSON.parse(run('report', '--format', 'json', files.at(-1))).rows.map((row) => `${row.name} ${row.total} ${row.self}`);
check('its table shows the same numbers', shown.sort().join('\n') === rows.sort().join('\n'), `${shown} is not ${rows}`);
rmSync(folder, { recursive: true });
opened.requests = opened.requests.filter((url) => !url.startsWith('file:'));
await finish(opened);
