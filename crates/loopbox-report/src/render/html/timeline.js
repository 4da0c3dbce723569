// Past, present and pending on one axis of time; 0 is the dump.
const timeline = (() => {
  const canvas = $('timeline');
  const items = R.history.map((record) => ({
    record, kind: record.kind, from: record.at_ms, to: record.at_ms + record.wall_ms, cpu: record.cpu_ms, wall: record.wall_ms,
  }));
  if (NOW) {
    const c = NOW;
    items.push({ current: c, kind: c.state, from: c.at_ms, to: c.at_ms + c.age_ms, cpu: c.cpu_ms, wall: c.age_ms });
  }
  const due = R.pending.messages.map((waiting, i) => ({ waiting, at: R.pending.captured_at_ms + (waiting.due_in_ms ?? 0), i }));
  // The newest display frames: each stands from its frame time until the next one replaces it.
  const shown = R.display_frames ? R.display_frames.recent.map((frame, i) => ({
    frame, why: R.display_frames.why[i], from: frame.at_ms, to: frame.at_ms + frame.duration_ms,
  })) : [];
  // An outer message comes before those of a loop that it runs, which are drawn over it.
  const named = R.history.flatMap((record) => record.details).sort((a, b) => a.at_ms - b.at_ms || b.wall_ms - a.wall_ms);
  const around = [];
  const depths = named.map((detail) => {
    // Times are cut to whole microseconds.
    while (around.length && around[around.length - 1] <= detail.at_ms + 0.002) around.pop();
    return around.push(detail.at_ms + detail.wall_ms) - 1;
  });
  // A frozen gap or a message that is due in an hour would squeeze all else, so the first view leaves them out.
  const ends = items.map((item) => item.to).concat(due.map((d) => d.at).filter((at) => at < 10000), [0]);
  const first = Math.min(-1000, ...items.map((item) => item.from), ...shown.map((item) => item.from)), last = Math.max(...ends);
  const all = [first - (last - first) * 0.01, last + (last - first) * 0.02];
  let view = all.slice(), selected = -1, width = 1;
  const px = (ms) => (ms - view[0]) / (view[1] - view[0]) * width;
  const ms = (x) => view[0] + x / width * (view[1] - view[0]);
  const LANES = { axis: 18, main: 24, mainHigh: 40, cpu: 66, cpuHigh: 24, details: 98, detailsHigh: 22, due: 130, dueHigh: 22, frames: 162, framesHigh: 26 };
  const marks = R.breadcrumbs, end = shown.length ? LANES.frames + LANES.framesHigh : LANES.due + LANES.dueHigh;
  LANES.marks = end + 10;
  LANES.marksHigh = 16;
  const HIGH = marks.length ? LANES.marks + LANES.marksHigh + 8 : end + (shown.length ? 10 : 12);

  function colour(item) {
    if (item.kind === 'single') return item.wall >= 1000 ? paint.long : paint.single;
    return { group: paint.group, idle: paint.idle, frozen: paint.frozen, unseen: paint.unseen, running: paint.now, outside: item.current ? paint.now : paint.single }[item.kind] || paint.idle;
  }

  function step(span) {
    for (const s of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5]) {
      if (span / s <= width / 90) return s;
    }
    return span / Math.max(1, Math.floor(width / 90));
  }

  function draw() {
    let ctx, high;
    [ctx, width, high] = prepare(canvas, HIGH);
    const L = LANES, by = step(view[1] - view[0]);
    ctx.strokeStyle = paint.line;
    ctx.fillStyle = paint.soft;
    for (let t = Math.ceil(view[0] / by) * by; t <= view[1]; t += by) {
      const x = Math.round(px(t)) + 0.5;
      ctx.beginPath(); ctx.moveTo(x, L.axis); ctx.lineTo(x, high); ctx.stroke();
      const label = Math.abs(t) < 1e-6 ? 'dump' : by < 1000 ? (t < 0 ? '−' : '+') + Math.abs(t / 1e3).toFixed(by < 10 ? 3 : 2) + ' s' :
        (t < 0 ? '−' : '+') + Math.abs(t / 1e3).toFixed(0) + ' s';
      ctx.fillText(label, x + 3 + ctx.measureText(label).width > width ? x - 3 - ctx.measureText(label).width : x + 3, 9);
    }
    let drawnTo = -1e9;
    items.forEach((item, i) => {
      const x = px(item.from), w = px(item.to) - x;
      if (x > width || x + w < 0) return;
      if (w < 0.3 && x < drawnTo && i !== selected) return; // thousands of records on one pixel
      const left = Math.max(x, -5), wide = Math.max(Math.min(x + w, width + 5) - left, 1);
      drawnTo = left + wide;
      ctx.fillStyle = colour(item);
      ctx.fillRect(left, L.main, wide > 2 ? wide - 0.5 : wide, L.mainHigh);
      if (item.cpu != null && item.wall > 0) {
        const share = Math.min(item.cpu / item.wall, 1);
        ctx.fillStyle = paint.idle;
        ctx.fillRect(left, L.cpu, wide > 2 ? wide - 0.5 : wide, L.cpuHigh);
        ctx.fillStyle = paint.cpu;
        ctx.fillRect(left, L.cpu + L.cpuHigh * (1 - share), wide > 2 ? wide - 0.5 : wide, L.cpuHigh * share);
      }
      if (wide > 34 && item.kind !== 'idle') {
        const message = item.current ? item.current.message : item.kind === 'single' ? item.record.details[0]?.message : null;
        const name = message ? messageShort(message) : item.current?.state === 'outside' ? outsideText(item.current) : item.current ? 'running #' + item.current.token :
          item.kind === 'group' ? item.record.count + '×' : item.kind;
        ctx.fillStyle = item.current ? paint['now-ink'] : paint['block-ink'];
        ctx.fillText(fit(ctx, name, wide - 8), left + 4, L.main + 12);
        ctx.fillText(fit(ctx, duration(item.wall), wide - 8), left + 4, L.main + 29);
      }
      if (i === selected) {
        ctx.strokeStyle = paint.ink; ctx.lineWidth = 2;
        ctx.strokeRect(left + 1, L.main + 1, Math.max(wide - 2, 2), L.mainHigh - 2);
        ctx.lineWidth = 1;
      }
    });
    named.forEach((detail, i) => {
      const x = px(detail.at_ms), w = Math.max(px(detail.at_ms + detail.wall_ms) - x, 1.5);
      if (x > width || x + w < 0) return;
      const down = Math.min(depths[i], 2) * 5, left = Math.max(x, -5), wide = Math.min(x + w, width + 5) - left;
      ctx.fillStyle = detail.wall_ms >= 300 ? paint.single : paint.detail;
      ctx.fillRect(left, L.details + down, wide, L.detailsHigh - down);
      if (down) { ctx.strokeStyle = paint.line; ctx.strokeRect(left + 0.5, L.details + down + 0.5, Math.max(wide - 1, 0.5), L.detailsHigh - down); }
      if (detail.has_tree) { ctx.fillStyle = paint.now; ctx.fillRect(left, L.details + L.detailsHigh, wide, 2); }
      if (wide > 40 && detail.message) {
        ctx.fillStyle = detail.wall_ms >= 300 ? paint['block-ink'] : paint['detail-ink'];
        ctx.fillText(fit(ctx, messageShort(detail.message), wide - 6), left + 3, L.details + 11 + down / 2);
      }
    });
    for (const d of due) {
      const x = px(d.at);
      if (x < -2 || x > width + 2) continue;
      ctx.fillStyle = d.waiting.barrier != null ? paint.barrier : (d.waiting.due_in_ms ?? -1) < 0 ? paint.overdue : paint.future;
      ctx.fillRect(x - 1, L.due, 2.5, L.dueHigh);
    }
    shown.forEach((item) => {
      const x = px(item.from), w = px(item.to) - x;
      if (x > width || x + w < 0) return;
      // As high as it stood for refreshes, up to four.
      const dropped = item.frame.dropped, tall = L.framesHigh * Math.min(1 + dropped, 4) / 4, left = Math.max(x, -5);
      ctx.fillStyle = dropped === 0 ? paint.future : item.frame.duration_ms > 700 ? paint.long : paint.single;
      ctx.fillRect(left, L.frames + L.framesHigh - tall, Math.max(Math.min(x + w, width + 5) - left - (w > 4 ? 1 : 0), 1), tall);
      if (dropped && w > 40) {
        ctx.fillStyle = paint['block-ink'];
        ctx.fillText(fit(ctx, duration(item.frame.duration_ms), w - 6), left + 3, L.frames + L.framesHigh - tall / 2);
      }
    });
    marks.forEach((mark, i) => {
      const x = px(mark.at_ms);
      if (x < -200 || x > width + 2) return;
      ctx.fillStyle = paint.ink;
      ctx.fillRect(x - 1, L.marks, 2, L.marksHigh);
      const room = (i + 1 < marks.length ? Math.min(px(marks[i + 1].at_ms), width) : width) - x - 8;
      ctx.fillStyle = paint.soft;
      if (room > 24) ctx.fillText(fit(ctx, mark.name, room), x + 4, L.marks + L.marksHigh / 2);
    });
    if (!due.length) { ctx.fillStyle = paint.soft; ctx.fillText('nothing pending', 4, L.due + L.dueHigh / 2); }
    const zero = px(0);
    ctx.strokeStyle = paint.now;
    ctx.beginPath(); ctx.moveTo(zero, 0); ctx.lineTo(zero, high); ctx.stroke();
  }
  redraws.push(draw);

  function zoom(factor, atMs) {
    const span = Math.min(Math.max((view[1] - view[0]) * factor, 2), (all[1] - all[0]) * 1.5);
    const part = (atMs - view[0]) / (view[1] - view[0]);
    view = [atMs - span * part, atMs - span * part + span];
    draw();
  }
  const middle = () => selected >= 0 ? (items[selected].from + items[selected].to) / 2 : (view[0] + view[1]) / 2;
  function show(range) { view = range; draw(); }

  function select(i, follow) {
    selected = i;
    const item = items[i];
    if (item && follow && (item.to < view[0] || item.from > view[1])) {
      const span = view[1] - view[0], mid = (item.from + item.to) / 2;
      view = [mid - span / 2, mid + span / 2];
    }
    draw();
    $('details').replaceChildren(...(item ? describe(item) : []).filter(Boolean));
  }

  const stacksButton = (token) => R.trees.some((tree) => tree.token === token) ?
    el('button', { type: 'button', onclick: () => openStacks(token) }, typeof token === 'number' ? 'Stacks of #' + token : 'Its stacks') : null;

  function facts(rows) {
    return el('dl', {}, rows.filter((row) => row && row[1] != null && row[1] !== '').map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
  }

  function describe(item) {
    const share = item.cpu == null ? 'unknown' : duration(item.cpu) + (item.wall > 0 ? ' (' + percent(item.cpu, item.wall) + ')' : '');
    const head = item.current?.state === 'outside' ? 'Busy ' + outsideText(item.current) : item.current ? 'Running message #' + item.current.token : 'Record ' + item.record.seq + ': ' + (KINDS[item.kind] || item.kind);
    const when = ['when', relative(item.from) + ' to ' + relative(item.to) + (clock(item.from) ? ', from ' + clock(item.from) : '')];
    const r = item.record;
    if (!r) {
      const c = item.current;
      if (item.current?.state === 'outside') {
        return [el('strong', {}, head), facts([when, ['age', (c.at_most ? 'at most ' : '') + duration(item.wall)], ['CPU', share]]), stacksButton(c.token)];
      }
      return [el('strong', {}, head), facts([when, ['message', c.message ? c.message.text + ' (named by ' + c.message.named_by + ')' : 'its name is not known before it ends'],
        ['age', duration(item.wall)], ['before install', c.before_install_ms > 0 ? duration(c.before_install_ms) + ' of it: no stacks of that part' : null], ['CPU', share], c.depth > 1 ? ['nested', (c.depth - 1) + ' nested Looper.loop() calls'] : null]), stacksButton(c.token)];
    }
    return [el('strong', {}, head), facts([when, ['wall', duration(r.wall_ms)], r.count ? ['work', duration(r.work_ms) + ' in ' + r.count + ' messages from #' + r.first_token] : null,
      ['between messages', r.idle_ms > 0 ? duration(r.idle_ms) : null], ['CPU', r.count || r.cpu_ms != null ? share : null],
      ['slowest', r.slowest && r.count > 1 ? '#' + r.slowest.token + ', ' + took(r.slowest) : null],
      ['sampler woke late by', r.checktime_late_ms == null ? null : duration(r.checktime_late_ms)],
      ['without room', r.dropped_details ? r.dropped_details + ' more messages deserved a name' : null], r.closed ? null : ['state', 'still open at the dump']]),
      r.details.length ? el('div', { class: 'scroll' }, detailTable(r.details)) : null, r.details.length || !r.count ? null : stacksButton(r.first_token)];
  }

  const LABELS = [['main', LANES.main, LANES.mainHigh], ['CPU', LANES.cpu, LANES.cpuHigh], ['by name', LANES.details, LANES.detailsHigh], ['pending', LANES.due, LANES.dueHigh]];
  if (shown.length) LABELS.push(['frames', LANES.frames, LANES.framesHigh]);
  if (marks.length) LABELS.push(['app', LANES.marks, LANES.marksHigh]);
  $('lane-labels').append(...LABELS.map(([text, top, high]) => {
    const label = el('li', {}, text);
    label.style.top = top + 'px';
    label.style.lineHeight = high + 'px';
    return label;
  }));

  // What lies under the pointer, in one line: a pending message, a message by name, a breadcrumb, or what main did.
  function under(x, y) {
    const L = LANES;
    if (marks.length && y >= L.marks - 4) {
      const near = marks.filter((mark) => Math.abs(px(mark.at_ms) - x) < 6 || px(mark.at_ms) <= x).pop();
      return near ? 'breadcrumb ' + near.name + ', ' + relative(near.at_ms) + (near.clock ? ', ' + near.clock : '') : '';
    }
    if (y >= L.frames) {
      const item = shown.find((item) => px(item.from) <= x && x < Math.max(px(item.to), px(item.from) + 2));
      if (!item) return '';
      const f = item.frame, late = f.dropped ? ', ' + f.dropped + (f.dropped === 1 ? ' refresh' : ' refreshes') + ' too long' : ', in time';
      return 'frame of ' + f.scene + ', stood ' + duration(f.duration_ms) + ' of ' + duration(f.interval_ms) + late + (item.why ? ': ' + item.why : '');
    }
    if (y >= L.due) {
      const close = due.filter((d) => Math.abs(px(d.at) - x) < 5);
      const first = close[0]?.waiting;
      if (!first) return '';
      const what = first.message ? first.message.text : 'sync barrier ' + first.barrier;
      return what + ', due ' + (first.due_in_ms == null ? 'at the front' : relative(first.due_in_ms)) + (close.length > 1 ? ', and ' + (close.length - 1) + ' more' : '');
    }
    if (y >= L.details) {
      const near = (by) => named.filter((d) => px(d.at_ms) - by <= x && x < px(d.at_ms + d.wall_ms) + by).pop();
      const detail = near(0) || near(3);
      if (detail) return messageText(detail.token, detail.message) + ', ' + took(detail);
    }
    const item = items[nearest(x)];
    if (!item) return '';
    const share = item.cpu == null || !(item.wall > 0) ? '' : ', ' + percent(item.cpu, item.wall) + ' on the CPU';
    const name = item.current?.state === 'outside' ? 'busy ' + outsideText(item.current) : item.current ? messageText(item.current.token, item.current.message) + ', running' :
      item.kind === 'single' && item.record.details.length ? messageText(item.record.details[0].token, item.record.details[0].message) :
      item.kind === 'group' ? plural(item.record.count, 'message') : KINDS[item.kind] || item.kind;
    return name + ', ' + duration(item.wall) + share + ', from ' + relative(item.from);
  }
  function hover(event) {
    const tip = $('hover'), text = event && !pointers.size ? under(event.offsetX, event.offsetY) : '';
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const box = canvas.getBoundingClientRect(), room = document.documentElement.clientWidth;
    tip.style.left = Math.max(4, Math.min(box.left + event.offsetX + 12, room - tip.offsetWidth - 8)) + scrollX + 'px';
    tip.style.top = box.bottom + scrollY + 4 + 'px';
  }

  function nearest(x) {
    let best = -1, distance = 6;
    items.forEach((item, i) => {
      const away = Math.max(px(item.from) - x, x - px(item.to), 0);
      if (away < distance) { best = i; distance = away; }
    });
    return best;
  }

  // One pointer drags, two pointers zoom; a pointer that hardly moved is a click.
  const pointers = new Map();
  let moved = 0;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event.offsetX);
    if (pointers.size === 1) moved = 0;
  });
  canvas.addEventListener('pointerleave', () => hover(null));
  canvas.addEventListener('pointermove', (event) => {
    hover(event);
    const before = pointers.get(event.pointerId);
    if (before == null) return;
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
    if (others.length) {
      const apart = Math.abs(event.offsetX - others[0]), was = Math.abs(before - others[0]);
      if (apart > 8 && was > 8) zoom(was / apart, ms((event.offsetX + others[0]) / 2));
    } else {
      const by = (event.offsetX - before) / width * (view[1] - view[0]);
      show([view[0] - by, view[1] - by]);
    }
    moved += Math.abs(event.offsetX - before);
    pointers.set(event.pointerId, event.offsetX);
  });
  const release = (event) => {
    const was = pointers.delete(event.pointerId);
    if (was && event.type === 'pointerup' && moved < 4) select(nearest(event.offsetX));
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('wheel', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) {
      event.preventDefault();
      zoom(Math.exp((event.deltaY || event.deltaX) * 0.002), ms(event.offsetX));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const by = event.deltaX / width * (view[1] - view[0]);
      show([view[0] + by, view[1] + by]);
    }
  }, { passive: false });
  canvas.addEventListener('keydown', (event) => {
    const keys = {
      ArrowLeft: () => select(selected < 0 ? items.length - 1 : Math.max(selected - 1, 0), true),
      ArrowRight: () => select(Math.min(selected + 1, items.length - 1), true),
      Home: () => select(items.length ? 0 : -1, true), End: () => select(items.length - 1, true),
      '+': () => zoom(0.5, middle()), '=': () => zoom(0.5, middle()), '-': () => zoom(2, middle()), 0: () => show(all.slice()),
      Escape: () => select(-1),
      Enter: () => {
        const item = items[selected];
        const tokens = !item ? [] : item.current ? [item.current.token] : item.record.details.map((d) => d.token).concat(item.record.first_token);
        const token = tokens.find((t) => R.trees.some((tree) => tree.token === t));
        if (token != null) openStacks(token);
      },
    };
    const act = keys[event.key];
    if (act && !event.ctrlKey && !event.altKey && !event.metaKey) { event.preventDefault(); act(); }
  });
  document.querySelector('[data-zoom=frames]').hidden = !shown.length;
  for (const button of document.querySelectorAll('[data-zoom]')) {
    button.addEventListener('click', () => ({
      in: () => zoom(0.5, middle()), frames: () => show([shown[0].from - 20, shown[shown.length - 1].to + 20]), out: () => zoom(2, middle()), all: () => show(all.slice()),
      last: () => show([-10000, Math.min(Math.max(all[1], 300), 1000)]),
    })[button.dataset.zoom]());
  }
  const legend = [['group', 'group of short messages'], ['single', 'message of 300 ms or more'], ['long', 'of 1 s or more'], ['idle', 'idle'],
    ['frozen', 'frozen'], ['unseen', 'unseen'], ['now', 'running'], ['cpu', 'share of CPU time'], ['overdue', 'overdue'], ['future', 'due later'], ['barrier', 'sync barrier']]
    .concat(shown.length ? [['future', 'frame in time'], ['single', 'frame that stood too long'], ['long', 'frozen frame']] : []);
  $('legend').append(...legend.map(([name, label]) => {
    const swatch = el('i', {});
    swatch.style.background = 'var(--' + name + ')';
    return el('li', {}, swatch, label);
  }));
  draw();
  return {
    selectRecord: (seq) => { select(items.findIndex((item) => item.record?.seq === seq), true); canvas.scrollIntoView({ block: 'nearest' }); },
    state: () => ({ view: view.slice(), selected, items: items.length, frames: shown.length, breadcrumbs: marks.length }),
    selectRunning: () => select(items.findIndex((item) => item.current), true),
  };
})();
