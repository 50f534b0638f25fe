// What waits for an answer: the list, and one approval with all that it is about.
import { clock, clockTime, countdown, el, marked, mono, plural, seen, timeAgo } from './text.js'

// scopes are what an approval may leave, with the key of each.
export const scopes = {
  once: { key: 'a', label: 'Approve once' },
  session: { key: 's', label: 'Approve for the session' },
  always: { key: 'w', label: 'Approve always' },
}

const textOf = ({ args }) => args.command || args.code || args.data || args.action || (args.name ? `${args.name} ${args.arguments ?? ''}` : '')

export const isPending = (entry) => entry.state === 'pending' && Date.parse(entry.expires) > clock.now()

// urgent orders the most urgent first.
export const urgent = (a, b) => Date.parse(a.expires) - Date.parse(b.expires) || Date.parse(a.created) - Date.parse(b.created)

// whoSays names the requester: the id is what counts, the name is their own.
export function whoSays({ session }) {
  const id = mono(session.user_id || 'nobody named')
  return session.user_name ? [el('span', { class: 'name' }, seen(session.user_name)), ' ', id] : id
}

// headline is an approval in one line of text, for those who do not see the page.
export const headline = ({ request }) =>
  `${request.session.user_id || 'somebody'} on ${request.session.platform}: ${textOf(request).slice(0, 120)}`

// row is an approval in the list.
export function row(entry, alike = 1) {
  const { request, reasons } = entry
  return [
    el('div', { class: 'row-top' }, el('code', { class: 'row-text' }, seen(textOf(request).slice(0, 300))), countdown(entry.expires)),
    el('div', { class: 'row-who' }, whoSays(request), ' · ', seen(request.session.platform), request.session.chat_type ? ` ${request.session.chat_type}` : ''),
    el('div', { class: 'row-why' },
      el('span', { class: 'chip risk' }, seen(reasons[0]?.rule ?? '')),
      reasons.length > 1 && el('span', { class: 'chip' }, `+${reasons.length - 1}`),
      alike > 1 && el('span', { class: 'chip alike' }, `${alike} of a kind`),
      entry.plan.quorum > 1 && el('span', { class: 'chip' }, `${yes(entry)} of ${entry.plan.quorum}`),
      request.session.agent && el('span', { class: 'chip' }, `agent of depth ${request.session.agent.depth}`),
      request.session.unattended && el('span', { class: 'chip' }, 'unattended')),
  ]
}

const yes = (entry) => entry.votes.filter((vote) => vote.approve).length

// asksFor is whether a question has these words in what is told of it, and is asked by a rule, if one is named.
export function asksFor({ request, reasons, decision }, words, rule) {
  const { session } = request
  const told = [textOf(request), session.user_id, session.user_name, session.platform, session.id, decision.backend.name, ...reasons.map((reason) => reason.rule)]
  return (!rule || reasons.some((reason) => reason.rule === rule)) && told.filter(Boolean).join('\n').toLowerCase().includes(words.trim().toLowerCase())
}

// detail is an approval whole. Answer, freeze, session and select are what its buttons do; listed is how many
// wait alike, it among them, and kind is what waits of its kind, it first.
export function detail(shown, { answer, freeze, session, back, select, listed, kind }) {
  const { approval: entry } = shown
  return [
    el('header', { class: 'detail-head' },
      el('button', { class: 'button back', 'data-act': 'back', on: { click: back } }, '‹ All'),
      el('h2', { tabindex: '-1', class: 'detail-title' }, whoSays(entry.request), el('span', { class: 'quiet' }, ' on ', seen(entry.request.session.platform), asks(entry.request))),
      isPending(entry) && entry.plan.quorum > 1 && el('span', { class: 'pill' }, `${yes(entry)} of ${entry.plan.quorum} said yes`), state(entry)),
    ended(entry),
    held(entry),
    reasons(entry),
    answered(entry),
    pattern(entry),
    texts(shown),
    el('div', { class: 'facts' }, askedBy(entry, freeze, session), runsIn(entry), variables(entry), filesOf(entry)),
    opinions(entry), votes(entry),
    others(kind, select),
    history(shown.history),
    papers(entry),
    isPending(entry) && actions(entry, answer, listed, kind.length),
  ]
}

const asks = ({ tool, args }) => ({
  terminal: args.background ? ' wants to run in the background' : ' wants to run', execute_code: ' wants to run Python',
  call: ` wants a script to call ${args.name}`,
}[tool] ?? ` wants to ${args.action} a process`)

const state = (entry) => isPending(entry)
  ? el('span', { class: 'pill' }, countdown(entry.expires), el('span', { class: 'pill-word' }, ' left'))
  : el('span', { class: `pill ${entry.state}` }, entry.state === 'pending' ? 'expired' : entry.state)

const ended = (entry) => !isPending(entry) && el('p', { class: `outcome ${entry.state}`, role: 'status' }, seen(entry.message))

// held says that the request runs already, and how long its connection waits.
function held(entry) {
  if (!entry.held_until || !isPending(entry)) return false
  const to = mono(entry.reasons.find((reason) => reason.match)?.match ?? 'a host')
  return el('p', { class: 'held' }, ...Date.parse(entry.held_until) > clock.now()
    ? ['The request runs already. Its connection to ', to, ' waits for the answer, for ', el('b', {}, countdown(entry.held_until)), ' more.']
    : ['The connection to ', to, ' was refused for want of an answer. The same request finds a later one.'])
}

const reasons = (entry) => el('ul', { class: 'reasons', 'aria-label': 'Why a person must approve this' }, entry.reasons.map((reason) =>
  el('li', {}, el('span', {}, seen(reason.message)), ' ',
    el('span', { class: 'rule' }, mono(reason.rule), reason.match ? [' found ', mono(reason.match)] : ''),
    reason.instead && el('div', { class: 'instead' }, 'Without asking: ', seen(reason.instead)))))

// answered says what people said before to the same rules and matches.
const answered = (entry) => entry.answered?.length > 0 && el('ul', { class: 'plain answered', 'aria-label': 'Answers to the same before' },
  entry.answered.map(({ person, yes, no }) => el('li', { class: 'quiet' }, mono(person), ` said yes to the same ${times(yes)}, no ${times(no)}.`)))

// pattern says what a pattern of the words would have covered.
const pattern = (entry) => entry.pattern?.match && el('p', { class: 'quiet' }, 'The pattern ', mono(entry.pattern.match),
  ` would have covered ${entry.pattern.covered} of the last ${entry.pattern.of} requests of this user that were asked about.`)

const times = (n) => n === 1 ? 'once' : `${n} times`

// texts are what would run, with what rules found in it, and what it would read.
function texts({ approval, marks, marks_cut: cut }) {
  const { request } = approval
  const { args } = request
  const block = (name, title, text = args[name]) => text && el('figure', { class: 'text' },
    el('figcaption', {}, el('span', {}, title), el('span', { class: 'quiet' }, size(text))),
    el('pre', { class: 'code', tabindex: '0', 'aria-label': title }, marked(text, marks.filter((mark) => mark.text === name))))
  return [
    block('command', 'Command'), block('code', 'Python'),
    args.typed?.end && block('typed', 'Typed to it before', args.typed.end), block('data', `Text for process ${args.process_id ?? ''}`), block('stdin', 'Standard input'),
    block('arguments', `Arguments for ${args.name ?? ''}`),
    !args.command && !args.code && !args.data && !args.name && el('p', {}, 'Process ', mono(args.process_id), ': ', seen(args.action)),
    cut && el('p', { class: 'error' }, 'Not every part that a rule found is marked: there are too many.'),
  ]
}

function size(text) {
  const lines = text.replace(/\n$/, '').split('\n').length
  return `${lines > 1 ? plural(lines, 'line') + ', ' : ''}${plural(text.length, 'character')}`
}

// fact is a titled list of facts; those that say nothing are left out.
const fact = (title, ...pairs) => el('section', { class: 'fact' }, el('h3', {}, title),
  el('dl', {}, pairs.filter(([, value]) => value !== undefined && value !== '' && value !== false && value !== null)
    .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))))

function askedBy({ request, caller, peer }, freeze, show) {
  const { session } = request
  const freezer = (kind, id) => el('button', { class: 'button quiet', 'data-live': true, 'data-act': `freeze-${kind}`, on: { click: () => freeze(kind, id) } }, `Freeze this ${kind}`)
  const card = fact('Asked by',
    ['user', whoSays(request)], ['platform', seen(session.platform)],
    ['chat', (session.chat_type || session.chat_id) && [session.chat_type, ' ', session.chat_id && mono(session.chat_id)]],
    ['thread', session.thread_id && mono(session.thread_id)], ['session', mono(session.id)],
    ['agent', session.agent && [mono(session.agent.id), ` of depth ${session.agent.depth}`, session.agent.parent && [', started by ', mono(session.agent.parent)]]],
    ['profile', session.profile && mono(session.profile)], ['unattended', session.unattended && 'yes, nobody is there'],
    ['by way of', [mono(caller), peer ? [' ', mono(peer)] : '']])
  card.append(el('div', { class: 'buttons' }, ...[sessionButton(session.id, show), freezer('session', session.id), session.user_id && freezer('user', `${session.platform}:${session.user_id}`)].filter(Boolean)))
  return card
}

function runsIn({ request, decision }) {
  const { backend, limits } = decision
  return fact('Would run in',
    ['backend', [mono(backend.name), backend.scope && ` for the ${backend.scope}`]], ['image', backend.image && mono(backend.image)],
    ['runtime', backend.runtime && mono(backend.runtime)],
    ['network', network(backend)], ['folder', request.args.workdir && mono(request.args.workdir)],
    ['mounts', (backend.mounts ?? []).length > 0 && el('ul', { class: 'plain' }, backend.mounts.map((m) =>
      el('li', {}, mono(m.source), ' at ', mono(m.target), el('b', { class: m.read_only ? '' : 'loud' }, m.read_only ? ' read only' : ' writable'))))],
    ['limits', [limits.timeout_seconds && `${limits.timeout_seconds} s`, backend.memory_mb && `${backend.memory_mb} MB`, backend.cpus && plural(backend.cpus, 'CPU')]
      .filter(Boolean).join(', ')],
    ['may call', (decision.tools ?? []).length > 0 && decision.tools.map((tool, n) => [n ? ', ' : '', mono(tool)])])
}

function network({ network, egress }) {
  if (network === 'egress') return ['only to ', (egress ?? []).map((host, n) => [n ? ', ' : '', mono(host)])]
  return network === 'full' ? el('b', { class: 'loud' }, 'full') : seen(network)
}

function variables({ decision, request }) {
  const { forward, withheld, set, sealed } = decision.env
  const given = (name) => [mono(name), (sealed ?? []).includes(name) && ' sealed']
  const list = (names, show) => (names ?? []).length > 0 && el('ul', { class: 'plain' }, names.map((name) => el('li', {}, show(name))))
  const none = !(forward ?? []).length && !(withheld ?? []).length && !Object.keys(set ?? {}).length
  return fact('Variables',
    ['', none && ((request.env ?? []).length ? 'none of those asked for' : 'none')],
    ['enter', list(forward, given)],
    ['withheld', list(withheld, ({ name, rule }) => [mono(name), ' by ', mono(rule)])],
    ['set', list(Object.entries(set ?? {}), ([name, value]) => mono(`${name}=${value}`))])
}

const filesOf = ({ files }) => (files ?? []).length > 0 && el('section', { class: 'fact whole' }, el('h3', {}, 'Files that it runs'),
  el('ul', { class: 'plain' }, files.map((file) => el('li', {}, mono(file.path), el('br'),
    file.sha256 ? el('code', { class: 'digest' }, 'sha256 ', seen(file.sha256)) : el('b', { class: 'loud' }, 'there is no such file')))))

function votes(entry) {
  const { plan } = entry
  return el('section', { class: 'votes' }, el('h3', {}, 'Answers', plan.quorum > 1 && el('span', { class: 'quiet' }, ` ${yes(entry)} of ${plan.quorum} needed`)),
    el('ul', { class: 'plain' }, entry.votes.map((vote) => el('li', {},
      el('b', { class: vote.approve ? 'good' : 'bad' }, vote.approve ? `yes, ${vote.scope}${vote.for_ns ? ` for ${Math.round(vote.for_ns / 1e9)} s` : ''}${vote.times ? `, ${plural(vote.times, 'time')}` : ''}` : 'no'), ' ', mono(vote.person || vote.credential), ' on ', seen(vote.channel), vote.login && ` by ${vote.login}`, vote.proof && [' with ', mono(vote.proof)], ' ', timeAgo(vote.at),
      vote.reason && [': ', seen(vote.reason)]))),
    isPending(entry) && el('p', { class: 'quiet' }, 'Who may answer: ', (plan.approvers ?? []).map((name, n) => [n ? ', ' : '', mono(name)]), ' on ', seen((plan.channels ?? []).join(', ')), ' by route ', mono(plan.route), plan.proof && ', each confirmed with a security key', '.'))
}

const opinions = ({ opinions: all }) => (all ?? []).length > 0 && el('section', { class: 'fact whole' }, el('h3', {}, 'Opinions of programs'),
  el('p', { class: 'loud' }, 'No answer, and not to be trusted: the request may have had them say it.'),
  el('ul', { class: 'plain' }, all.map((o) => el('li', {}, mono(o.by), ': ', el('q', {}, seen(o.text))))))

const history = (events) => el('details', { class: 'more', 'data-fold': 'history' }, el('summary', {}, `This session lately (${events.length})`),
  events.length ? el('ol', { class: 'rows' }, requests(events).map((e) => event(e))) : el('p', { class: 'quiet' }, 'Nothing.'))

// others are the questions of one kind, as many as a person looks through.
const others = (kind, select) => kind.length > 1 && el('details', { class: 'more', 'data-fold': 'kind' }, el('summary', {}, `More of this kind (${kind.length - 1})`),
  el('ul', { class: 'rows' }, kind.slice(1, 101).map((entry) => el('li', { class: 'event' }, mono(entry.request.session.user_id || 'nobody named'),
    el('button', { class: 'button quiet event-text', 'data-act': `show-${entry.id}`, on: { click: () => select(entry.id) } }, seen(textOf(entry.request).slice(0, 300)))))))

const papers = (entry) => el('details', { class: 'more', 'data-fold': 'papers' }, el('summary', {}, 'For the record'), fact('',
  ['approval', mono(entry.id)], ['digest', el('code', { class: 'digest' }, seen(entry.digest))], ['decision', mono(entry.decision_id)],
  ['policies', el('code', { class: 'digest' }, seen(entry.decision.revision))], ['asked', new Date(entry.created).toLocaleString()],
  ['ends', new Date(entry.expires).toLocaleString()]))

function actions(entry, answer, listed, kind) {
  const button = (about, label, key, act) => el('button', { class: `button ${about}`, 'data-live': true, 'data-act': act, on: { click: () => answer(act) } }, label, ' ', el('kbd', { 'aria-hidden': 'true' }, key))
  return el('footer', { class: 'actions buttons' },
    entry.scopes.map((scope) => button(scope === 'once' ? 'yes strong' : 'yes wider', scopes[scope].label, scopes[scope].key, scope)),
    entry.pattern && button('yes wider', 'Approve a pattern…', 'p', 'pattern'),
    listed > 0 && button('yes', `Approve all ${listed} alike`, 'l', 'listed'),
    button('no', 'Deny', 'd', 'deny'),
    kind > 1 && button('no', `Deny all ${kind} of this kind`, 'x', 'deny-kind'))
}

// asker is whose requests an answer is for.
const asker = ({ request, decision }) => `${request.session.agent ? 'this agent' : 'this user'}${decision.approval?.covers_agents ? ', with the agents that it starts,' : ''}`

// leaves says what an answer leaves behind.
export function leaves(entry, scope) {
  const { workdir } = entry.request.args
  const until = clockTime(clock.now() + (entry.decision.approval?.grant_seconds ?? 0) * 1000)
  const pairs = el('ul', { class: 'plain pairs' }, entry.reasons.map((reason) => el('li', {}, mono(reason.rule), reason.match && [' on ', mono(reason.match), workdir && [' in ', mono(workdir)]])))
  switch (scope) {
    case 'once': return el('p', {}, 'This request may run once, exactly as shown.')
    case 'session': return [el('p', {}, 'Until ', el('b', {}, until), ', whatever ', asker(entry), ' asks in this session for these reasons only may run on ', mono(entry.decision.backend.name), ' without asking:'), pairs]
    default: return [el('p', {}, el('b', {}, 'Until it is revoked'), ', whatever ', asker(entry), ' asks on ', seen(entry.request.session.platform), ' for these reasons only may run on ', mono(entry.decision.backend.name), ' without asking:'), pairs]
  }
}

export const excerpt = (entry) => el('pre', { class: 'code short', tabindex: '0', 'aria-label': 'What would run' }, seen(textOf(entry.request), true))

// requests puts the events of each request together, the newest request first.
export function requests(events) {
  const all = new Map()
  for (const event of [...events].reverse()) {
    const known = all.get(event.decision_id) ?? {}
    all.set(event.decision_id, { ...known, ...event, outcome: event.outcome ?? known.outcome, at: known.at ?? event.timestamp, kinds: [...known.kinds ?? [], event.event] })
  }
  return [...all.values()].sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

// says is whether a request has these words in what is told of it.
export function says(e, words) {
  const told = [verdict(e)[0], e.outcome, e.status, e.tool, e.platform, e.user, e.agent && `agent ${e.agent.id} of depth ${e.agent.depth}`, e.backend, e.approval?.state, e.text, e.message, ...e.rules ?? [], e.observed && 'observed', ...e.observed ?? []]
  return told.filter(Boolean).join('\n').toLowerCase().includes(words.trim().toLowerCase())
}

// event is a request, or what else happened, in one line. Look is what its button for what it changed does, if it has one, and changed
// what that shows.
export const event = (e, look, changed, show) => el('li', { class: 'event' },
  badge(verdict(e)),
  e.text ? el('code', { class: 'event-text' }, seen(e.text.slice(0, 300))) : el('span', { class: 'event-text quiet' }, seen(e.message ?? '')),
  el('span', { class: 'event-about quiet' },
    timeAgo(e.at), e.user && [' · ', mono(e.user)], e.platform && [' on ', seen(e.platform)],
    e.agent && [' · agent ', mono(e.agent.id), ` of depth ${e.agent.depth}`], e.backend && [' · ', seen(e.backend)],
    (e.rules ?? []).length > 0 && [' · ', seen([...new Set(e.rules)].join(', '))], e.text && e.message && [' · ', seen(e.message)],
    e.observed && [' · ', el('span', { class: 'badge wait' }, 'observed'), ' ', seen(`${e.observed.join(', ')} would have ${e.without_observe === 'deny' ? 'denied it' : 'asked'}`)],
    look && [' · ', el('button', { class: 'button quiet small', 'aria-expanded': String(Boolean(changed)), 'data-act': `look-${e.decision_id}`, on: { click: look } }, 'What it changed')],
    show && e.session && [' · ', sessionButton(e.session, show, e.decision_id)]),
  changed)

// sessionButton shows what the session of an event, or of another place, did.
export const sessionButton = (id, show, place = 'here') => el('button', { class: 'button quiet small', 'data-act': `session-${place}`, 'aria-label': `Its session, ${id.slice(0, 100)}`, on: { click: () => show(id) } }, 'Its session')

const badge = ([word, tone]) => el('span', { class: `badge ${tone}` }, word)

const answers = { pending: ['waiting', 'wait'], approved: ['approved', 'good'], denied: ['denied', 'bad'] }
const outcomes = { allow: ['allowed', 'good'], deny: ['denied', 'bad'], ask: ['asked', 'wait'] }

// isTurnedAway says whether people were to be asked about a request, and were not, since too much waits already or
// approvals failed.
export const isTurnedAway = (e) => e.outcome === 'ask' && e.status === 'unavailable' && !e.approval

// verdict is what became of a request, and its colour.
function verdict(e) {
  if (isTurnedAway(e)) return ['not asked', 'bad']
  if (e.status === 'completed') return e.exit_code ? [`ended ${e.exit_code}`, 'plain'] : ['done', 'good']
  if (e.status) return [e.status.replaceAll('_', ' '), { denied: 'bad', expired: 'plain' }[e.status] ?? 'wait']
  if (e.outcome === 'ask' && e.approval) return answers[e.approval.state] ?? [e.approval.state, 'plain']
  return outcomes[e.outcome] ?? [e.event, 'plain']
}
