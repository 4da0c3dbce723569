// What all parts of the page share: the report, formatting of times, and creation of elements.
const R = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);

// An element with properties, then children: nodes or texts. Texts never become markup.
function el(name, props, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(props || {})) {
    if (key === 'class') node.className = value;
    else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null));
  return node;
}

// `1 message`, `2 messages`.
const plural = (count, what) => count + ' ' + what + (count === 1 ? '' : 's');

function duration(ms) {
  if (ms == null) return 'unknown';
  const abs = Math.abs(ms);
  if (abs < 9.95) return ms.toFixed(1) + ' ms';
  if (abs < 999.5) return ms.toFixed(0) + ' ms';
  if (abs < 99995) return (ms / 1e3).toFixed(2) + ' s';
  const sign = ms < 0 ? '−' : '', s = Math.round(abs / 1e3), two = (n) => String(Math.floor(n)).padStart(2, '0');
  if (s < 3600) return sign + Math.floor(s / 60) + ' min ' + two(s % 60) + ' s';
  if (s < 86400) return sign + Math.floor(s / 3600) + ' h ' + two(s % 3600 / 60) + ' min';
  return sign + Math.floor(s / 86400) + ' d ' + two(s % 86400 / 3600) + ' h';
}
// How long a message took, or at most took.
const took = (message) => (message.at_most ? 'at most ' : '') + duration(message.wall_ms);
const relative = (ms) => Math.abs(ms) < 1e6 ? (Math.abs(ms) < 0.5 ? '' : ms < 0 ? '−' : '+') + (Math.abs(ms) / 1e3).toFixed(3) + ' s' : duration(ms);
const clock = (ms) => R.report.dumped_at.unix_ms == null ? '' :
  new Date(R.report.dumped_at.unix_ms + ms).toISOString().slice(11, 23) + ' UTC';
// The running message, or what ran outside of messages.
const NOW = R.current.state === 'running' || R.current.state === 'outside' ? R.current : null;
const outsideText = (c) => 'outside of messages' + (c.place ? ', in ' + c.place : '');
const messageText = (token, message) => '#' + token + ' ' + (message ? message.text : '(unnamed)');
const shortClass = (name) => name.split('.').pop();
const methodShort = (name) => name.split('.').slice(-2).join('.');
// A short name of a message: the method of the app that its stacks name it by, the class of its callback,
// or the class of its handler and its `what`; an activity and its steps.
const messageShort = (m) => m.by_stacks ? m.by_stacks.split(' or ').map(methodShort).join(' or ') : messageOfLooper(m);
const messageOfLooper = (m) => m.lifecycle ? (shortClass(m.target) || 'Activity') + ' ' + m.lifecycle.filter((step) => step !== 'other').join(', ') :
  (m.callback ? shortClass(m.callback) : shortClass(m.target) + (m.what_name ? ' ' + m.what_name : m.what != null && m.what !== 0 ? ' ' + m.what : '')) +
  (m.named_by === 'peek' ? ' (by peek)' : '');
const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(part / whole < 0.1 ? 1 : 0) + ' %' : '';

const KINDS = {
  group: 'messages, each short', single: 'a separate message', idle: 'idle, or busy outside of messages',
  frozen: 'frozen process or device asleep', unseen: 'unseen: another library had taken the hook out, or the app had paused the recorder', running: 'the running message', outside: 'busy outside of messages', unknown: 'unknown',
};

// The colours of the style sheet, read again when the colour scheme changes.
let paint = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  paint = new Proxy({}, { get: (cache, name) => cache[name] ??= style.getPropertyValue('--' + name).trim() });
}
readColours();
const redraws = [];
function redrawAll() { readColours(); redraws.forEach((draw) => draw()); }
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
addEventListener('resize', redrawAll);
// Paper is white, and shows what is folded on the screen.
matchMedia('print').addEventListener('change', (print) => {
  for (const folded of document.querySelectorAll('details')) {
    if (print.matches) { folded.dataset.was = folded.open; folded.open = true; } else folded.open = folded.dataset.was === 'true';
  }
  redrawAll();
});

// Fits a canvas to its element and the screen's resolution; returns its context in CSS pixels.
function prepare(canvas, height) {
  const width = canvas.clientWidth, scale = devicePixelRatio || 1;
  if (height) canvas.style.height = height + 'px';
  const high = height || canvas.clientHeight;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(high * scale);
  const ctx = canvas.getContext('2d');
  ctx.scale(scale, scale);
  ctx.clearRect(0, 0, width, high);
  ctx.font = '12px system-ui, sans-serif';
  ctx.textBaseline = 'middle';
  return [ctx, width, high];
}

// The start of a text, as far as it fits.
function fit(ctx, text, width) {
  if (width < 24) return '';
  if (ctx.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (ctx.measureText(text.slice(0, mid) + '…').width <= width) low = mid; else high = mid - 1;
  }
  return low > 1 ? text.slice(0, low) + '…' : '';
}
