// What commands changed in projects, and how a person has it back.
import { ask } from './server.js'
import { el, mono, plural, seen, timeAgo } from './text.js'

// mostFiles, mostLines and mostText bound what is shown of one command.
const mostFiles = 200
const mostLines = 400
const mostText = 65_536

const at = (id) => `/v1/changes/${encodeURIComponent(id)}`

export const read = (id) => ask('GET', `${at(id)}?patch=true`)
export const undo = (id, force) => ask('POST', `${at(id)}/undo`, { force })

// may is whether this person may see what commands changed, and undo it.
export async function may() {
  try {
    await ask('GET', '/v1/changes?session=none')
    return true
  } catch (error) {
    if (error.status === 403 || error.status === 404) return false
    throw error
  }
}

const lines = (c) => c.added < 0 ? 'no text' : `+${c.added} −${c.removed}`

const files = (all) => el('ul', { class: 'plain' }, all.slice(0, mostFiles).map((c) => el('li', {}, mono(c.path),
  el('span', { class: 'quiet' }, ` ${c.kind} ${lines(c)}`, c.whose && [', by ', seen(c.whose)]))),
all.length > mostFiles && el('li', { class: 'quiet' }, `and ${all.length - mostFiles} more`))

const folder = (f) => [
  el('div', {}, mono(f.folder), !f.known && ' – what changed is not known: there is no snapshot after it',
    f.known && !f.changes.length && ' – nothing changed'),
  files(f.changes),
  f.unkept?.length > 0 && el('div', { class: 'quiet' }, `${plural(f.unkept.length, 'file or folder', 'files and folders')} not kept: `,
    f.unkept.slice(0, 5).map((u, n) => [n ? ', ' : '', mono(u.path)])),
  f.earlier && el('details', {}, el('summary', {}, `Before it, since ${new Date(f.earlier.since).toLocaleString()}: ${plural(f.earlier.changes.length, 'file')}, by `,
    seen(f.earlier.whose)), files(f.earlier.changes)),
]

function difference({ patch, patch_cut: isCut }) {
  if (!patch) return false
  const all = patch.slice(0, mostText).split('\n')
  const more = isCut || patch.length > mostText || all.length > mostLines
  return el('pre', { class: 'code short', tabindex: '0', 'aria-label': 'The difference' },
    all.slice(0, mostLines).map((line) => [el('span', { class: { '+': 'came', '-': 'went' }[line[0]] }, seen(line, true)), '\n']),
    more && 'The difference is longer than that; “bailiff changes ID --diff” has more.')
}

// panel is what one command changed; undo is what its button does.
export const panel = (of, undo) => el('div', { class: 'changes' }, of.folders.map(folder), difference(of),
  of.folders.some((f) => f.changes.length) && el('div', { class: 'buttons' },
    el('button', { class: 'button no', 'data-live': true, 'data-act': `undo-${of.command.id}`, on: { click: undo } }, 'Undo…')))

// list names files in a question.
export const list = (names) => el('ul', { class: 'listed' }, names.slice(0, mostFiles).map((name) => el('li', {}, mono(name))),
  names.length > mostFiles && el('li', { class: 'quiet' }, `and ${names.length - mostFiles} more`))

export const about = ({ command, folders }) => [el('p', {}, 'Each file that ', mono(command.text.slice(0, 200)), ' ', timeAgo(command.time),
  ' changed is made what it was before. A file that changed since is left.'), list(folders.flatMap((f) => f.changes.map((c) => c.path)))]
