// Stack trees: an icicle in order of time, or merged, heaviest path to the left.
const frameName = (f) => { const [c, m] = R.frames[f]; return (R.strings[c] ? R.strings[c] + '.' : '') + R.strings[m]; };
const frameShort = (f) => { const [c, m] = R.frames[f]; const k = R.strings[c].split('.').pop(); return (k ? k + '.' : '') + R.strings[m]; };
function frameFull(f) {
  const [, , file, line, pc, kind] = R.frames[f];
  const place = kind === 2 || kind === 3 ? 'Native method' : line >= 0 ? (R.strings[file] || 'line') + ':' + line : pc >= 0 ? 'dex pc 0x' + pc.toString(16) : '';
  return frameName(f) + (place ? '(' + place + ')' : '');
}

// Nodes with times in milliseconds after the start of the message; parents before children.
function timedNodes(tree) {
  const at = [];
  let sum = 0;
  for (const gap of tree.gaps_us) at.push((sum += gap) / 1e3);
  const nodes = [], spine = [];
  for (let i = 0; i < tree.nodes.length; i += 4) {
    const [frame, depth, begin, count] = tree.nodes.slice(i, i + 4);
    const node = { frame, depth, from: at[begin], to: at[begin + count], own: 0, parent: depth ? spine[depth - 1] : null, samples: count };
    node.total = node.own = node.to - node.from;
    if (node.parent) node.parent.own -= node.total;
    spine[depth] = node;
    nodes.push(node);
  }
  return { nodes, from: at[0] ?? 0, to: at[at.length - 1] ?? 0, samples: Math.max(at.length - 1, 0) };
}

function mergedNodes(timed) {
  const roots = [], to = new Map(), deep = new Map();
  for (const node of timed.nodes) {
    const parent = node.parent ? to.get(node.parent) : null, list = parent ? parent.children : roots;
    const key = frameName(node.frame);
    if (parent && parent.key === key) {
      // A method that calls itself is one node, and its time is in it already.
      parent.own += node.own;
      const calls = (deep.get(node.parent) || 1) + 1;
      deep.set(node, calls);
      parent.calls = Math.max(parent.calls, calls);
      to.set(node, parent);
      continue;
    }
    let merged = list.find((other) => other.key === key);
    if (!merged) list.push(merged = { key, frame: node.frame, depth: parent ? parent.depth + 1 : 0, calls: 1, total: 0, own: 0, samples: 0, parent, children: [] });
    merged.total += node.total; merged.own += node.own; merged.samples += node.samples;
    to.set(node, merged);
  }
  const nodes = [], place = (list, from) => {
    list.sort((a, b) => b.total - a.total);
    for (const node of list) {
      node.from = from; node.to = from += node.total;
      nodes.push(node);
      place(node.children, node.from);
    }
  };
  place(roots, timed.from);
  return { nodes, from: timed.from, to: timed.from + roots.reduce((sum, node) => sum + node.total, 0), samples: timed.samples };
}

const stacks = (() => {
  const canvas = $('flame'), ROW = 19;
  if (!R.trees.length) {
    $('stacks-section').replaceChildren(el('h2', {}, 'Stacks'), el('p', { class: 'help' }, 'No stack tree is in this report.'));
    return { open: () => {}, state: () => null };
  }
  let tree = null, chart = null, mode = 'time', focus = null, selected = null, search = '', width = 1;
  const KIND = ['app', 'platform', 'native', 'native', 'other', 'other'];

  function title(t) {
    if (typeof t.token !== 'number') return t.title;
    if (R.current.state === 'running' && R.current.token === t.token) return messageText(t.token, R.current.message) + ', running at the dump';
    for (const record of R.history) for (const detail of record.details) if (detail.token === t.token) return messageText(t.token, detail.message) + ', ' + took(detail);
    return 'message #' + t.token;
  }
  for (const t of R.trees) $('tree').prepend(el('option', { value: t.token }, title(t)));

  const range = () => focus ? [focus.from, focus.to] : [chart.from, chart.to];
  const inFocus = (node) => { for (let up = focus; up; up = up.parent) if (up === node) return true; return false; };
  function box(node) {
    const [from, to] = range(), scale = width / Math.max(to - from, 1e-9);
    const left = Math.max((node.from - from) * scale, 0), right = Math.min((node.to - from) * scale, width);
    return [left, node.depth * ROW + 1, right - left];
  }
  const times = (node) => node.calls > 1 ? ' ×' + node.calls : '';
  const found = (node) => search && frameFull(node.frame).toLowerCase().includes(search);

  function draw() {
    if (!chart) return;
    let ctx;
    const rows = chart.nodes.reduce((most, node) => Math.max(most, node.depth + 1), 1);
    [ctx, width] = prepare(canvas, rows * ROW + 2);
    for (const node of chart.nodes) {
      const [x, y, w] = box(node);
      if (w < 0.4) continue;
      const hit = found(node);
      ctx.globalAlpha = (search && !hit) || (focus && inFocus(node) && node !== focus) ? 0.45 : 1;
      ctx.fillStyle = hit ? paint.found : paint[KIND[R.frames[node.frame][5]]];
      ctx.fillRect(x, y, Math.max(w - 0.6, 0.4), ROW - 1.5);
      ctx.globalAlpha = 1;
      if (w > 30) {
        ctx.fillStyle = hit ? '#fff' : paint['flame-ink'];
        ctx.fillText(fit(ctx, frameShort(node.frame) + times(node), w - 8), x + 4, y + ROW / 2);
      }
      if (node === selected) {
        ctx.strokeStyle = paint.ink; ctx.lineWidth = 2;
        ctx.strokeRect(x + 1, y + 1, Math.max(w - 3, 2), ROW - 3);
        ctx.lineWidth = 1;
      }
    }
    const hits = search ? chart.nodes.filter((node) => found(node) && !hasFoundCaller(node)) : [];
    const sum = hits.reduce((total, node) => total + node.total, 0);
    $('stacks-about').textContent = tree.source === 'java_api' || tree.source === 'art' ?
      plural(chart.samples, 'stack') + ' over ' + duration(chart.to - chart.from) + (tree.source === 'art' ? ', taken through ART' : ', by Thread.getStackTrace') +
      (tree.interval_ms ? ', asked each ' + duration(tree.interval_ms) : '') + (tree.missed_samples ? ', ' + tree.missed_samples + ' missed' : '') +
      (tree.longest_stop_ms ? ', main stopped for at most ' + tree.longest_stop_ms.toFixed(2) + ' ms' : '') +
      (search ? ' — found in ' + duration(sum) + ' (' + percent(sum, chart.to - chart.from) + ')' : '') :
      tree.source === 'system_trace' ? 'one stack, by the system’s trace: its length says nothing of time' : '';
  }
  function hasFoundCaller(node) { for (let up = node.parent; up; up = up.parent) if (found(up)) return true; return false; }
  redraws.push(draw);

  function choose(node, scroll) {
    selected = node;
    draw();
    const whole = chart.to - chart.from;
    $('frame').replaceChildren(...(node ? [el('strong', {}, frameFull(node.frame) + times(node)), el('dl', {},
      el('dt', {}, 'total'), el('dd', {}, duration(node.total) + ' (' + percent(node.total, whole) + ')'),
      el('dt', {}, 'self'), el('dd', {}, duration(Math.max(node.own, 0)) + ' (' + percent(Math.max(node.own, 0), whole) + ')'),
      ...(mode === 'time' ? [el('dt', {}, 'from'), el('dd', {}, '+' + (node.from / 1e3).toFixed(3) + ' s after the start of the message')] : []),
      el('dt', {}, 'samples'), el('dd', {}, String(node.samples)))] : []));
    if (node && scroll) $('flame-box').scrollTop = Math.max(0, node.depth * ROW - $('flame-box').clientHeight / 2);
  }
  function zoomTo(node) { focus = node; choose(node); }

  function rebuild() {
    const timed = timedNodes(tree);
    chart = mode === 'merged' ? mergedNodes(timed) : timed;
    focus = selected = null;
    choose(null);
  }
  function open(token) {
    tree = R.trees.filter((t) => t.token === token).pop() || R.trees[R.trees.length - 1];
    $('tree').value = String(tree.token);
    rebuild();
  }
  function at(event) {
    const depth = Math.floor((event.offsetY - 1) / ROW);
    return chart.nodes.find((node) => {
      if (node.depth !== depth) return false;
      const [x, , w] = box(node);
      return w >= 0.4 && event.offsetX >= x && event.offsetX <= x + w;
    }) || null;
  }
  canvas.addEventListener('click', (event) => { const node = at(event); if (node) zoomTo(node); });
  canvas.addEventListener('pointermove', (event) => { const node = at(event); canvas.title = node ? frameFull(node.frame) + '\n' + duration(node.total) : ''; });
  canvas.addEventListener('keydown', (event) => {
    const heaviest = (nodes) => nodes.reduce((most, node) => !most || node.total > most.total ? node : most, null);
    const peers = selected ? chart.nodes.filter((node) => node.depth === selected.depth) : [];
    const keys = {
      ArrowDown: () => choose(selected ? heaviest(chart.nodes.filter((node) => node.parent === selected)) || selected : chart.nodes[0], true),
      ArrowUp: () => choose(selected?.parent || selected, true),
      ArrowLeft: () => choose(peers[peers.indexOf(selected) - 1] || selected, true),
      ArrowRight: () => choose(peers[peers.indexOf(selected) + 1] || selected || chart.nodes[0], true),
      Enter: () => selected && zoomTo(selected),
      Escape: () => zoomTo(null),
    };
    if (keys[event.key] && !event.ctrlKey && !event.altKey && !event.metaKey) { event.preventDefault(); keys[event.key](); }
  });
  $('tree').addEventListener('change', () => open(R.trees.find((t) => String(t.token) === $('tree').value)?.token));
  $('unzoom').addEventListener('click', () => zoomTo(null));
  $('search').addEventListener('input', () => { search = $('search').value.trim().toLowerCase(); draw(); });
  for (const button of document.querySelectorAll('[data-mode]')) {
    button.addEventListener('click', () => {
      mode = button.dataset.mode;
      document.querySelectorAll('[data-mode]').forEach((other) => other.setAttribute('aria-pressed', String(other === button)));
      rebuild();
    });
  }
  open(R.current.token ?? R.trees[R.trees.length - 1].token);
  return { open, state: () => ({ token: tree.token, mode, nodes: chart.nodes.length, focus: focus && frameName(focus.frame), selected: selected && frameName(selected.frame) }) };
})();

function openStacks(token) {
  stacks.open(token);
  $('stacks-section').scrollIntoView({ block: 'start' });
  $('flame').focus({ preventScroll: true });
}
