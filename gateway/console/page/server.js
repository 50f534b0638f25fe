// Asks the sidecar, and listens to what it tells.
import { clock } from './text.js'

// The token of the session is this origin's alone, unlike the cookie, which
// goes to every port of this host.
const kept = 'bailiff-console-token'

// Refusal is the sidecar's no, with its sentence.
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.message)
    this.status = status
    this.code = problem.code
  }
}

// Unreachable: the sidecar did not answer.
export class Unreachable extends Error {}

const events = new EventTarget()
export const whenLoggedOut = (listener) => events.addEventListener('logged-out', listener)

const headers = () => ({ 'Bailiff-Token': localStorage.getItem(kept) ?? '' })

// ask returns the answer's JSON; undefined if it has none. Patience is how many milliseconds that may take.
export async function ask(method, path, body, patience = 20_000) {
  const response = await send(method, path, body, AbortSignal.timeout(patience))
  return response.status === 204 ? undefined : response.json()
}

async function send(method, path, body, signal) {
  let response
  try {
    response = await fetch(path, {
      method, signal, headers: headers(), cache: 'no-store', credentials: 'same-origin', redirect: 'error',
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  } catch (cause) {
    throw new Unreachable('The sidecar does not answer.', { cause })
  }
  clock.hear(response.headers.get('Date'))
  if (response.ok) return response
  const problem = await response.json().catch(() => ({ code: 'unknown', message: `The sidecar answered ${response.status}.` }))
  if (response.status === 401) loggedOut()
  throw new Refusal(response.status, problem)
}

function loggedOut() {
  localStorage.removeItem(kept)
  events.dispatchEvent(new Event('logged-out'))
}

// login exchanges a link's token.
export async function login(token) {
  const session = await ask('POST', '/login', { token })
  localStorage.setItem(kept, session.token)
  return session
}

export async function logout() {
  await ask('POST', '/logout').catch((error) => { if (error.status !== 401) throw error })
  loggedOut()
}

// aliveEvery is how often, at most, the sidecar is told that somebody is here.
const aliveEvery = 60_000
let told = 0

// alive keeps the session while somebody moves.
export function alive() {
  if (Date.now() - told < aliveEvery) return
  told = Date.now()
  ask('POST', '/alive').catch(() => { told = 0 })
}

// silence is longer than the sidecar is ever silent.
const silence = 40_000

// listen tells of events until the session ends: opened() when it begins to hear,
// heard(name, data) of each, lost(seconds) when the connection broke and when it is
// tried again. It returns what tries at once.
export function listen({ opened, heard, lost }) {
  let retry = () => {}
  const wait = (seconds) => new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000)
    retry = () => { clearTimeout(timer); resolve() }
  })
  const run = async () => {
    for (let failures = 0; ;) {
      try {
        await follow(() => { failures = 0; opened() }, heard)
      } catch (error) {
        if (error.status === 401) return
      }
      const seconds = Math.round(Math.min(30, 2 ** failures++) * (0.8 + Math.random() * 0.4))
      lost(seconds)
      await wait(seconds)
    }
  }
  run()
  return () => retry()
}

// follow reads one stream to its end.
async function follow(opened, heard) {
  const gone = new AbortController()
  let watchdog = setTimeout(() => gone.abort(), silence)
  try {
    const response = await send('GET', '/v1/events', undefined, gone.signal)
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    opened()
    for (let rest = ''; ;) {
      const { value, done } = await reader.read()
      if (done) return
      clearTimeout(watchdog)
      watchdog = setTimeout(() => gone.abort(), silence)
      const messages = (rest + value).split('\n\n')
      rest = messages.pop()
      for (const message of messages) tell(message, heard)
    }
  } finally {
    clearTimeout(watchdog)
  }
}

function tell(message, heard) {
  const fields = Object.fromEntries(message.split('\n').map((line) => {
    const colon = line.indexOf(': ')
    return [line.slice(0, colon), line.slice(colon + 2)]
  }))
  if (fields.event) heard(fields.event, JSON.parse(fields.data))
}
