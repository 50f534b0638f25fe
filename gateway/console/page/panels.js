// The views beside the approvals: grants, sandboxes, the system, and the banners.
import { sessionButton } from './approvals.js'
import { ago, clock, countdown, el, mono, plural, seen, timeAgo } from './text.js'

const card = (title, about, action) => el('li', { class: 'card' }, el('div', { class: 'card-main' }, el('div', { class: 'card-title' }, title), el('div', { class: 'quiet' }, about)), action)

// grant is one grant; revoke is what its button does.
export const grant = (g, revoke) => card(
  [el('span', { class: `badge ${g.scope === 'always' ? 'wait' : 'plain'}` }, g.scope), ' ', mono(g.user), ' on ', seen(g.platform), ', ', mono(g.backend)],
  [
    g.match && el('div', {}, 'pattern ', mono(g.match), ', until the policies change'),
    (g.pairs ?? []).length > 0 && el('ul', { class: 'plain' }, g.pairs.map((pair) => el('li', {}, mono(pair.rule), pair.match && [' on ', mono(pair.match)]))),
    g.session && el('div', {}, 'session ', mono(g.session), g.agent && [', agent ', mono(g.agent)]),
    g.covers_agents && el('div', {}, 'with the agents that it starts'),
    el('div', {}, 'by ', mono(g.by), ' (', seen(g.via), ') ', timeAgo(g.created), ' · used ', plural(g.uses, 'time'), g.times ? ` of ${g.times}` : '', g.last_used ? [', last ', timeAgo(g.last_used)] : '',
      ' · ', g.expires ? [countdown(g.expires), ' left'] : el('b', {}, 'until revoked')),
  ],
  el('button', { class: 'button no', 'data-live': true, 'aria-label': `Revoke the grant of ${g.user}`, on: { click: revoke } }, 'Revoke'))

// sandbox is one live sandbox; remove and show, which shows its session, are what its buttons do.
export const sandbox = (s, remove, show) => card(
  [mono(s.id.slice(0, 16)), ' ', el('span', { class: `badge ${s.users ? 'wait' : 'plain'}` }, s.users ? `in use by ${s.users}` : 'idle'),
    s.processes > 0 && [' ', el('span', { class: 'badge wait' }, plural(s.processes, 'background process', 'background processes'))]],
  [
    el('div', {}, seen(s.backend), s.image && [' · ', mono(s.image)], s.runtime && [' · ', mono(s.runtime)]), el('div', {}, 'session ', mono(s.session), ' by way of ', mono(s.caller)),
    el('div', {}, 'since ', timeAgo(s.since), ' · last used ', timeAgo(s.last_used), ' · goes in ', countdown(s.expires), ' at the latest'),
  ],
  el('div', { class: 'buttons' }, el('button', { class: 'button no', 'data-live': true, 'aria-label': `Remove sandbox ${s.id.slice(0, 16)}`, on: { click: remove } }, 'Remove'), sessionButton(s.session, show, s.id)))

const line = (name, ...value) => el('div', {}, el('dt', {}, name), el('dd', {}, value))
const ready = (is, yes, no) => el('span', { class: `badge ${is ? 'good' : 'bad'}` }, is ? yes : no)

// purpose says what an account at a chat service is for.
const purpose = (c) => [c.approvals && 'approvals', c.approvals && c.at && [' in ', mono(c.at)], c.approvals && c.commands && ', ', c.commands && 'commands']

const putBackWords = 'Put back, since programs start by it later and the change was not asked about: '

// putBack are the changes in projects that were put back lately; a person may have made one by hand.
const putBack = (events) => {
  const told = events.filter((e) => e.message?.includes(putBackWords)).slice(0, 20)
  return told.length > 0 && el('section', { class: 'block' }, el('h3', {}, 'Put back in projects'),
    el('p', { class: 'quiet' }, 'These changed while a command ran. If you made such a change yourself, take it back from the file that is named.'),
    el('ul', { class: 'plain' }, told.map((e) => el('li', {}, timeAgo(e.timestamp), ' · ', seen(e.message.split(putBackWords)[1]), ' · session ', mono(e.session)))))
}

// system is the sidecar as a whole, with what it did lately.
export function system(status, me, events) {
  const { policies } = status
  return [
    el('h2', {}, 'System'),
    el('section', { class: 'block' }, el('h3', {}, 'Policies'),
      el('dl', {},
        line('state', ready(policies.ok, 'in force', 'the last reload failed: the policies before it stay in force')),
        line('revision', el('code', { class: 'digest' }, seen(policies.revision))),
        line('loaded', timeAgo(policies.loaded)), line('last read', timeAgo(policies.reloaded)), line('files', String(policies.files.length))),
      policies.faults.length > 0 && el('ul', { class: 'faults' }, policies.faults.map((fault) => el('li', {}, mono(fault))))),
    putBack(events),
    el('section', { class: 'block' }, el('h3', {}, 'Backends'),
      el('dl', {}, (status.backends ?? []).map((b) => line(mono(b.name), ready(b.ready, 'ready', 'not ready'), ' ', b.isolated ? 'isolated' : el('b', { class: 'loud' }, 'not isolated'), b.message ? [' · ', seen(b.message)] : '')))),
    el('section', { class: 'block' }, el('h3', {}, 'Platforms'),
      el('dl', {}, [...(status.platforms ?? []), ...(status.chats ?? [])].map((p) => line(mono(p.chat ? `${p.platform}/${p.chat}` : p.platform), p.backend ? [mono(p.backend), p.image ? [' ', mono(p.image)] : '', p.runtime ? [' ', mono(p.runtime)] : ''] : '', opened(p), p.message ? [' ', seen(p.message)] : '')))),
    status.egress?.opened + status.egress?.refused > 0 && el('section', { class: 'block' }, el('h3', {}, 'Way out'),
      el('dl', {}, line('connections', `${status.egress.open} open`), line('opened', String(status.egress.opened)),
        line('refused', String(status.egress.refused)), line('sent', `${status.egress.sent} bytes`), line('received', `${status.egress.received} bytes`)),
      (status.egress.sessions ?? []).map(talk)),
    status.chat?.length > 0 && el('section', { class: 'block' }, el('h3', {}, 'Chat services'),
      el('dl', {}, status.chat.map((c) => line(mono(c.service), ready(!c.message, 'connected', 'reaches nobody'), ' ', purpose(c), c.message ? [' · ', seen(c.message)] : '')))),
    el('section', { class: 'block' }, el('h3', {}, 'Listeners'),
      el('dl', {}, (status.listeners ?? []).map((l) => line(mono(l.name), mono(l.listen), ' for ', seen(l.platforms.join(', ')))))),
    el('section', { class: 'block' }, el('h3', {}, 'Sidecar'),
      el('dl', {}, line('version', mono(status.version)), line('started', timeAgo(status.started)),
        line('you are', mono(me.person || 'nobody in people'), ' by ', mono(me.credential), me.groups.length ? [' in ', seen(me.groups.join(', '))] : ''))),
  ]
}

// talk is what one session reached and tried.
const talk = (s) => el('details', {}, el('summary', {}, 'session ', mono(s.session), ' · ', plural(s.hosts.length, 'host'), ' · ', plural(s.hosts.reduce((n, h) => n + h.refused, 0), 'refusal'), ' · last ', timeAgo(s.last)),
  el('ul', { class: 'plain' }, s.hosts.map((h) => el('li', {}, mono(`${h.host}:${h.port}`), ' · opened ', plural(h.opened, 'time'),
    h.refused > 0 ? [' · ', el('b', { class: 'loud' }, 'refused ', plural(h.refused, 'time')), ' by ', mono(h.rule)] : '',
    ` · ${h.sent} bytes sent, ${h.received} received`)), s.more > 0 && el('li', { class: 'quiet' }, `and ${plural(s.more, 'event')} of other hosts`)))

// opened says how far the sandboxes of a platform are open.
const opened = ({ network, egress, shared }) => [
  network === 'egress' ? [' · networked: ', seen(egress?.join(', ') || 'nothing')] : network ? [' · networked: ', seen(network)] : '',
  shared?.length > 0 ? [' · shared: ', seen(shared.join(', '))] : '']

// problems is how many things are wrong with the sidecar.
export const problems = (status) => (status.policies.ok ? 0 : 1) + (status.backends ?? []).filter((b) => !b.ready).length + (status.chat ?? []).filter((c) => c.message).length

const frozenWhat = (freeze) => freeze.kind === 'all' ? 'everything' : [`${freeze.kind} `, mono(freeze.id)]

// frozen are the freezes in force; thaw is what each button does.
export const frozen = (freezes, thaw) => [
  el('strong', { class: 'frozen-word' }, 'Frozen'),
  el('ul', { class: 'plain' }, freezes.map((freeze) => el('li', {},
    el('span', { class: 'frozen-what', title: freeze.reason }, el('b', {}, frozenWhat(freeze)), ' by ', mono(freeze.by), ' ', timeAgo(freeze.at), freeze.reason ? [': ', seen(freeze.reason)] : ''),
    el('button', { class: 'button', 'data-live': true, 'aria-label': `Thaw ${freeze.kind} ${freeze.id ?? ''}`, on: { click: () => thaw(freeze) } }, 'Thaw')))),
]

export const thawing = (freeze) => el('p', {}, 'Requests of ', frozenWhat(freeze), ' are judged again. ', `Frozen ${ago(freeze.at)}`, freeze.reason ? [': ', seen(freeze.reason)] : '', '.')

// turnedAway says that people are not asked about everything of the last ten minutes; null where they are.
export function turnedAway(requests) {
  const lately = requests.filter((e) => clock.now() - Date.parse(e.at) < 600_000)
  if (!lately.length) return null
  return [el('b', {}, `${plural(lately.length, 'request')} of the last ten minutes ${lately.length === 1 ? 'was' : 'were'} not asked about: `),
    seen(lately[0].message ?? ''), ' Answer what waits, or freeze who asks.']
}

// warned is what deserves a second look.
export function warned(status) {
  const warnings = [...status.warnings ?? []]
  if (!isSecureContext) warnings.unshift('this page travels unencrypted: whoever sees the network can answer in your place; use an ssh tunnel to the sidecar\'s machine')
  if (!status.policies.ok) warnings.unshift('the last reload of the policies failed; the policies before it stay in force')
  for (const b of status.backends ?? []) if (!b.ready) warnings.push(`backend ${b.name} is not ready`)
  if (!warnings.length) return null
  return el('details', {}, el('summary', {}, plural(warnings.length, 'warning'), ': ', el('span', {}, seen(warnings[0]))), el('ul', {}, warnings.map((text) => el('li', {}, seen(text)))))
}

// lost says that nothing is heard.
export const lost = (seconds, retry) => [
  el('span', {}, 'Connection lost. What is shown may be old, and nothing can be answered. Next try in ',
    el('b', {}, countdown(new Date(clock.now() + seconds * 1000).toISOString())), '.'),
  el('button', { class: 'button', on: { click: retry } }, 'Try now'),
]
