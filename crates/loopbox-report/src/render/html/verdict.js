// The header of the report and the diagnosis.
{
  const p = R.report.process, r = R.report.reason;
  const why = r.kind === 'sigquit' ? "on SIGQUIT (the system's ANR signal)" :
    r.kind === 'recovered' ? 'recovered after the process was gone' + (r.crash_signal == null ? '' : ', signal ' + r.crash_signal) :
    r.kind === 'hang' ? 'because ' + (R.current.state === 'outside' ? 'main was busy outside of messages for longer' : 'a message ran longer') + ' than it may' :
    r.kind === 'requested' ? "on the app's request" + (r.words ? ': ' + r.words : '') : 'for an unknown reason';
  const about = [p.app_version, p.device, p.api_level ? 'API ' + p.api_level : '', p.abi, p.pid ? 'pid ' + p.pid : ''];
  $('about').append(
    el('h1', {}, p.name || 'unknown process'),
    el('p', { class: 'sub' }, about.filter(Boolean).join(' · ')),
    el('p', { class: 'sub' }, 'written ' + (R.report.dumped_at.utc || 'at an unknown time') + ', ' + why + ', by ' + (R.report.producer || 'an unknown recorder')),
    p.started_at_ms != null && p.started_at_ms <= p.installed_at_ms ?
      el('p', { class: 'sub' }, 'the recorder was installed ' + duration(p.installed_at_ms - p.started_at_ms) + ' after the process started') : '',
    ...R.report.annotations.map((note) => el('p', { class: 'sub' }, note.name + ': ' + note.value)));

  const v = R.verdict, sure = v.confidence;
  const evidence = (cause) => [
    el('ul', {}, cause.evidence.map((line) => el('li', {}, line))),
    cause.culprit ? el('p', {}, 'Look at ', el('strong', {}, cause.culprit)) : null,
    cause.advice ? el('p', { class: 'sub' }, cause.advice) : null,
    cause.token != null && R.trees.some((tree) => tree.token === cause.token) ?
      el('button', { type: 'button', onclick: () => openStacks(cause.token) }, 'Show its stacks') : null,
  ];
  const first = sure ? v.causes[0] : null, others = v.causes.slice(first ? 1 : 0);
  const card = el('div', { class: 'card verdict ' + (sure || '') },
    el('h2', {}, v.headline, sure ? el('span', { class: 'tag ' + sure }, sure + ' confidence') : null),
    first ? evidence(first) : null,
    v.caveats.map((line) => el('p', { class: 'warn' }, '⚠ ' + line)),
    others.length ? el('details', {}, el('summary', {}, others.length + ' more possible ' + (others.length > 1 ? 'causes' : 'cause')),
      others.map((cause) => [el('h3', {}, cause.title, el('span', { class: 'tag ' + cause.confidence }, cause.confidence)), evidence(cause)])) : null);
  $('verdict').append(card);
  if (R.anr.summary) {
    const severity = { confirmed: 'high', probable: 'high', hang: 'medium' }[R.anr.verdict] || '';
    $('verdict').append(el('div', { class: 'card anr', id: 'anr' },
      el('h2', {}, 'ANR: ' + R.anr.summary, el('span', { class: 'tag ' + severity }, R.anr.verdict)),
      el('ul', {}, R.anr.evidence.map((line) => el('li', {}, line)))));
  }
}
