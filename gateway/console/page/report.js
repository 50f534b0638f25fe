// The report: what the decision log tells of some days.
import { ask } from './server.js'
import { byId, el, seen, timeAgo } from './text.js'

// patience is longer than the sidecar reads its log for.
const patience = 130_000

const tools = () => [byId('report-days'), byId('report-again')]

let reading = null

// readReport has the log read, which may take a minute, and shows what came of it. One at a time: a second reading beside it would be
// refused, and its refusal be shown in place of the report.
export const readReport = () => { reading ??= read().finally(() => { reading = null }) }

async function read() {
  const about = byId('report-about')
  const focused = document.activeElement
  about.replaceChildren('Reading the decision log…')
  for (const tool of tools()) tool.disabled = true
  try {
    const { as_of: at, summary, tables } = await ask('GET', `/v1/report?days=${byId('report-days').value}`, undefined, patience)
    about.replaceChildren(...seen(summary), ' Made ', timeAgo(at), '.')
    byId('report').replaceChildren(...tables.map(section))
  } catch (error) {
    about.replaceChildren(...seen(error.message))
    byId('report').replaceChildren()
  } finally {
    for (const tool of tools()) tool.disabled = false
    if (tools().includes(focused) && document.activeElement === document.body) focused.focus()
  }
}

const isNumber = (text) => /^[\d.]+$/.test(text)

// The roles are said, since a phone shows a row as a list, and takes from a table what it is.
const section = ({ title, head, rows }) => el('section', { class: 'block' }, el('h3', {}, seen(title)),
  el('table', { role: 'table', 'aria-label': title },
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, head.map((name, n) => el('th', { role: 'columnheader', scope: 'col', class: isNumber(rows[0][n]) && 'number' }, seen(name))))),
    el('tbody', { role: 'rowgroup' }, rows.map((row) => el('tr', { role: 'row' }, row.map((text, n) => cell(text, n, head[n])))))))

const cell = (text, n, name) => n === 0
  ? el('th', { role: 'rowheader', scope: 'row' }, el('code', {}, seen(text)))
  : el('td', { role: 'cell', 'data-name': name, class: isNumber(text) ? 'number' : 'words' }, el('span', {}, seen(text)))
