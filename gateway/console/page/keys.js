// Security keys: which a person has, and what they confirm.
import { ask } from './server.js'
import { el, mono, seen, timeAgo } from './text.js'

const begin = (wish) => ask('POST', '/keys/begin', wish)
const end = ({ ceremony }, credential) => ask('POST', '/keys/end', { ceremony, response: credential.toJSON() })

// asked says in words why a browser asked for no key, or got none.
async function asked(question) {
  try {
    return await question()
  } catch (cause) {
    if (cause.name === 'NotAllowedError') throw new Error('No security key answered in time, or it was not let to.', { cause })
    if (cause.name === 'InvalidStateError') throw new Error('This key is registered already.', { cause })
    throw cause
  }
}

const get = (begun) => asked(() => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(begun.get) }))
const create = (begun) => asked(() => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(begun.create) }))

// confirmed has a key confirm a wish, and returns what came of that.
async function confirmed(wish) {
  const begun = await begin(wish)
  return end(begun, await get(begun))
}

// answer gives an answer, with a key where the route wants one.
export async function answer(entry, verdict, body) {
  const yes = verdict === 'approve' ? { ...body, digest: entry.digest } : undefined
  try {
    return await ask('POST', `/v1/approvals/${encodeURIComponent(entry.id)}/${verdict}`, yes ?? body)
  } catch (error) {
    if (error.code !== 'proof_needed') throw error
  }
  return confirmed({ do: 'answer', approval: entry.id, yes, no: yes ? undefined : body })
}

// add registers a key; one that the person has confirms it.
export async function add(name) {
  let begun = await begin({ do: 'add', name })
  if (begun.get) begun = await end(begun, await get(begun))
  return end(begun, await create(begun))
}

export const remove = (key) => confirmed({ do: 'remove', key: key.id })

// panel are the keys that a person has, with what its buttons do.
export const panel = ({ keys, unusable }, add, remove) => [
  el('h3', {}, 'Your security keys'),
  unusable && el('p', { class: 'quiet' }, seen(unusable)),
  !unusable && !keys.length && el('p', { class: 'quiet' }, 'You have none. Some routes of approvals may want one for each answer.'),
  keys.length > 0 && el('ul', { class: 'cards' }, keys.map((key) => el('li', { class: 'card' },
    el('div', { class: 'card-main' },
      el('div', { class: 'card-title' }, mono(key.name), ' ', key.copied && el('b', { class: 'loud' }, 'there may be a copy: it counts no more')),
      el('div', { class: 'quiet' }, 'registered ', timeAgo(key.added), ' · ', key.used ? ['last used ', timeAgo(key.used)] : 'never used', ' · ', mono(key.id), ' at ', mono(key.site))),
    el('button', { class: 'button no', 'data-live': true, 'aria-label': `Remove the key ${key.name}`, on: { click: () => remove(key) } }, 'Remove')))),
  !unusable && el('div', { class: 'buttons' }, el('button', { class: 'button', id: 'add-key', 'data-live': true, on: { click: add } }, 'Register a key…')),
].filter(Boolean)
