// The console: what is known, how it is learnt, and what keys and buttons do.
import { countdown, byId, el, mono, plural, seen, tick } from './text.js'
import { Refusal, Unreachable, alive, ask, listen, login, logout, whenLoggedOut } from './server.js'
import { remember, remembered } from './address.js'
import * as approvals from './approvals.js'
import * as panels from './panels.js'
import * as dialogs from './dialogs.js'
import * as wider from './wider.js'
import * as keys from './keys.js'
import * as changes from './changes.js'
import * as sessions from './sessions.js'
import { readReport } from './report.js'

const views = ['approvals', 'activity', 'grants', 'sandboxes', 'system', 'report']

// known is what the sidecar said last.
const known = { me: null, pending: [], shown: null, freezes: [], events: [], status: null, keys: null, mayUndo: false, changed: new Map() }
let selected = null // the id of the approval that is shown
let view = 'approvals'
let hearing = false // while the stream is open
let retry = null // tries to open it at once

start()

async function start() {
  const token = location.hash.slice(1)
  remember()
  addEventListener('hashchange', () => location.reload())
  try {
    known.me = token ? await login(token) : await ask('GET', '/session')
  } catch (error) {
    showLogin(error.code === 'not_logged_in' ? '' : error.message)
    return
  }
  open()
}

function showLogin(why) {
  byId('starting').hidden = true
  byId('login').hidden = false
  byId('login-why').replaceChildren(why)
  document.title = 'bailiff console – log in'
  ask('GET', '/ways').then(({ provider }) => {
    byId('login-provider').hidden = !provider
    byId('login-provider').querySelector('span').replaceChildren(seen(provider))
  }, () => {}) // a sidecar that does not answer lets no person in
}

function open() {
  whenLoggedOut(() => location.reload()) // which forgets all that is shown
  byId('starting').hidden = true
  byId('app').hidden = false
  wire()
  setLive(false)
  const named = remembered()
  if (named.approval) select(named.approval, true)
  if (views.includes(named.view)) show(named.view)
  byId('find').value = named.find
  retry = listen({ opened, heard, lost })
  setInterval(everySecond, 1000)
  setInterval(() => { if (isLive()) refresh.status(); showTurnedAway() }, 10_000)
}

// What is heard.

const isLive = () => document.body.dataset.live === 'yes'

function setLive(live) {
  document.body.dataset.live = live ? 'yes' : 'no'
  byId('link').lastElementChild.replaceChildren(live ? 'live' : 'connecting')
  if (live) byId('lost').hidden = true
  enable()
}

// enable lets what changes something be used only while what is shown is true.
function enable() {
  for (const button of document.querySelectorAll('[data-live]')) button.disabled = !isLive() || 'moot' in button.dataset
}

// opened reads everything anew, until that succeeds.
async function opened() {
  hearing = true
  try {
    await Promise.all(Object.values(refresh).map((read) => read()))
    if (hearing) setLive(true)
  } catch (error) {
    report(error)
    setTimeout(() => { if (hearing) opened() }, 2000)
  }
}

function lost(seconds) {
  hearing = false
  setLive(false)
  byId('link').lastElementChild.replaceChildren('lost')
  byId('lost').replaceChildren(...panels.lost(seconds, retry))
  byId('lost').hidden = false
}

function heard(name, data) {
  switch (name) {
    case 'approval':
      changed(data)
      return
    case 'grant': refresh.grants(); return
    case 'freeze': refresh.freezes(); return
    case 'reload': refresh.status(); break
    case 'sandbox': refresh.sandboxes(); break
    case 'lost': opened(); return
  }
  note(data)
}

function note(event) {
  known.events = [event, ...known.events].slice(0, 500)
  later(showActivity)
}

function changed(entry) {
  refresh.pending()
  note({ decision_id: entry.decision_id, timestamp: entry.resolved ?? entry.created, event: 'approval', approval: { state: entry.state }, message: entry.message })
  if (entry.id !== selected) return
  refresh.shown()
  if (entry.state !== 'pending') dialogs.moot(`It is ${entry.state} already: ${entry.message}.`)
}

// What is read. Each reads once more if it was asked to while it read, so that
// what is shown is never older than the last change heard.

const refresh = {
  pending: reader(readPending, showPending),
  shown: reader(readShown, showDetail),
  freezes: listOf('freezes', '/v1/freeze', showFrozen),
  grants: listOf('grants', '/v1/grants', showGrants),
  events: reader(async () => { known.events = (await ask('GET', '/v1/decisions?limit=200')).decisions ?? [] }, showActivity),
  undo: reader(async () => { known.mayUndo = await changes.may() }, showActivity),
  sandboxes: listOf('sandboxes', '/v1/sandboxes', showSandboxes),
  keys: reader(async () => { known.keys = await ask('GET', '/keys') }, whenOther('keys', showKeysOfMine)),
  status: reader(async () => { known.status = await ask('GET', '/v1/status') }, showStatus),
}

function reader(read, show) {
  let running = null
  let again = false
  const run = async () => {
    do {
      again = false
      await read()
    } while (again)
    show()
  }
  return () => {
    again = true
    running ??= run().finally(() => { running = null })
    running.catch(report)
    return running
  }
}

// listOf reads the list that an answer has under its name.
function listOf(name, path, show) {
  return reader(async () => { known[name] = (await ask('GET', path))[name] ?? [] }, whenOther(name, show))
}

// whenOther shows what is known by a name only when it is other than what is shown: a button that is drawn anew under a pointer that is
// down is not clicked.
function whenOther(name, show) {
  let shown
  return () => {
    const now = JSON.stringify(known[name])
    if (now === shown) return
    shown = now
    show()
  }
}

async function readPending() {
  const all = []
  for (let after = ''; ;) {
    const page = await ask('GET', `/v1/approvals?state=pending&limit=500&after=${after}`)
    all.push(...page.approvals ?? [])
    if (!page.next) break
    after = page.next
  }
  const before = new Set(known.pending.map((entry) => entry.id))
  known.pending = all.sort(approvals.urgent)
  announce(known.pending.filter((entry) => !before.has(entry.id)))
}

async function readShown() {
  if (!selected) return
  const id = selected
  try {
    const shown = await ask('GET', `/v1/approvals/${encodeURIComponent(id)}`)
    if (id === selected) known.shown = shown
  } catch (error) {
    if (error.status !== 404) throw error
    if (id === selected) { selected = null; known.shown = null }
  }
}

function announce(fresh) {
  if (!fresh.length) return
  const waiting = plural(known.pending.length, 'approval')
  byId('news').replaceChildren(fresh.length > 3 ? `${waiting} pending.` : `New: ${fresh.map(approvals.headline).join('; ')}. ${waiting} pending.`)
}

function report(error) {
  if (error instanceof Unreachable || error.status === 401) return // the stream says so
  if (!(error instanceof Refusal)) throw error
  dialogs.toast(error.message)
}

// later draws at most once a frame.
const waiting = new Set()
function later(show) {
  if (waiting.has(show)) return
  waiting.add(show)
  setTimeout(() => { waiting.delete(show); show() }, 50)
}

// What is shown.

function everySecond() {
  tick()
  if (known.pending.some((entry) => !approvals.isPending(entry))) showPending()
  if (known.shown && byId('detail').querySelector('.actions') && !approvals.isPending(known.shown.approval)) {
    showDetail()
    dialogs.moot('It has expired.')
  }
}

const waitingNow = () => known.pending.filter(approvals.isPending)

// foundNow is what waits and is looked for, as rows of what is alike; leader is the first of a question's row.
const foundNow = () => {
  const found = waitingNow().filter((entry) => approvals.asksFor(entry, byId('find-pending').value, byId('only').value))
  return byId('each').checked ? found.map((entry) => [entry]) : wider.rows(found)
}
let leaders = new Map()
const leader = (id) => leaders.get(id) ?? id

// showTools offers a search and a choice of rules where many wait.
function showTools() {
  const only = byId('only')
  const asked = new Map()
  for (const entry of waitingNow()) for (const rule of new Set(entry.reasons.map((reason) => reason.rule))) asked.set(rule, (asked.get(rule) ?? 0) + 1)
  byId('pending-tools').hidden = waitingNow().length <= 10 && !only.value && !byId('find-pending').value && !byId('each').checked
  if (only === document.activeElement) return // whose list is open
  const chosen = only.value
  if (chosen && !asked.has(chosen)) asked.set(chosen, 0)
  only.replaceChildren(el('option', { value: '' }, 'Asked by any rule'), ...[...asked].sort().map(([rule, n]) => el('option', { value: rule }, seen(`${rule} (${n})`))))
  only.value = chosen
}

function showPending() {
  showTools()
  const found = foundNow()
  leaders = new Map(found.flatMap((entries) => entries.map((entry) => [entry.id, entries[0].id])))
  const pending = found.map(([entry]) => entry)
  const list = byId('pending')
  const focused = list.contains(document.activeElement)
  const rows = new Map([...list.children].map((row) => [row.dataset.id, row]))
  const drawn = pending.map((entry, n) => {
    const row = rows.get(entry.id) ?? el('li', { role: 'option', class: 'row', 'data-id': entry.id, on: { click: () => select(entry.id, true) } })
    row.replaceChildren(...approvals.row(entry, found[n].length))
    return row
  })
  if (drawn.length !== rows.size || drawn.some((row, n) => row !== list.children[n])) list.replaceChildren(...drawn)
  byId('none-pending').hidden = pending.length > 0
  byId('none-pending').replaceChildren(waitingNow().length ? 'Nothing that waits says that.' : 'Nothing is waiting.')
  if (!selected && pending.length) select(pending[0].id)
  else markSelected(focused)
  if (known.shown && byId('detail').dataset.listed !== listedNow()) showDetail()
  showCounts()
}

function showCounts() {
  const n = waitingNow().length
  count('approvals', n)
  count('grants', known.grants?.length ?? 0)
  count('sandboxes', known.sandboxes?.length ?? 0)
  count('system', known.status ? panels.problems(known.status) : 0)
  document.title = `${known.freezes.length ? 'FROZEN ' : ''}${n ? `(${n}) ` : ''}bailiff console`
}

// counted says to those who hear a number what it counts.
const counted = { approvals: 'waiting', grants: 'in force', sandboxes: 'alive', system: 'wrong' }

function count(name, n) {
  byId(`count-${name}`).replaceChildren(...n ? [String(n), el('span', {}, ` ${counted[name]}`)] : [])
}

function select(id, opened = false) {
  if (opened) document.body.dataset.detail = ''
  if (id !== selected) {
    selected = id
    known.shown = null
    byId('detail').replaceChildren(el('p', { class: 'empty' }, 'Reading…'))
    refresh.shown()
  }
  markSelected(false)
}

// markSelected keeps one row of the list in the order of the Tab key.
function markSelected(focus) {
  const rows = [...byId('pending').children]
  const current = rows.find((row) => row.dataset.id === leader(selected)) ?? rows[0]
  for (const row of rows) {
    row.setAttribute('aria-selected', String(row.dataset.id === leader(selected)))
    row.tabIndex = row === current ? 0 : -1
  }
  if (focus) current?.focus()
}

// stopName tells a stop of the Tab key in an approval from the others, however often it is drawn.
const stopName = (stop) => stop.dataset.act ?? stop.closest('details')?.dataset.fold ?? stop.ariaLabel

function showDetail() {
  const detail = byId('detail')
  if (!known.shown) {
    detail.replaceChildren(el('p', { class: 'empty' }, waitingNow().length ? 'Choose an approval.' : 'New requests that need a person appear here by themselves.'))
    return
  }
  const kind = wider.groupOf(selected, waitingNow())
  detail.dataset.listed = listedNow()
  const stop = detail.contains(document.activeElement) ? stopName(document.activeElement) : undefined
  const unfolded = [...detail.querySelectorAll('details[open]')].map((fold) => fold.dataset.fold)
  detail.replaceChildren(...approvals.detail(known.shown, { answer: askAnswer, freeze: askFreeze, session: showSession, back: closeDetail, select, listed: alike().length, kind }).flat(3).filter(Boolean))
  for (const fold of detail.querySelectorAll('details')) fold.open = unfolded.includes(fold.dataset.fold)
  if (stop) ([...detail.querySelectorAll('button, summary, pre')].find((other) => stopName(other) === stop) ?? detail).focus()
  tick()
  enable()
}

function closeDetail() {
  delete document.body.dataset.detail
  markSelected(true)
}

function showActivity() {
  const found = approvals.requests(known.events).filter((request) => approvals.says(request, byId('find').value)).slice(0, 200)
  const at = stopName(document.activeElement)
  byId('activity').replaceChildren(...found.map((e) => {
    const of = known.mayUndo && known.changed.get(e.decision_id)
    return approvals.event(e, known.mayUndo && e.kept && (() => look(e.decision_id)), of && changes.panel(of, () => askUndo(of)), showSession)
  }))
  if (at && !document.activeElement?.dataset.act) [...byId('activity').querySelectorAll('button')].find((button) => stopName(button) === at)?.focus()
  enable()
  byId('none-found').hidden = found.length > 0
  showTurnedAway()
}

function showTurnedAway() {
  const told = panels.turnedAway(approvals.requests(known.events).filter(approvals.isTurnedAway))
  byId('turned-away').hidden = !told
  byId('turned-away').replaceChildren(...told ? told.flat(3) : [])
}

function showGrants() {
  fill('grants', known.grants.map((grant) => panels.grant(grant, () => askRevoke(grant))), 'There are none: every approval is asked for.')
}

function showSandboxes() {
  fill('sandboxes', known.sandboxes.map((sandbox) => panels.sandbox(sandbox, () => askRemove(sandbox), showSession)), 'None lives.')
}

function fill(id, cards, none) {
  byId(id).replaceChildren(...cards.length ? cards : [el('li', { class: 'empty' }, none)])
  showCounts()
  enable()
}

function showFrozen() {
  const frozen = known.freezes.length > 0
  byId('frozen').hidden = !frozen
  byId('frozen').replaceChildren(...frozen ? panels.frozen(known.freezes, askThaw) : [])
  document.body.toggleAttribute('data-frozen', frozen)
  document.body.toggleAttribute('data-frozen-all', known.freezes.some((freeze) => freeze.kind === 'all'))
  showCounts()
  enable()
}

function showStatus() {
  byId('system').replaceChildren(...panels.system(known.status, known.me, known.events).filter(Boolean))
  const open = byId('warned').querySelector('details')?.open ?? false
  const warned = panels.warned(known.status)
  byId('warned').hidden = !warned
  byId('warned').replaceChildren(...warned ? [warned] : [])
  if (warned) warned.open = open
  showCounts()
}

const showSession = (id) => sessions.open(id).catch(report)

function showKeysOfMine() {
  byId('own-keys').replaceChildren(...keys.panel(known.keys, askAddKey, askRemoveKey))
  enable()
}

function show(name) {
  if (view !== name) scrollTo(0, 0) // where the view before was left, this one may have something below a banner
  view = name
  for (const other of views) {
    const current = other === name
    byId(`view-${other}`).hidden = !current
    byId(`tab-${other}`).setAttribute('aria-selected', String(current))
    byId(`tab-${other}`).tabIndex = current ? 0 : -1
  }
  if (name === 'sandboxes' && isLive()) refresh.sandboxes()
  if (name === 'system' && isLive()) refresh.keys()
  if (name === 'report' && !byId('report').hasChildNodes()) readReport()
}

// What is done. Each is asked about first.

function askAnswer(act) {
  const entry = known.shown?.approval
  if (!entry || !approvals.isPending(entry) || !isLive()) return
  if (act === 'deny') askDenial(entry)
  else if (act === 'pattern' && entry.pattern) askPattern(entry)
  else if (act === 'listed' && alike().length) askListed(entry, alike())
  else if (act === 'deny-kind') askDenyKind(wider.groupOf(selected, waitingNow()))
  else if (!approvals.scopes[act]) dialogs.toast('That is not offered here.')
  else if (entry.scopes.includes(act)) askApproval(entry, act)
  else dialogs.toast(`${approvals.scopes[act].label} is not offered here.`)
}

function askApproval(entry, scope) {
  const narrower = scope === 'once' ? { body: [], sent: () => ({}) } : wider.terms()
  dialogs.ask({
    title: `${approvals.scopes[scope].label}?`, yes: approvals.scopes[scope].label, tone: scope === 'once' ? 'yes' : 'yes wider',
    body: [who(entry), approvals.excerpt(entry), approvals.leaves(entry, scope), narrower.body],
    act: async () => answer(entry, 'approve', { scope, ...narrower.sent() }),
  })
}

// alike are what is shown and what waits alike.
const alike = () => wider.alike(selected, waitingNow())

// listedNow tells how many questions the buttons of an approval are for.
const listedNow = () => `${alike().length} ${wider.groupOf(selected, waitingNow()).length}`

function askListed(entry, entries) {
  dialogs.ask({
    title: `Approve all ${entries.length}, once?`, yes: `Approve all ${entries.length}`, tone: 'yes',
    body: [who(entry), wider.list(entries), el('p', {}, 'Each may run once, exactly as shown. What is asked later is asked about by itself.')],
    act: () => answerListed(entries, 'approve', { scope: 'once' }, 'Approved'),
  })
}

function askDenyKind(entries) {
  if (!entries.length) return
  const { input, label } = dialogs.field('Reason, which the requesters are told', { name: 'reason' })
  dialogs.ask({
    title: `Deny all ${entries.length}?`, yes: `Deny all ${entries.length}`, tone: 'no', input, body: [wider.list(entries), label],
    act: () => answerListed(entries, 'deny', { reason: input.value.trim() }, 'Denied'),
  })
}

async function answerListed(entries, verdict, body, done) {
  const refusals = await wider.answerAll(entries, verdict, body)
  for (const refusal of [...new Set(refusals)].slice(0, 5)) dialogs.toast(refusal)
  dialogs.toast(`${done} ${entries.length - refusals.length} of ${entries.length}`)
  const answered = new Set(entries.map((entry) => entry.id))
  await refresh.pending()
  const next = foundNow()[0]?.[0]
  if (next && answered.has(selected)) select(next.id)
  else if (selected) refresh.shown()
}

function askPattern(entry) {
  const { body, input, verdict } = wider.patternQuestion(entry)
  dialogs.ask({
    title: 'Approve a pattern?', yes: 'Approve the pattern', tone: 'yes wider', input, body: [who(entry), approvals.excerpt(entry), body],
    act: async () => answer(entry, 'approve', await verdict()),
  })
}

function askDenial(entry) {
  const { input, label } = dialogs.field('Reason, which the requester is told', { name: 'reason' })
  dialogs.ask({
    title: 'Deny?', yes: 'Deny', tone: 'no', input, body: [who(entry), approvals.excerpt(entry), label],
    act: () => answer(entry, 'deny', { reason: input.value.trim() }),
  })
}

const who = ({ request, expires }) => el('p', {}, approvals.whoSays(request), ' on ', seen(request.session.platform), ' · ', countdown(expires), ' left')

async function answer(entry, verdict, body) {
  const answered = await keys.answer(entry, verdict, body)
  const n = waitingNow().findIndex((other) => other.id === entry.id)
  if (answered.state === 'pending') {
    dialogs.toast(`Your yes counts; ${answered.plan.quorum} people must say so.`)
    return undefined
  }
  dialogs.toast(answered.state === 'approved' ? 'Approved' : 'Denied', ': ', mono((entry.request.args.command || entry.request.args.code || '').slice(0, 60)))
  known.pending = known.pending.filter((other) => other.id !== entry.id)
  const next = waitingNow()[n] ?? waitingNow().at(-1)
  delete document.body.dataset.detail
  if (next) select(next.id)
  else refresh.shown()
  showPending()
  return () => markSelected(true)
}

// look shows what a command changed, or hides it again.
async function look(id) {
  if (known.changed.delete(id)) return showActivity()
  try {
    known.changed.set(id, await changes.read(id))
  } catch (error) {
    report(error)
  }
  return showActivity()
}

function askUndo(of) {
  dialogs.ask({ title: 'Undo what it changed?', yes: 'Undo', tone: 'no', body: changes.about(of), act: () => undo(of.command.id, false) })
}

async function undo(id, force) {
  const { restored, left, failed } = await changes.undo(id, force)
  dialogs.toast(`As before: ${plural(restored.length, 'file')}`, failed.length > 0 && `; not put back: ${failed.slice(0, 5).join('; ')}`)
  refresh.events()
  if (!left.length) return undefined
  return () => dialogs.ask({
    title: `Put back ${plural(left.length, 'file')} that changed since, too?`, yes: 'Put back all the same', tone: 'no',
    body: [changes.list(left), el('p', {}, 'What became of them meanwhile can be had back by undoing this.')], act: () => undo(id, true),
  })
}

function askRevoke(grant) {
  dialogs.ask({
    title: 'Revoke this grant?', yes: 'Revoke', tone: 'no',
    body: el('p', {}, mono(grant.user), ' on ', seen(grant.platform), ' is asked again from then on. What runs already goes on.'),
    act: async () => { await ask('DELETE', `/v1/grants/${encodeURIComponent(grant.id)}`); await refresh.grants() },
  })
}

function askRemove(sandbox) {
  dialogs.ask({
    title: 'Remove this sandbox?', yes: 'Remove', tone: 'no',
    body: el('p', {}, mono(sandbox.id), ' is stopped, with all that runs in it, and its files go.'),
    act: async () => { await ask('DELETE', `/v1/sandboxes/${encodeURIComponent(sandbox.id)}`); await refresh.sandboxes() },
  })
}

function askAddKey() {
  const { input, label } = dialogs.field('Name of the key', { name: 'key-name', maxlength: '40', required: true })
  dialogs.ask({
    title: 'Register a security key?', yes: 'Register', tone: 'yes', input,
    body: [el('p', {}, 'Your browser asks for the key. ', known.keys.keys.length > 0 && 'You confirm with one that you have first.'), label],
    act: async () => { await keys.add(input.value.trim()); await refresh.keys() },
  })
}

function askRemoveKey(key) {
  dialogs.ask({
    title: 'Remove this key?', yes: 'Remove', tone: 'no', body: el('p', {}, mono(key.name), ' confirms nothing from then on. You confirm this with one of your keys.'),
    act: async () => { await keys.remove(key); await refresh.keys() },
  })
}

// askFreeze asks what to freeze; what it is called from chooses.
function askFreeze(kind = 'all', id = '') {
  const session = known.shown?.approval.request.session
  const ids = { all: '', session: session?.id ?? '', user: session?.user_id ? `${session.platform}:${session.user_id}` : '' }
  if (id) ids[kind] = id
  const target = dialogs.field('Which', { name: 'id', maxlength: '1024' })
  const reason = dialogs.field('Reason', { name: 'reason' })
  const choose = (chosen) => {
    kind = chosen
    target.input.value = ids[chosen]
    target.input.required = chosen !== 'all'
    target.label.hidden = chosen === 'all'
  }
  const choice = (value, label, what) => dialogs.choice('kind', value, label, what, value === kind, () => choose(value))
  choose(kind)
  dialogs.ask({
    title: 'Freeze?', yes: 'Freeze', tone: 'no', input: reason.input,
    body: [
      el('p', {}, 'What runs is stopped, what waits is cancelled, grants are revoked, and everything is denied until it is thawed.'),
      el('fieldset', {}, el('legend', { class: 'hidden' }, 'What to freeze'), choice('all', 'Everything', 'every session of every user'), choice('session', 'A session', 'one conversation'), choice('user', 'A user', 'as user or platform:user')),
      target.label, reason.label,
    ],
    act: async () => {
      await ask('POST', '/v1/freeze', { kind, id: kind === 'all' ? '' : target.input.value.trim(), reason: reason.input.value.trim() })
      await refresh.freezes()
    },
  })
}

function askThaw(freeze) {
  dialogs.ask({
    title: 'Thaw?', yes: 'Thaw', tone: 'yes', body: panels.thawing(freeze),
    act: async () => { await ask('DELETE', '/v1/freeze', { kind: freeze.kind, id: freeze.id ?? '' }); await refresh.freezes() },
  })
}

// What keys and buttons do.

function wire() {
  dialogs.wireDialogs()
  for (const name of views) byId(`tab-${name}`).addEventListener('click', () => show(name))
  document.querySelector('[role=tablist]').addEventListener('keydown', rove)
  byId('pending').addEventListener('keydown', inList)
  byId('find').addEventListener('input', showActivity)
  byId('find-pending').addEventListener('input', showPending)
  byId('only').addEventListener('change', showPending)
  byId('each').addEventListener('change', showPending)
  byId('report-days').addEventListener('change', readReport)
  byId('report-again').addEventListener('click', readReport)
  byId('freeze').addEventListener('click', () => askFreeze())
  byId('theme').addEventListener('click', switchTheme)
  byId('help').addEventListener('click', showKeys)
  byId('logout').addEventListener('click', () => logout().catch(report))
  addEventListener('keydown', press)
  for (const event of ['keydown', 'pointerdown']) addEventListener(event, alive)
  show('approvals')
  showDetail()
}

const showKeys = () => byId('keys').showModal()

function switchTheme() {
  const dark = getComputedStyle(document.documentElement).colorScheme === 'dark' ||
    (!document.documentElement.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'light' : 'dark'
  localStorage.setItem('bailiff-theme', document.documentElement.dataset.theme)
}

const answerKeys = { ...Object.fromEntries(Object.entries(approvals.scopes).map(([scope, { key }]) => [key, scope])), d: 'deny', p: 'pattern', l: 'listed', x: 'deny-kind' }

// press is a key anywhere but in a dialog or a field.
function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
  if (document.querySelector('dialog[open]') || event.target.closest?.('input, textarea, select') || byId('app').hidden) return
  const { key } = event
  const done = {
    j: () => step(1), k: () => step(-1), f: () => isLive() && askFreeze(), '?': showKeys, Escape: closeDetail,
  }[key] ?? (views[Number(key) - 1] && (() => show(views[key - 1]))) ?? (answerKeys[key] && view === 'approvals' && (() => askAnswer(answerKeys[key])))
  if (!done) return
  event.preventDefault()
  done()
}

// step selects the next approval, or the one before.
function step(by) {
  if (view !== 'approvals') show('approvals')
  const ids = foundNow().map(([entry]) => entry.id)
  if (!ids.length) return
  const at = ids.indexOf(leader(selected))
  select(ids[at < 0 ? 0 : Math.max(0, Math.min(ids.length - 1, at + by))])
  markSelected(true)
}

function inList(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (by) step(by)
  else if (event.key === 'Enter' && !event.repeat) openDetail()
  else return
  event.preventDefault()
}

function openDetail() {
  document.body.dataset.detail = ''
  byId('detail').focus()
}

// rove moves among the tabs.
function rove(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (!by) return
  event.preventDefault()
  const next = views[(views.indexOf(view) + by + views.length) % views.length]
  show(next)
  byId(`tab-${next}`).focus()
}
