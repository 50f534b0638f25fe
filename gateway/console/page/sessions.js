// A session: what it did, as facts, and one after another.
import { ask } from './server.js'
import { event, requests } from './approvals.js'
import { byId, el, mono, plural, seen, timeAgo } from './text.js'

// mostNames bounds how many facts of a kind are shown, mostSteps how many steps of the timeline.
const mostNames = 50
const mostSteps = 300

// open shows the session of an id. Of one of which nothing is remembered the log may still tell something.
export async function open(id) {
  const shown = await ask('GET', `/v1/session-histories/${encodeURIComponent(id)}`).catch(async (error) => {
    if (error.status !== 404) throw error
    return { histories: [], said: error.message, ...await ask('GET', `/v1/decisions?limit=100&session=${encodeURIComponent(id)}`) }
  })
  byId('session-title').replaceChildren('Session ', mono(id))
  byId('session-body').replaceChildren(
    ...shown.said ? [el('p', { class: 'quiet' }, seen(shown.said))] : [],
    ...shown.histories.map(facts),
    timeline(shown))
  if (!byId('session').open) byId('session').showModal()
  byId('session-body').scrollTop = 0
}

const line = (name, ...value) => el('div', {}, el('dt', {}, name), el('dd', {}, value))

// names are some facts of a kind, the last ones.
function names(name, all) {
  if (!all?.length) return false
  const more = all.length - mostNames
  return line(name, all.slice(-mostNames).map((one, n) => [n ? ', ' : '', mono(one)]), more > 0 && ` and ${more} before`)
}

const counted = (all, unit = '') => Object.entries(all ?? {}).sort(([, a], [, b]) => a - b).map(([name, n]) => `${name} (${n}${unit})`)

const facts = ({ caller, last_used: used, history: h }) => el('section', { class: 'block' },
  el('h3', {}, 'What it did'),
  !h.complete && el('p', { class: 'loud' }, 'Facts are missing: there were too many, or their file was damaged.'),
  el('dl', {},
    line('by way of', mono(caller), ', last used ', timeAgo(used)),
    line('requests', `${h.requests.day} within a day, ${h.requests.hour} within an hour, ${h.run_seconds} s of running`),
    line('denials', `${h.denials.total}, the last ${h.denials.in_a_row} in a row`),
    h.files?.length > 0 && line('files', `${plural(h.files.length, 'file')} that it brought`),
    names('named hosts', h.hosts), names('reached', counted(h.reached, ' B sent')), names('credentials', h.credentials_read), names('variables', h.forwarded),
    names('findings', counted(h.findings)), names('approved by', counted(h.approved_by)), names('sub-agents', h.agents)))

// timeline is what happened and what was brought, the newest first.
function timeline({ histories, decisions }) {
  const files = histories.flatMap(({ history }) => (history.files ?? []).map((file) => ({ at: file.at, node: () => brought(file) })))
  const steps = [...files, ...requests(decisions).map((e) => ({ at: e.at, node: () => event(e) }))]
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return el('section', { class: 'timeline' }, el('h3', {}, 'One after another, the newest first'),
    steps.length > 0 ? el('ol', { class: 'rows' }, steps.slice(0, mostSteps).map(({ node }) => node())) : el('p', { class: 'quiet' }, 'The log tells nothing of it lately.'),
    steps.length > mostSteps && el('p', { class: 'quiet' }, `and ${steps.length - mostSteps} more, which “bailiff sessions show” has`))
}

const brought = (file) => el('li', { class: 'event' }, el('span', { class: 'badge plain' }, 'file'), el('code', { class: 'event-text' }, seen(file.path)),
  el('span', { class: 'event-about quiet' }, timeAgo(file.at), ' · ', seen(file.how.replaceAll('_', ' '))))
