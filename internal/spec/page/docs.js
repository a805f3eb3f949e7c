// The script of the pages at /docs: search, copy buttons, the reader's key, trying requests.
// Without it, the pages can be read and their commands copied by hand.

const $ = (id) => document.getElementById(id);
const make = (tag, props = {}) => Object.assign(document.createElement(tag), props);

// The key is in the session storage of this tab and nowhere else.
const slot = 'dray.docs.key';
const keyForm = /^[\w-]{8,200}$/; // nothing that a shell would interpret
let key = stored();

function stored() {
  const found = sessionStorage.getItem(slot) ?? '';
  return keyForm.test(found) ? found : '';
}

function setKey(text) {
  key = text;
  if (key) sessionStorage.setItem(slot, key);
  else sessionStorage.removeItem(slot);
  showKey();
}

const marks = [...document.querySelectorAll('pre.shell var')].map((v) => [v, v.textContent]);
function showKey() {
  for (const [v, name] of marks) v.textContent = key || name;
  $('key-open').textContent = key ? 'Your key ✓' : 'Your key';
}

// Copy buttons, and "Try it" next to commands that read something.
for (const pre of document.querySelectorAll('main pre')) {
  const code = pre.querySelector('code');
  const box = make('div', { className: 'block' });
  pre.replaceWith(box);
  const tools = make('span', { className: 'tools' });
  const copy = make('button', { type: 'button', textContent: 'Copy' });
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent).then(
      () => (copy.textContent = 'Copied'),
      () => getSelection().selectAllChildren(code), // the browser denied access to the clipboard
    );
    setTimeout(() => (copy.textContent = 'Copy'), 1500);
  });
  if (pre.dataset.try) {
    const open = make('button', { type: 'button', textContent: 'Try it' });
    open.setAttribute('aria-expanded', 'false');
    open.addEventListener('click', () => tryIt(open, box, pre.dataset.try));
    tools.append(open);
  }
  tools.append(copy);
  pre.prepend(tools);
  box.append(pre);
}

// tryIt shows a form that sends a GET request, with the reader's key or, without one, as
// the person who is signed in to the dashboard.
function tryIt(button, box, path) {
  const shown = button.getAttribute('aria-expanded') === 'true';
  button.setAttribute('aria-expanded', String(!shown));
  if (shown) return box.querySelector('.try').remove();
  const form = make('form', { className: 'try' });
  const input = make('input', { value: path, spellcheck: false, required: true });
  input.setAttribute('aria-label', 'Path of the request');
  const out = make('pre', { className: 'json', tabIndex: 0, hidden: true });
  const status = make('p');
  status.setAttribute('role', 'status');
  form.append(input, make('button', { className: 'button', textContent: 'Send' }), status, out);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    let url = null;
    try {
      url = new URL(input.value, location.origin);
    } catch {
      // The message below says what is valid.
    }
    if (url?.origin !== location.origin || !url.pathname.startsWith('/api/v2/')) {
      status.textContent = 'The path begins with /api/v2/.';
      return;
    }
    if (/\$[A-Z]/.test(input.value)) {
      status.textContent = 'Replace the names that begin with $ with IDs of your records.';
      return;
    }
    status.textContent = 'Sending…';
    try {
      const headers = key ? { Authorization: `Basic ${btoa(`${key}:`)}` } : {};
      const response = await fetch(url, { headers, credentials: key ? 'omit' : 'same-origin', cache: 'no-store' });
      const text = await response.text();
      status.textContent = `${response.status} ${response.statusText}`;
      if (response.status === 401 && !key) status.textContent += ': set your key at the top of the page, or sign in to the dashboard.';
      out.textContent = readable(text);
      out.hidden = out.textContent === '';
    } catch {
      status.textContent = 'The server cannot be reached.';
    }
  });
  box.append(form);
  input.focus();
}

const most = 100_000; // characters of a response that are shown
function readable(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {} // it is not JSON
  return shown.length > most ? `${shown.slice(0, most)}\n…` : shown;
}

// The dialog of the key.
const dialog = $('key');
$('key-open').hidden = false;
$('key-open').addEventListener('click', () => {
  $('key-text').value = key;
  $('key-problem').textContent = '';
  dialog.showModal();
  void askPerson();
});
$('key-text').addEventListener('input', () => ($('key-problem').textContent = ''));
$('key-use').addEventListener('click', (event) => {
  const text = $('key-text').value.trim();
  if (keyForm.test(text)) return setKey(text);
  event.preventDefault();
  $('key-problem').textContent = 'This is not an API key: a key has letters, digits and underscores only.';
});
$('key-drop').addEventListener('click', () => {
  setKey('');
  dialog.close();
});
$('key-make').addEventListener('click', async () => {
  const response = await fetch('/api/v2/apiKeys', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Dray-Request': '1' },
    body: JSON.stringify({ name: 'API reference' }),
  }).catch(() => null);
  const made = await response?.json().catch(() => null);
  if (!response?.ok) {
    $('key-problem').textContent = made?.message?.message ?? 'The server cannot be reached.';
    return;
  }
  setKey(made.key);
  $('key-text').value = key;
  $('key-person').textContent = 'The key “API reference” is created. Revoke it on the dashboard when you do not need it any more.';
});

// askPerson offers to create a key if the reader is signed in to the dashboard. It cannot
// offer existing keys, because the server stores only their hashes.
async function askPerson() {
  const state = await fetch('/account/v1/state').then((r) => r.json(), () => ({}));
  if (!state.signedIn) return;
  const me = await fetch('/account/v1/me').then((r) => r.json(), () => ({}));
  const manages = me.type === 'super' && !me.isReadOnly;
  $('key-person').textContent = `You are signed in as ${me.name}. Requests that you try here work without a key.`;
  $('key-make').hidden = !manages;
}

// Search.
const search = $('search');
const results = $('results');
search.hidden = false;
let entries;
search.addEventListener('focus', () => {
  entries ??= fetch('/docs/search.json').then((r) => r.json(), () => []);
});
search.addEventListener('input', find);
search.addEventListener('keydown', (event) => {
  const options = [...results.children];
  const at = options.findIndex((o) => o.ariaSelected === 'true');
  if (event.key === 'ArrowDown') select(options, Math.min(at + 1, options.length - 1));
  else if (event.key === 'ArrowUp') select(options, Math.max(at - 1, 0));
  else if (event.key === 'Enter') options[Math.max(at, 0)]?.click();
  else if (event.key !== 'Escape') return;
  if (event.key === 'Escape' || event.key === 'Enter') {
    search.value = '';
    show([]);
  }
  event.preventDefault();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (event.target.closest('input, textarea')) return;
  event.preventDefault();
  search.focus();
});
document.addEventListener('click', (event) => {
  if (!event.target.closest('.find')) show([]);
});

async function find() {
  entries ??= fetch('/docs/search.json').then((r) => r.json(), () => []);
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = await entries;
  if (words.length === 0) return show([]);
  const scored = [];
  for (const entry of all) {
    const title = entry.t.toLowerCase();
    const rest = `${entry.k} ${entry.a ?? ''}`.toLowerCase();
    let score = entry.k === 'Object' ? -1 : 0; // operations, which refer to objects, come first
    const fits = words.every((word) => {
      const inTitle = title.indexOf(word);
      score += inTitle === 0 ? 4 : inTitle > 0 ? 3 : 1;
      return inTitle >= 0 || rest.includes(word);
    });
    if (fits) scored.push([score, entry]);
  }
  scored.sort((a, b) => b[0] - a[0]);
  show(scored.slice(0, 12).map(([, entry]) => entry), true);
}

function show(found, searched = false) {
  results.replaceChildren(
    ...found.map((entry, i) => {
      const option = make('a', { id: `result-${i}`, href: entry.p, tabIndex: -1 });
      option.setAttribute('role', 'option');
      option.append(make('b', { textContent: entry.t }), make('span', { textContent: entry.k }));
      option.addEventListener('click', () => show([]));
      return option;
    }),
  );
  const open = found.length > 0;
  results.hidden = !open;
  search.ariaExpanded = String(open);
  search.removeAttribute('aria-activedescendant');
  search.classList.toggle('none', searched && !open);
  if (open) select([...results.children], 0);
}

function select(options, at) {
  options.forEach((o, i) => (o.ariaSelected = String(i === at)));
  const chosen = options[at];
  if (!chosen) return;
  chosen.scrollIntoView({ block: 'nearest' });
  search.setAttribute('aria-activedescendant', chosen.id);
}

// hashTarget returns the element that the URL names, or null, also if its hash is invalid.
function hashTarget() {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    return null;
  }
}

// A link to an object opens its description. On a phone, a link in the contents closes them.
function arrive() {
  const target = hashTarget();
  const details = target?.closest('details');
  if (details) details.open = true;
  // Content above the target is laid out only when it comes near, which moves the target.
  let left = 8;
  const settle = () => {
    target.scrollIntoView();
    if (--left > 0) requestAnimationFrame(settle);
  };
  if (target) settle();
}
addEventListener('hashchange', arrive);
document.querySelector('.contents').addEventListener('click', (event) => {
  if (event.target.closest('a')) $('menu').checked = false;
});

showKey();
arrive();
