'use strict';
// An app of a programmer: it logs in at the sandbox by REST v2, and plays a stream that the gate protects.
const sandbox = document.querySelector('meta[name=sandbox]').content;
const provider = 'SANDBOX', mvpd = 'Sandbox', resource = 'LIVE', stream = '/live/index.m3u8';
const kept = sessionStorage;
const element = id => document.getElementById(id);
const api = path => `${sandbox}/api/v2/${provider}/${path}`;
let lastToken = null, playing = 0, shown = 0;

function say(text, isGood) {
  element('state').textContent = text;
  element('state').className = isGood === undefined ? '' : isGood ? 'good' : 'bad';
}

async function json(url, options) {
  const answer = await fetch(url, options);
  // The sandbox was started anew, or a day has passed: the next call fetches a new bearer token.
  if (answer.status === 401 && url.startsWith(sandbox)) delete kept.bearer;
  return {status: answer.status, ...await answer.json().catch(() => ({}))};
}

/** The header fields of a call, with a bearer token that is fetched first where there is none. */
async function headers(more = {}) {
  if (!kept.device) kept.device = crypto.randomUUID();
  if (!kept.bearer) {
    const client = await json(`${sandbox}/o/client/register`, {
      method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({software_statement: 'sandbox.demo.app'})});
    const form = new URLSearchParams({client_id: client.client_id, client_secret: client.client_secret, grant_type: 'client_credentials'});
    kept.bearer = (await json(`${sandbox}/o/client/token`, {method: 'POST', body: form})).access_token;
  }
  return {'Authorization': `Bearer ${kept.bearer}`, 'AP-Device-Identifier': `fingerprint ${btoa(kept.device)}`, ...more};
}

async function logIn() {
  const form = new URLSearchParams({mvpd, domainName: location.hostname, redirectUrl: location.href});
  const session = await json(api('sessions'), {method: 'POST', headers: await headers(), body: form});
  if (session.actionName === 'authorize') return say('You are logged in already.', true);
  location.href = sandbox + session.url;
}

async function isLoggedIn() {
  const answer = await json(api(`profiles/${mvpd}`), {headers: await headers()});
  return Boolean(answer.profiles && answer.profiles[mvpd]);
}

async function play() {
  const answer = await json(api(`decisions/authorize/${mvpd}`), {
    method: 'POST', headers: await headers({'Content-Type': 'application/json'}), body: JSON.stringify({resources: [resource]})});
  const decision = (answer.decisions || [answer])[0];
  if (!decision.token) return say(`Not authorized: ${(decision.error || decision).code}`, false);
  lastToken = decision.token.serializedToken;
  await exchange(lastToken);
}

/** Exchanges the token for the cookie that opens the stream, and plays it. */
async function exchange(token) {
  if (!token) return say('There is no token yet: press Play first.', false);
  const answer = await json(`/v1/play?path=${stream}`, {method: 'POST', headers: {'Content-Type': 'text/plain'}, body: token});
  if (answer.status !== 200) return say(`Refused: ${answer.code}. ${answer.detail || ''}`, false);
  say(`Playing: ${answer.code}`, true);
  await watch();
}

/** Shows one segment per second until the stream ends, or another play begins. */
async function watch() {
  const own = ++playing;
  const list = await (await fetch(stream)).text();
  for (const name of list.split('\n').filter(line => line && !line.startsWith('#'))) {
    const segment = await fetch(`/live/${name}`);
    if (own !== playing) return;
    if (!segment.ok) return say(`The stream ended: ${segment.status}`, false);
    URL.revokeObjectURL(element('screen').src);
    element('screen').src = URL.createObjectURL(await segment.blob());
    element('screen').alt = `Segment ${name} of the stream`;
    await new Promise(done => setTimeout(done, 1000));
  }
}

async function logOut() {
  const answer = await json(api(`logout/${mvpd}?redirectUrl=${encodeURIComponent(location.href)}`), {headers: await headers()});
  playing++;
  const logout = answer.logouts && answer.logouts[mvpd];
  if (logout && logout.url) location.href = sandbox + logout.url;
  else say('Nobody was logged in.');
}

/** Adds the calls that have come since the last look. */
async function showCalls() {
  const calls = await (await fetch('/calls')).json();
  for (const call of calls.filter(call => call.number > shown)) {
    shown = call.number;
    const row = document.createElement('tr');
    const answer = [`${call.status} ${call.code}`, call.status < 400 ? 'good' : 'bad'];
    for (const [text, style] of [[call.number], [call.side], [`${call.method} ${call.path}`, 'path'], answer]) {
      const cell = document.createElement('td');
      cell.textContent = text;
      if (style) cell.className = style;
      row.append(cell);
    }
    element('rows').append(row);
    if (element('rows').childElementCount > 200) element('rows').firstElementChild.remove();
    element('calls').scrollTop = element('calls').scrollHeight;
  }
}

/** Runs what a button asks for, and shows a failure in words. */
function on(id, action) {
  element(id).addEventListener('click', async () => {
    try { await action(); } catch (error) { say(`${error}`, false); }
  });
}

on('login', logIn);
on('play', play);
on('again', () => exchange(lastToken));
on('logout', logOut);
isLoggedIn().then(known => say(known ? 'You are logged in: press Play.' : 'Nobody is logged in.'), error => say(`${error}`, false));
setInterval(() => showCalls().catch(() => {}), 500);
