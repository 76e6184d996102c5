'use strict';
// An app of a programmer: it logs in at the sandbox by REST v2, and plays a stream that the gate protects.
const sandbox = document.querySelector('meta[name=sandbox]').content;
const provider = 'SANDBOX', stream = '/live/index.m3u8';
const kept = sessionStorage;
const element = id => document.getElementById(id);
const api = path => `${sandbox}/api/v2/${provider}/${path}`;
/** The TV provider; a test card is chosen by the end of its name. */
const mvpd = () => element('card').value ? `Sandbox:${element('card').value}` : element('mvpd').value || 'Sandbox';
let lastToken = null, playing = 0, shown = 0, loggedIn = false;

/** A button that can do nothing now is disabled. */
function follow() {
  element('login').disabled = loggedIn;
  element('logout').disabled = !loggedIn;
  element('again').disabled = lastToken === null;
}

/** Ends what plays, and darkens the screen. */
function stop(why) {
  playing++;
  URL.revokeObjectURL(element('screen').src);
  element('screen').removeAttribute('src');
  element('screen').alt = why;
}

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
  const form = new URLSearchParams({mvpd: mvpd(), domainName: location.hostname, redirectUrl: location.href});
  const session = await json(api('sessions'), {method: 'POST', headers: await headers(), body: form});
  if (session.actionName === 'authorize') loggedIn = true, follow();
  if (session.actionName === 'authorize') return say('You are logged in already.', true);
  location.href = sandbox + session.url;
}

/** Looks whether the viewer is logged in with the MVPD that is chosen. */
async function look() {
  const answer = await json(api(`profiles/${encodeURIComponent(mvpd())}`), {headers: await headers()});
  loggedIn = Boolean(answer.profiles && answer.profiles[mvpd()]);
  follow();
  say(loggedIn ? 'You are logged in: press Play.' : 'Nobody is logged in.');
}

/** Fills the lists of MVPDs and test cards from the sandbox's configuration. */
async function choose() {
  const answer = await json(api('configuration'), {headers: await headers()});
  for (const {id, displayName} of (answer.requestor || {mvpds: []}).mvpds) {
    const card = id.split(':')[1];
    const option = new Option(card || displayName, card || id);
    element(card ? 'card' : 'mvpd').append(option);
  }
  for (const id of ['mvpd', 'card']) if (kept[id]) element(id).value = kept[id];
}

async function play() {
  const answer = await json(api(`decisions/authorize/${encodeURIComponent(mvpd())}`), {
    method: 'POST', headers: await headers({'Content-Type': 'application/json'}), body: JSON.stringify({resources: [element('resource').value]})});
  const decision = (answer.decisions || [answer])[0];
  if (!decision.token) {
    stop('Nothing plays: not authorized');
    return say(`Not authorized: ${(decision.error || decision).code || `HTTP ${answer.status}`}`, false);
  }
  lastToken = decision.token.serializedToken;
  follow();
  await exchange(lastToken);
}

/** What the viewer has to do after a refusal, by the action that the gate names. */
const whatToDo = {
  'new-token': 'Press Play, which fetches a new token.',
  'new-login': 'Log in again.',
  'wait': 'Wait a little, then press Play.',
  'fix-request': 'This page has sent a request that the gate does not understand.',
  'operator': 'The gate’s operator has to look at it.',
};

/** Exchanges the token for the cookie that opens the stream, and plays it. */
async function exchange(token) {
  if (!token) return say('There is no token yet: press Play first.', false);
  const answer = await json(`/v1/play?path=${stream}`, {method: 'POST', headers: {'Content-Type': 'text/plain'}, body: token});
  if (answer.status !== 200) {
    stop('Nothing plays: the gate refused the token');
    return say(`Refused: ${answer.code}. ${answer.detail || ''} ${whatToDo[answer.action] || ''}`, false);
  }
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
  const answer = await json(api(`logout/${encodeURIComponent(mvpd())}?redirectUrl=${encodeURIComponent(location.href)}`), {headers: await headers()});
  stop('Nothing plays: logged out');
  loggedIn = false;
  follow();
  const logout = answer.logouts && answer.logouts[mvpd()];
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
      if (style === 'path') {
        const button = document.createElement('button');
        button.textContent = text;
        button.addEventListener('click', () => showDetails(call, row));
        cell.replaceChildren(button);
      }
      row.append(cell);
    }
    element('rows').append(row);
    if (element('rows').childElementCount > 200) element('rows').firstElementChild.remove();
    element('calls').scrollTop = element('calls').scrollHeight;
  }
}

/** The text of a token in an answer or a request, which is Base64 as the sandbox sends it; empty if there is none. */
function tokenIn(text) {
  const found = text.match(/PHNpZ25hdHVyZUluZm8[A-Za-z0-9+/=]+/);
  try { return found ? atob(found[0]) : ''; } catch { return ''; }
}

/** Shows a call: as a line of curl, what was sent and answered, and the token in it. */
function showDetails(call, row) {
  for (const other of element('rows').children) other.removeAttribute('aria-selected');
  row.setAttribute('aria-selected', 'true');
  const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;
  const origin = call.side === 'gate' ? location.origin : sandbox;
  const type = call.type ? ` -H ${quoted(`Content-Type: ${call.type}`)}` : '';
  const body = call.method === 'POST' ? `${type} --data-raw ${quoted(call.sent)}` : '';
  const pretty = text => { try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; } };
  const parts = [
    ['As curl', `curl -i${body} ${quoted(origin + call.target)}`], ['Sent', call.sent], ['Answer', `${call.status} ${call.code}\n${pretty(call.answer)}`],
    ['The token in it', tokenIn(call.answer) || tokenIn(call.sent)]];
  element('details').replaceChildren(...parts.filter(([, text]) => text).flatMap(([title, text]) => {
    const [head, block] = [document.createElement('h3'), document.createElement('pre')];
    [head.textContent, block.textContent, block.tabIndex] = [title, text, 0];
    return [head, block];
  }));
  element('details').hidden = false;
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
for (const id of ['mvpd', 'card']) element(id).addEventListener('change', () => {
  kept[id] = element(id).value;
  look().catch(error => say(`${error}`, false));
});
follow();
choose().then(look).catch(error => say(`${error}`, false));
setInterval(() => showCalls().catch(() => {}), 500);
