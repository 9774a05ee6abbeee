// SPDX-License-Identifier: BSD-2-Clause
// What the programs that check the web page share: a server of their own, profiles in it, and a browser that
// notes whatever leaves the server's origin. BUILD is the folder of the build.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { check } from './page.mjs';

export const BUILD = process.argv[2];
export const wick = join(BUILD, 'wick');
export const PATIENCE_MS = 60000; // for what takes seconds on a machine that is not busy
const closers = [];

// Something that is closed at the end, the last one first.
export function later(close) {
	closers.push(close);
}

export async function closeAll() {
	while (closers.length)
		await closers.pop()();
}

export function skip(name, reason) {
	console.log(`skip ${name}: ${reason}`);
}

export function makeFolder() {
	const folder = mkdtempSync(join(tmpdir(), 'site-'));
	later(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

// Starts a program; line: what its first line of output must match.
export async function start(command, line, options = {}) {
	const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], ...options });
	let told = '', wrong = '';
	child.stderr.on('data', (data) => { wrong += data; });
	const ended = new Promise((done) => child.once('exit', done));
	later(async () => {
		if (child.exitCode === null && child.signalCode === null)
			child.kill('SIGTERM');
		await ended;
	});
	const found = line && await new Promise((done, fail) => {
		child.stdout.on('data', (data) => {
			told += data;
			const match = line.exec(told);
			if (match)
				done(match);
		});
		ended.then(() => fail(new Error(`${command.join(' ')} ended: ${told}${wrong}`)));
	});
	return { child, ended, found, errors: () => wrong };
}

// Why an agent cannot sample this machine; '': it can.
export function noSampling(folder) {
	try {
		execFileSync(wick, ['agent', '--once', '1s', '-o', join(folder, 'try.wick'), '--spool', join(folder, 'try')], { stdio: 'pipe' });
		return '';
	} catch (problem) {
		return String(problem.stderr || problem.message).trim().split('\n')[0];
	}
}

export async function startServer(folder, ...options) {
	const server = await start([wick, 'server', '--listen', '127.0.0.1:0', '--data', join(folder, 'data'), '--duckdb', join(BUILD, 'libduckdb.so'), ...options],
		/listening on (http\S*?)\/?,/);
	return { ...server, url: server.found[1] };
}

// Puts folded stacks into the store, as an application with labels sends them.
export async function ingest(url, service, labels, stacks, from, until, token) {
	const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(',');
	const query = new URLSearchParams({ name: `${service}{${pairs}}`, from, until, format: 'folded', sampleRate: '100', units: 'samples' });
	const answer = await fetch(`${url}/ingest?${query}`, { method: 'POST', body: stacks.join('\n') + '\n', headers: token ? { Authorization: `Bearer ${token}` } : {} });
	if (!answer.ok)
		throw new Error(`${answer.status} ${await answer.text()}`);
}

// A browser whose pages note script problems, dialogs and requests to anywhere but the server.
export async function openBrowser(url, viewport = { width: 1300, height: 850 }, options = {}) {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
	later(() => browser.close());
	const context = await browser.newContext({ viewport, acceptDownloads: true, ...options });
	const problems = [], elsewhere = [];
	context.on('page', (page) => {
		page.setDefaultTimeout(PATIENCE_MS);
		page.on('pageerror', (error) => problems.push(String(error)));
		// The page asks for lists that a source may not have, and whether there is a session.
		page.on('console', (message) => message.type() === 'error' && !/status of (401|404)/.test(message.text()) && problems.push(message.text()));
		page.on('dialog', (dialog) => { problems.push('dialog ' + dialog.message()); dialog.dismiss(); });
		page.on('request', (request) => !request.url().startsWith(url) && !/^(blob|data):/.test(request.url()) && elsewhere.push(request.url()));
	});
	const page = await context.newPage();
	return { browser, context, page, problems, elsewhere };
}

// The frame of the flame graph, once it shows something.
export async function flame(page) {
	const handle = await page.waitForSelector('.flame iframe');
	const frame = await handle.contentFrame();
	await frame.waitForFunction(() => window.wickPage && window.wickPage.boxes(0).length > 0);
	return frame;
}

// Ends a program: whether anything went wrong on the way.
export async function done({ problems, elsewhere }) {
	check('no script problems', problems.length === 0, problems.join('; '));
	check('nothing is loaded from elsewhere', elsewhere.length === 0, elsewhere.join(' '));
	await closeAll();
}
