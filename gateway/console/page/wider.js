// Yeses to more than one request: to a pattern of the words, and to all that waits alike.
import { ask } from './server.js'
import * as keys from './keys.js'
import { choice, field } from './dialogs.js'
import { clockTime, clock, el, mono, seen } from './text.js'

// longestListed is how many characters of a text are listed, mostListed how many questions that one yes is for: as many as a
// person reads. groupFrom is how many must wait until those of a kind are one row.
const longestListed = 300
const mostListed = 20
const groupFrom = 10

const textOf = ({ tool, args }) => (tool === 'execute_code' ? args.code : args.command) ?? ''

// besidesText is all that an answer hangs on, besides the text and the reasons.
const besidesText = ({ caller, peer, request, decision, scopes, plan }) => JSON.stringify([caller, peer, request.session, request.tool,
  { ...request.args, command: '', code: '' }, decision.backend, decision.env, decision.limits, decision.tools, scopes, plan.approvers, plan.quorum])

const isShort = ({ request }) => textOf(request) !== '' && textOf(request).length <= longestListed

// alike are an approval and what else waits in its session and differs from it in its text
// alone, as far as each is short enough to be shown whole; empty if there is nothing else.
export function alike(id, waiting) {
  const entry = waiting.find((one) => one.id === id)
  if (!entry?.request.session.id || !entry.scopes.includes('once') || !isShort(entry)) return []
  const others = waiting.filter((one) => one.id !== id && isShort(one) && besidesText(one) === besidesText(entry))
    .sort((a, b) => Date.parse(a.created) - Date.parse(b.created)).slice(0, mostListed - 1)
  return others.length ? [entry, ...others] : []
}

// kindOf says for what kind of thing people are asked: the same tool, platform, backend, rules and route, of any user. One no
// may be for all of a kind. One yes may not.
const kindOf = ({ caller, request, decision, plan, reasons }) => JSON.stringify([caller, request.tool, request.session.platform,
  decision.backend.name, decision.backend.network, plan.route, [...new Set(reasons.map(({ rule }) => rule))].sort()])

// groups puts questions of one kind together, in the order of their first; one that is too long for a list stands alone.
export function groups(waiting) {
  const all = new Map()
  for (const entry of waiting) {
    const key = isShort(entry) ? kindOf(entry) : entry.id
    if (all.has(key)) all.get(key).push(entry)
    else all.set(key, [entry])
  }
  return [...all.values()]
}

// rows are what a list shows: each question, or groups of them where many wait.
export const rows = (waiting) => waiting.length > groupFrom ? groups(waiting) : waiting.map((entry) => [entry])

// groupOf are an approval and what else waits of its kind, it first; empty if there is nothing else.
export function groupOf(id, waiting) {
  const group = groups(waiting).find((entries) => entries.some((one) => one.id === id)) ?? []
  return group.length > 1 ? [...group.filter((one) => one.id === id), ...group.filter((one) => one.id !== id)] : []
}

// list is a numbered list of questions, with who asks each and why.
export const list = (entries) => el('ol', { class: 'listed' }, entries.map(({ request, reasons }) =>
  el('li', {}, el('code', { class: 'mono' }, seen(textOf(request), true)), el('div', { class: 'quiet' },
    mono(request.session.user_id || 'nobody named'), ' in ', mono(request.session.id), ' · ',
    reasons.map((reason, n) => [n ? ', ' : '', mono(reason.rule), reason.match && [' on ', mono(reason.match)]])))))

// answerAll answers each once, by the digest that it had as it was listed, and returns why those that were not taken were not.
export async function answerAll(entries, verdict, body) {
  const refusals = []
  for (const entry of entries) {
    try {
      await keys.answer(entry, verdict, body)
    } catch (error) {
      if (!error.code) throw error
      refusals.push(error.message)
    }
  }
  return refusals
}

// terms are how long and how often a wider yes holds at most, as a person may narrow it: the fields, and what to send of them.
export function terms() {
  const lasts = field('For minutes, at most', { name: 'for', inputmode: 'numeric', maxlength: '6' })
  const times = field('For requests, at most', { name: 'times', inputmode: 'numeric', maxlength: '4' })
  const number = ({ input }, of) => {
    const text = input.value.trim()
    if (text && !/^[1-9][0-9]*$/.test(text)) throw new Error(`${of} is a whole number above zero, or empty.`)
    return Number(text)
  }
  const sent = () => {
    const minutes = number(lasts, 'For minutes')
    const requests = number(times, 'For requests')
    return { ...minutes ? { for_seconds: minutes * 60 } : {}, ...requests ? { times: requests } : {} }
  }
  return { body: [lasts.label, times.label], sent }
}

// patternQuestion is the body of the question for a pattern; its verdict is what to send once the
// pattern as it stands was previewed.
export function patternQuestion(entry) {
  const { input, label } = field('Pattern', { name: 'match', value: entry.pattern.match || entry.request.args.command })
  const preview = el('p', { class: 'preview', role: 'status' })
  let scope = ''
  let previewed = ''
  const until = { session: `until ${clockTime(clock.now() + (entry.decision.approval?.grant_seconds ?? 0) * 1000)}`, always: 'for 30 days' }
  const scopes = entry.scopes.filter((name) => until[name])
  const look = async () => {
    const match = input.value.trim()
    previewed = ''
    const p = await ask('GET', `/v1/approvals/${encodeURIComponent(entry.id)}/preview?match=${encodeURIComponent(match)}`)
    if (match !== input.value.trim()) return
    previewed = match
    preview.replaceChildren('It would have covered ', el('b', {}, `${p.covered} of the last ${p.of}`), ' requests of this user that were asked about.')
  }
  const show = () => look().catch((error) => preview.replaceChildren(error.message))
  input.addEventListener('change', show)
  if (entry.pattern.match) show()
  const body = [
    label, preview,
    el('fieldset', {}, el('legend', { class: 'hidden' }, 'How long'), scopes.map((name, n) => {
      if (!n) scope = name
      return choice('scope', name, { session: 'This session', always: 'Always' }[name], until[name], !n, () => { scope = name })
    })),
    el('p', { class: 'quiet' }, '* stands for one whole word that is no option, no address and no path out of the folder. It ends when the policies change, too.'),
  ]
  // verdict previews what was not yet, and says so.
  const verdict = async () => {
    const match = input.value.trim()
    if (previewed !== match) {
      await look()
      throw new Error('Look at what it would have covered, and confirm again.')
    }
    return { scope, match }
  }
  return { body, input, verdict }
}
