// The list of reports: filters by what the reports have in common, and files that are dropped on the page.
const rows = [...document.querySelectorAll('tbody tr')];
const filters = [...document.querySelectorAll('select[data-by]')];
const search = document.getElementById('search');
const status = document.getElementById('status');

for (const filter of filters) {
  const counts = new Map();
  for (const row of rows) {
    const value = row.dataset[filter.dataset.by];
    counts.set(value, (counts.get(value) || 0) + 1);
  }
  for (const [value, count] of [...counts].sort((a, b) => b[1] - a[1])) {
    const option = document.createElement('option');
    option.value = value;
    option.textContent = (value || 'not known') + ' (' + count + ')';
    filter.append(option);
  }
  filter.addEventListener('change', show);
}
search.addEventListener('input', show);

function show() {
  const words = search.value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const fits = filters.every((filter) => filter.selectedIndex === 0 || row.dataset[filter.dataset.by] === filter.value);
    row.hidden = !fits || (words !== '' && !row.textContent.toLowerCase().includes(words));
    if (!row.hidden) shown++;
  }
  status.textContent = shown === rows.length ? '' : shown + ' of ' + rows.length + ' reports';
}

// The program on this machine reads a dropped file; it goes nowhere else.
async function read(files) {
  for (const file of files) {
    status.textContent = 'reading ' + file.name;
    const answer = await fetch('report', { method: 'POST', body: file }).catch(() => null);
    const text = answer ? await answer.text() : 'loopbox does not answer: it has ended';
    if (answer && answer.ok) location.href = text;
    else status.textContent = file.name + ': ' + text;
  }
}
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => { event.preventDefault(); read(event.dataTransfer.files); });
document.getElementById('file').addEventListener('change', (event) => read(event.target.files));
