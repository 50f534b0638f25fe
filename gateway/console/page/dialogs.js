// Questions before anything is done, and what became of it.
import { byId, el } from './text.js'

// freshFor is how long, in milliseconds, a question that has just opened cannot be
// confirmed by the pointer: a second click of the one that opened it confirms
// nothing.
const freshFor = 300

// ask opens a question, and once that is confirmed does what it asks about, then
// what that returns. A refusal is shown in it.
export function ask({ title, body, yes, tone, act, input }) {
  const dialog = byId('confirm')
  if (dialog.open) return
  const error = byId('confirm-error')
  const button = byId('confirm-yes')
  byId('confirm-title').replaceChildren(title)
  byId('confirm-body').replaceChildren(...[body].flat(3).filter(Boolean))
  button.replaceChildren(yes)
  button.className = `button strong ${tone}`
  button.removeAttribute('data-moot')
  button.disabled = document.body.dataset.live !== 'yes'
  error.replaceChildren()
  let busy = false
  const form = byId('confirm-form')
  form.onsubmit = async (event) => {
    event.preventDefault()
    if (busy || button.disabled) return
    busy = true
    form.ariaBusy = 'true'
    try {
      const after = await act()
      closeQuestion()
      after?.()
    } catch (cause) {
      error.replaceChildren(cause.message)
    } finally {
      busy = false
      form.ariaBusy = 'false'
    }
  }
  button.classList.add('fresh')
  setTimeout(() => button.classList.remove('fresh'), freshFor)
  dialog.showModal()
  ;(input ?? button).focus()
}

// moot says why what is being asked can no longer be done.
export function moot(why) {
  if (!byId('confirm').open) return
  byId('confirm-error').replaceChildren(why)
  byId('confirm-yes').dataset.moot = ''
  byId('confirm-yes').disabled = true
}

// closeQuestion leaves no focus in the field that is gone, where keys would be lost.
export function closeQuestion() {
  const dialog = byId('confirm')
  dialog.close()
  if (dialog.contains(document.activeElement)) document.activeElement.blur()
}

// wireDialogs lets dialogs be closed, and keeps a key that is held down from
// confirming what it opened.
export function wireDialogs() {
  byId('confirm-no').addEventListener('click', closeQuestion)
  byId('confirm').addEventListener('keydown', (event) => { if (event.key === 'Enter' && event.repeat) event.preventDefault() })
  for (const name of ['keys', 'session']) byId(`${name}-form`).addEventListener('submit', (event) => { event.preventDefault(); byId(name).close() })
}

// toastFor is how long a toast stays, in milliseconds.
const toastFor = 6000

export function toast(...text) {
  const node = el('div', { class: 'toast' }, ...text)
  byId('toasts').append(node)
  setTimeout(() => node.remove(), toastFor)
}

// choice is one of several of which one is chosen.
export const choice = (name, value, label, what, checked, choose) => el('label', { class: 'choice' },
  el('input', { type: 'radio', name, value, checked, on: { change: choose } }), el('span', {}, el('b', {}, label), ' ', el('span', { class: 'quiet' }, what)))

// field is a labelled line of input.
export function field(label, attributes) {
  const input = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: '1000', ...attributes })
  return { input, label: el('label', { class: 'field' }, el('span', {}, label), input) }
}
