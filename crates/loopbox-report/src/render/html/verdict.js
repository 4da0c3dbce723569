// What the verdict and the stack at the dump can do with a script: lead to the stacks, and be copied.
for (const place of document.querySelectorAll('[data-stacks]')) {
  const tree = R.trees.find((tree) => String(tree.token) === place.dataset.stacks);
  if (tree) place.replaceWith(el('button', { type: 'button', onclick: () => openStacks(tree.token) }, 'Show its stacks'));
}
for (const place of document.querySelectorAll('[data-copy]')) {
  const text = $(place.dataset.copy);
  const copy = async (event) => {
    const button = event.target;
    // A page that was opened from a file may have no clipboard: then the text is selected.
    getSelection().selectAllChildren(text);
    const done = navigator.clipboard ? await navigator.clipboard.writeText(text.textContent).then(() => true, () => false) : document.execCommand('copy');
    button.textContent = done ? 'Copied' : 'Selected';
  };
  place.append(el('button', { type: 'button', onclick: copy }, 'Copy'));
}
