// SPDX-License-Identifier: BSD-2-Clause
// A server with tokens: the login, a wrong token, one that expires, the way out; scripts never see the token.
//
//	node site_login.mjs BUILD [SCREENSHOT-FOLDER]
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { boxes } from './lib/html.mjs';
import { check } from './lib/page.mjs';
import { done, flame, ingest, makeFolder, openBrowser, startServer, wick } from './lib/site.mjs';

const folder = makeFolder();
const add = (access, name, ...options) => execFileSync(wick, ['token', 'add', access, '--name', name, '--data', join(folder, 'data'), ...options],
	{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
const read = add('read', '<img src=http://evil.test/token onerror=alert(1)>'), admin = add('admin', 'boss'), write = add('write', 'agents');
const server = await startServer(folder);
const now = Math.floor(Date.now() / 1000);
await ingest(server.url, 'shop', {}, ['main;parse 100'], now - 30, now - 20, write);

const opened = await openBrowser(server.url);
const { page, context } = opened;
const shot = async (name) => process.argv[3] && page.screenshot({ path: `${process.argv[3]}/${name}.png` });
const link = `${server.url}/#/service/shop?from=-15m`;
const token = () => page.waitForSelector('.login input');

async function logIn(text) {
	await (await token()).fill(text);
	await page.keyboard.press('Enter');
}

await page.goto(link);
check('without a token there is the login', await (await token()).getAttribute('type') === 'password');
check('and nothing else', await page.$$eval('iframe, .list', (all) => all.length) === 0);
await shot('login');
await logIn('wick_wrong');
await page.waitForSelector('.login .problem');
check('a wrong token is refused with words', /token/i.test(await page.innerText('.login .problem')), await page.innerText('.login .problem'));
await shot('wrong');
await logIn(read);
check('a token leads to what the link says', (await boxes(await flame(page))).some((box) => box.name === 'parse') && page.url() === link, page.url());
check('the token is not in the document, nor where scripts can read it', await page.evaluate((text) => !document.documentElement.outerHTML.includes(text) &&
	!document.cookie.includes('wick_') && !JSON.stringify({ ...localStorage, ...sessionStorage }).includes(text), read));
const cookies = await context.cookies();
check('it is in a cookie for this server alone', cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === 'Strict' && cookies[0].path === '/', JSON.stringify(cookies.map((each) => ({ ...each, value: '' }))));
await page.reload();
await flame(page);
check('it is still there after loading again', await page.$$eval('.login', (all) => all.length) === 0);

// Another page in the same browser has no access.
const other = await context.newPage();
await other.route('http://other.test/**', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>other</title>' }));
await other.goto('http://other.test/');
check('another site learns nothing', await other.evaluate((url) => fetch(`${url}/api/services`, { credentials: 'include' }).then(() => 'read', () => 'refused'), server.url) === 'refused');
check('and cannot frame the page', await other.evaluate((url) => new Promise((told) => {
	const frame = document.createElement('iframe');
	frame.src = url;
	frame.addEventListener('load', () => told(frame.contentDocument === null));
	document.body.append(frame);
}), server.url));
await other.close();
opened.elsewhere.length = opened.problems.length = 0; // those of the other site

// The way out
await page.click('button:text-is("Log out")');
await token();
check('after logging out the cookie is gone', (await context.cookies()).length === 0);
check('and so is the graph', await page.$$eval('iframe', (all) => all.length) === 0);

// A token that is revoked, or expires, while somebody looks
await logIn(admin);
await flame(page);
execFileSync(wick, ['token', 'revoke', 'boss', '--data', join(folder, 'data')], { stdio: 'ignore' });
server.child.kill('SIGHUP');
for (let status = 200; status === 200;) // until the server has read its tokens again
	status = (await fetch(`${server.url}/api/services`, { headers: { Authorization: `Bearer ${admin}` } })).status;
await page.click('#places a');
await token();
check('a token that is not valid any more leads to the login', await page.$$eval('.list', (all) => all.length) === 0);
await shot('expired');
await logIn(write);
await page.waitForSelector('.problem, .login .problem');
check('a token that may not read is refused with words', (await page.innerText('.problem')).length > 10, await page.innerText('body'));
opened.problems = opened.problems.filter((text) => !/status of 40[13]/.test(text));
await done(opened);
