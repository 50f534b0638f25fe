// Yeses to more than one request: to a pattern of the words, and to all that waits alike.
import { ask } from './server.js'
import * as keys from './keys.js'
import { choice, field } from './dialogs.js'
import { clockTime, clock, el, mono, seen } from './text.js'

// longestListed is how many characters of a text are listed, and mostListed how many questions.
const longestListed = 300
const mostListed = 20

const textOf = ({ tool, args }) => (tool === 'execute_code' ? args.code : args.command) ?? ''

// besidesText is all that an answer hangs on, besides the text and the reasons.
const besidesText = ({ caller, peer, request, decision, scopes, plan }) => JSON.stringify([caller, peer, request.session, request.tool,
  { ...request.args, command: '', code: '' }, decision.backend, decision.env, decision.limits, decision.tools, scopes, plan.approvers, plan.quorum])

// alike are an approval and what else waits in its session and differs from it in its text
// alone, as far as each is short enough to be shown whole; empty if there is nothing else.
export function alike(id, waiting) {
  const entry = waiting.find((one) => one.id === id)
  const isShort = ({ request }) => textOf(request) !== '' && textOf(request).length <= longestListed
  if (!entry?.request.session.id || !entry.scopes.includes('once') || !isShort(entry)) return []
  const others = waiting.filter((one) => one.id !== id && isShort(one) && besidesText(one) === besidesText(entry))
    .sort((a, b) => Date.parse(a.created) - Date.parse(b.created)).slice(0, mostListed - 1)
  return others.length ? [entry, ...others] : []
}

// list is a numbered list of questions, with why each is asked.
export const list = (entries) => el('ol', { class: 'listed' }, entries.map(({ request, reasons }) =>
  el('li', {}, el('code', { class: 'mono' }, seen(textOf(request), true)), el('div', { class: 'quiet' }, reasons.map((reason, n) => [n ? ', ' : '', mono(reason.rule)])))))

// approveAll says yes once to each, by the digest that it had as it was listed, and returns why
// those that were not taken were not.
export async function approveAll(entries) {
  const refusals = []
  for (const entry of entries) {
    try {
      await keys.answer(entry, 'approve', { scope: 'once' })
    } catch (error) {
      if (!error.code) throw error
      refusals.push(error.message)
    }
  }
  return refusals
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
