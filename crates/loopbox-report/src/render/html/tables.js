// The report as tables, for screen readers, for searching in the page and for printing.
const cell = (text, kind) => el('td', { class: kind || '' }, text == null ? '' : text);

function table(heads, rows) {
  return el('table', {}, el('thead', {}, el('tr', {}, heads.map(([text, kind]) => text ? el('th', { class: kind || '', scope: 'col' }, text) : el('td')))), el('tbody', {}, rows));
}

function detailTable(details) {
  return table([['message'], ['from', 'num'], ['took', 'num'], ['waited', 'num'], ['', '']], details.map((d) => el('tr', {},
    cell(messageText(d.token, d.message) + (d.before_install_ms > 0 ? ', ' + duration(d.before_install_ms) + ' of it before the recorder was installed' : '') + (d.end === 'returned' ? '' : d.end === 'threw' ? ', threw an exception' : ', its end was not seen'), 'text'),
    cell(relative(d.at_ms), 'num'), cell(took(d), 'num' + (d.wall_ms >= 1000 ? ' late' : '')), cell(d.wait_ms == null ? '' : duration(d.wait_ms), 'num'),
    cell(d.has_tree ? el('button', { type: 'button', class: 'link', onclick: () => openStacks(d.token) }, 'stacks') : null))));
}

{
  const rows = [], left = R.breadcrumbs.slice();
  const breadcrumbs = (from) => {
    while (left.length && left[left.length - 1].at_ms >= from) {
      const b = left.pop();
      rows.push(el('tr', { class: 'sub' }, cell(''), cell(relative(b.at_ms), 'num'), cell(''), cell('breadcrumb: ' + b.name, 'text'), cell(''), cell(''), cell(b.clock || '', 'num')));
    }
  };
  for (const r of [...R.history].reverse()) {
    breadcrumbs(r.at_ms);
    const open = () => timeline.selectRecord(r.seq);
    const what = r.kind === 'single' && r.details.length ? messageText(r.details[0].token, r.details[0].message) :
      r.kind === 'group' ? plural(r.count, 'message') + (r.slowest ? ', slowest ' + took(r.slowest) : '') + (r.closed ? '' : ', still open') : KINDS[r.kind] || r.kind;
    rows.push(el('tr', { class: 'go', tabindex: 0, onclick: open, onkeydown: (event) => { if (event.key === 'Enter') open(); } },
      cell(String(r.seq), 'num'), cell(relative(r.at_ms), 'num'), cell(duration(r.wall_ms), 'num' + (r.kind === 'single' && r.wall_ms >= 1000 ? ' late' : '')), cell(what, 'text'),
      cell(r.cpu_ms != null ? duration(r.cpu_ms) : r.count ? '?' : '', 'num'), cell(r.checktime_late_ms == null ? '' : duration(r.checktime_late_ms), 'num' + (r.checktime_late_ms >= 300 ? ' late' : '')), cell(r.clock || '', 'num')));
    for (const d of r.kind === 'single' ? r.details.slice(1) : r.details) {
      rows.push(el('tr', { class: 'sub' }, cell(''), cell(relative(d.at_ms), 'num'), cell(took(d), 'num'), cell(messageText(d.token, d.message), 'text'), cell(''), cell(''), cell('')));
    }
  }
  breadcrumbs(-Infinity);
  $('history').append(rows.length ? el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'History, newest first' },
    table([['record', 'num'], ['from', 'num'], ['wall', 'num'], ['what, newest first'], ['CPU', 'num'], ['late', 'num'], ['clock (UTC)', 'num']], rows)) : el('p', { class: 'help' }, 'No record.'));

  const main = R.main_thread;
  if (main) {
    $('main-thread-section').hidden = false;
    const call = main.system_call, p = main.progress;
    $('main-thread').append(el('p', {}, el('strong', {}, 'main'), ' ' + (main.wait ? main.wait.text : main.doing) + ', as the kernel says'));
    if (call) $('main-thread').append(el('p', { class: 'help' }, 'in ' + (call.name || (call.number == null ? 'an unknown system call' : 'system call ' + call.number)) + '(' + call.arguments.map((value) => value == null ? '?' : value).join(', ') + ')' + (main.wchan ? ', sleeps in ' + main.wchan : '')));
    if (p) $('main-thread').append(el('p', { class: 'help' }, 'in the next ' + duration(p.over_ms) + ' it ran ' + duration(p.ran_ms) + ', waited ' + duration(p.waited_ms) + ' for a processor, had ' + plural(p.minor_faults + p.major_faults, 'page fault') + ', ' + p.major_faults + ' of them from disk'));
    if (main.native) {
      const place = (f) => f.file == null ? '' : ' at ' + f.file + (f.line == null ? '' : ':' + f.line);
      $('main-thread').append(el('pre', { tabindex: 0 }, main.native.frames.map((frame) => [frame.text, ...frame.functions.map((f) => '     ' + f.name + place(f) + (f.inlined ? ' (inlined)' : ''))].join('\n')).join('\n')));
    }
  }

  if (R.locks.waits.length) {
    $('locks-section').hidden = false;
    if (R.locks.deadlock) $('locks').append(el('p', { class: 'late' }, 'A deadlock: these threads wait for each other.'));
    if (R.locks.source === 'system_trace') $('locks').append(el('p', { class: 'help' }, 'By ART’s own trace of the ANR' + (R.report.reason.kind === 'system_trace' ? '.' : ', written a moment after the report.')));
    let waiter = 'main';
    for (const wait of R.locks.waits) {
      const h = wait.holder, ends = R.locks.source === 'join' && wait === R.locks.waits[0];
      $('locks').append(el('p', {}, el('strong', {}, waiter), ends ? ' waits for thread ' : ' waits for ' + wait.object + (h ? ', held by ' : ', which no thread holds'), h ? el('strong', {}, h.name) : null, h && h.tid != null ? ' (tid ' + h.tid + ')' : null, ends ? ' to end' : null));
      if (h && h.stack.length) $('locks').append(el('pre', { tabindex: 0 }, h.stack.map((frame) => 'at ' + frame).join('\n')));
      if (h) waiter = h.name;
    }
  }

  const p = R.pending;
  const read = p.messages.length ? plural(p.messages.length, 'message') : 'no message';
  const state = [p.whole ? read : p.total == null ? read + ' read, how many there are is not known' : p.messages.length + ' of ' + plural(p.total, 'message') + ' read',
    p.overdue ? p.overdue + ' overdue by up to ' + duration(p.most_overdue_ms) : p.messages.length ? p.whole ? 'none overdue' : 'none of these overdue' : '',
    p.polling == null ? '' : p.polling ? 'main was waiting for messages' : 'main was not waiting for messages', p.implementation ? p.implementation + ' queue' : '',
    p.tombstones ? p.tombstones + ' removed' : '', p.dropped_lines ? plural(p.dropped_lines, 'line') + ' not kept' : ''].filter(Boolean).join(', ');
  $('pending').append(el('p', { class: 'help' }, p.source === 'unavailable' ? 'Not known: ' + p.why : state));
  if (p.messages.length) {
    const rows = [], RUN = 3, same = (a, b) => JSON.stringify([a.message, a.barrier, a.object]) === JSON.stringify([b.message, b.barrier, b.object]);
    for (let at = 0, end; at < p.messages.length; at = end) {
      for (end = at + 1; end < p.messages.length && same(p.messages[at], p.messages[end]);) end++;
      const shown = end - at <= RUN + 1 ? end : at + RUN;
      for (let i = at; i < shown; i++) {
        const w = p.messages[i];
        rows.push(el('tr', {}, cell(String(i), 'num'), cell(w.due_in_ms == null ? 'at the front' : relative(w.due_in_ms), 'num' + (w.due_in_ms != null && w.due_in_ms <= -1000 ? ' late' : '')),
          cell((w.message ? w.message.text : 'sync barrier ' + w.barrier) + (w.asynchronous ? ', asynchronous' : '') + (w.object && w.object !== '…' ? ' — ' + w.object : ''), 'text')));
      }
      const last = p.messages[end - 1];
      if (shown < end) rows.push(el('tr', { class: 'sub' }, cell('… ' + (end - 1), 'num'), cell(last.due_in_ms == null ? '' : relative(last.due_in_ms), 'num'), cell((end - shown) + ' more of these', 'text')));
    }
    $('pending').append(el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Pending messages' }, table([['', 'num'], ['due', 'num'], ['message']], rows)));
  }
  for (const line of p.unread) $('pending').append(el('p', { class: 'help' }, 'not understood: ' + line));

  const trace = R.system_trace;
  if (trace) {
    $('trace-section').hidden = false;
    const note = (text) => $('trace').append(el('p', { class: 'warn' }, '⚠ ' + text));
    $('trace').append(el('p', {}, trace.subject || 'ART’s own trace of the ANR'), el('p', { class: 'help' }, 'of ' + plural(trace.threads, 'thread') + (trace.written_at ? ', written at ' + trace.written_at + ' of the device’s clock' : '')));
    for (const field of trace.fields) $('trace').append(el('p', { class: 'help' }, field.name + ': ' + field.value));
    if (!trace.of_art) note('ART did not answer: the system took native stacks itself');
    if (!trace.complete && trace.written_at) note('its end is missing');
    if (trace.apart) note('it is left aside: ' + trace.apart);
    if (trace.main) $('trace').append(el('p', {}, el('strong', {}, 'main'), ' ' + trace.main.state + (trace.main.wchan ? ', sleeps in ' + trace.main.wchan : '')), el('pre', { tabindex: 0 }, trace.main.lines.join('\n')));
  }

  const t = R.threads;
  if (t.threads.length) {
    $('threads-section').hidden = false;
    // As ART's trace shows it, with native frames and locks, or else as the recorder does.
    const lines = (thread) => thread.trace && thread.trace.lines.length ? thread.trace.lines : (thread.stack || []).map((frame) => 'at ' + frame);
    const doing = (thread) => thread.doing === 'unknown' && thread.trace ? thread.trace.state || thread.doing : thread.doing;
    const counted = (names) => [...new Set(names)].map((name) => [name, names.filter((other) => other === name).length]).map(([name, count]) => count > 1 ? name + ' (' + count + ' times)' : name);
    const asleep = t.threads.filter((thread) => !lines(thread).length);
    for (const thread of t.threads.filter((thread) => lines(thread).length)) {
      const first = thread.stack && thread.stack[0] || lines(thread)[0];
      $('threads').append(el('details', { class: 'card' }, el('summary', {}, el('strong', {}, thread.name), (thread.tid == null ? ' ' : ' (tid ' + thread.tid + ') ') + doing(thread) + (thread.cpu_ms == null ? '' : ', ' + duration(thread.cpu_ms) + ' of CPU') + ' — ' + first),
        el('pre', { tabindex: 0 }, lines(thread).join('\n'))));
    }
    if (asleep.length) $('threads').append(el('p', { class: 'help' }, 'Without a Java stack: ' + counted(asleep.map((thread) => thread.name.trim())).join(', ')));
    if (t.left_out) $('threads').append(el('p', { class: 'help' }, t.left_out + ' more are not in the report.'));
  }

  const list = (rows) => el('dl', {}, rows.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
  const l = R.report.limits;
  $('machine').append(el('div', { class: 'cols' },
    el('div', { class: 'card' }, list(R.features.map((f) => [f.name, el('span', {}, el('b', { class: f.on ? 'on' : 'off' }, f.on ? 'on' : 'off'), ' ' + f.detail)]).concat(
      [['limits', 'groups of ' + duration(l.group_ms) + ', names from ' + duration(l.detail_ms) + ', ' + l.slots + ' records, stacks from ' + duration(l.sample_onset_ms) + (l.sample_interval_ms ? ' each ' + duration(l.sample_interval_ms) : ', one of each message')]]))),
    el('div', { class: 'card' }, R.statistics.length ? list(R.statistics) : 'No statistics of the machine in this report.')));

  if (R.damage.length || R.lost.length) {
    $('damage-section').hidden = false;
    $('damage').append(el('div', { class: 'card scroll', tabindex: 0, role: 'region', 'aria-label': 'What is damaged or lost' }, el('ul', {}, R.lost.map((what) => el('li', {}, 'not recovered: ' + what)), R.damage.map((loss) => el('li', {}, (loss.offset == null ? '' : 'offset ' + loss.offset + ': ') + loss.what)))));
  }
  if (NOW) timeline.selectRunning();
}
// The state of the page, for tests.
window.loopbox = { timeline: timeline.state, stacks: stacks.state };
