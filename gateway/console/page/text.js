// Elements and texts. Whatever comes from the sidecar becomes a text node, with
// what the eye would miss made visible.

// el makes an element. Attributes are set as given; on holds listeners.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener)
    else if (value === true) node.setAttribute(name, '')
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value)
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false))
  return node
}

export const byId = (id) => document.getElementById(id)

// unseen is every character that shows as nothing, as a space, or that moves
// others: controls, formats, unassigned ones, odd spaces and fillers, and what
// is piled on one letter; and empty space long enough to push text out of sight.
const unseen = new RegExp([
  '[ \\t]{33,}',
  '(?:[ \\t]*\\n){5,}',
  '[\\p{Cc}\\p{Cf}\\p{Cn}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}]',
  '(?! )\\p{Zs}',
  '[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\uffa0\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]',
  '\\p{M}{4,}',
  '(?![\\p{M}])[^\\x00-\\x7f]',
].join('|'), 'gu')

const names = {
  '\u0000': 'NUL', '\u0007': 'BEL', '\u0008': 'backspace', '\r': 'carriage return', '\u001b': 'ESC', '\u007f': 'DEL',
  '\u00a0': 'no-break space', '\u00ad': 'soft hyphen', '\u200b': 'zero width space', '\u200c': 'zero width non-joiner',
  '\u200d': 'zero width joiner', '\u200e': 'left-to-right mark', '\u200f': 'right-to-left mark', '\u2028': 'line separator',
  '\u202a': 'left-to-right embedding', '\u202b': 'right-to-left embedding', '\u202c': 'end of embedding',
  '\u202d': 'left-to-right override', '\u202e': 'right-to-left override', '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate', '\u2069': 'end of isolate', '\ufeff': 'byte order mark',
}

const code = (character) => 'U+' + character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')

// maxSigns bounds the elements that one text may cost.
const maxSigns = 2000

// sign is what stands for a match of unseen; plain text if it may stay.
function sign(match, exact) {
  if (match === '\n' || match === '\t') return exact ? match : el('span', { class: 'sign faint', title: 'line break or tab' }, match === '\n' ? '⏎' : '⇥')
  if (/^[ \t]+$/.test(match)) return el('span', { class: 'sign' }, `${match.length} blanks`)
  if (/^[ \t\n]+$/.test(match)) {
    const lines = el('span', { class: 'sign' }, `${match.split('\n').length - 2} empty lines`)
    return exact ? ['\n', lines, '\n'] : lines
  }
  if (/^\p{M}{4,}$/u.test(match)) return el('span', { class: 'sign', title: 'piled on one letter' }, `${[...match].length} marks`)
  if (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(match) && !/[\u115f\u1160\u2800\u3164\uffa0]/u.test(match)) {
    return exact ? el('span', { class: 'odd', title: `${code(match)}, not ASCII` }, match) : match
  }
  return el('span', { class: 'sign', title: names[match] ?? 'not visible' }, code(match))
}

// seen turns a text into nodes. An exact text is shown in its lines, and what is
// not ASCII in it stands out; others become one line.
export function seen(text, exact = false) {
  const nodes = []
  let at = 0
  let signs = 0
  for (const match of String(text ?? '').matchAll(unseen)) {
    let node = sign(match[0], exact)
    if (typeof node !== 'string' && ++signs > maxSigns) node = [node].flat().map((n) => n.textContent ?? n).join('')
    nodes.push(text.slice(at, match.index), node)
    at = match.index + match[0].length
  }
  nodes.push(String(text ?? '').slice(at))
  return joined(nodes.flat())
}

// joined puts neighbouring strings together.
function joined(nodes) {
  const all = []
  for (const node of nodes) {
    if (typeof node === 'string' && typeof all.at(-1) === 'string') all[all.length - 1] += node
    else if (node !== '') all.push(node)
  }
  return all
}

// marked is an exact text with the parts that rules found. Marks count bytes.
export function marked(text, marks) {
  const bytes = new TextEncoder().encode(text)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const part = (from, to) => seen(decoder.decode(bytes.subarray(from, to)), true)
  const nodes = []
  let at = 0
  for (const mark of marks) {
    nodes.push(part(at, mark.start), el('mark', { title: mark.rules.join(', ') }, part(mark.start, mark.end)))
    at = mark.end
  }
  return [nodes, part(at, bytes.length)]
}

// mono is a short text of somebody else's in one line.
export const mono = (text) => el('code', { class: 'mono' }, seen(text))

// clock is the sidecar's time, in milliseconds.
export const clock = {
  ahead: 0,
  now() { return Date.now() + this.ahead },
  // hear learns from an answer's Date, which has whole seconds.
  hear(date) {
    const ahead = Date.parse(date) - Date.now()
    if (!Number.isNaN(ahead)) this.ahead = Math.abs(ahead) > 2000 ? ahead : 0
  },
}

// left says how long it is until a time, as 4:05 or 1:00:00.
export function left(time) {
  const seconds = Math.max(0, Math.ceil((Date.parse(time) - clock.now()) / 1000))
  const two = (n) => String(n).padStart(2, '0')
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

// ago says how long a time is past.
export function ago(time) {
  const seconds = Math.max(0, Math.round((clock.now() - Date.parse(time)) / 1000))
  for (const [unit, size] of [['d', 86400], ['h', 3600], ['min', 60]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`
  }
  return seconds < 5 ? 'just now' : `${seconds} s ago`
}

// timeAgo is kept up to date by tick, as is countdown.
export const timeAgo = (time) => el('time', { datetime: time, title: new Date(time).toLocaleString(), 'data-ago': time }, ago(time))

export const countdown = (time) => el('time', { class: 'countdown', role: 'timer', datetime: time, 'data-left': time }, left(time))

// tick moves every time on the page on.
export function tick() {
  for (const node of document.querySelectorAll('[data-ago]')) write(node, ago(node.dataset.ago))
  for (const node of document.querySelectorAll('[data-left]')) {
    const rest = Date.parse(node.dataset.left) - clock.now()
    write(node, left(node.dataset.left))
    node.classList.toggle('urgent', rest < 60_000)
    node.classList.toggle('over', rest <= 0)
  }
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text
}

export const clockTime = (time) => new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })

export const plural = (n, one, many = one + 's') => `${n} ${n === 1 ? one : many}`
