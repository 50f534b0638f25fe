// The search: every part of every page that has all words, those of pages with them in the title first, then those with them in
// a heading.
const root = document.currentScript.dataset.root
const most = 30
let parts = null

addEventListener('DOMContentLoaded', () => {
  const find = document.getElementById('find')
  find.addEventListener('focus', load, { once: true })
  find.addEventListener('input', show)
  addEventListener('keydown', (event) => {
    if (event.key === '/' && !event.target.closest('input')) { event.preventDefault(); find.focus() }
    if (event.key === 'Escape' && find.value) { find.value = ''; show(); find.focus() }
  })
})

function load() {
  const script = document.createElement('script')
  script.src = root + 'index.js'
  document.head.append(script)
}

// found is called by the index.
window.found = (all) => {
  parts = all.map(([address, title, heading, text]) => ({ address, title, heading, text, all: `${title}\n${heading}\n${text}`.toLowerCase() }))
  show()
}

function show() {
  const words = document.getElementById('find').value.toLowerCase().split(/\s+/).filter(Boolean)
  const results = document.getElementById('results')
  results.hidden = !words.length || !parts
  if (results.hidden) return
  const hits = parts.filter((part) => words.every((word) => part.all.includes(word)))
    .map((part) => ({ part, rank: rank(part, words) })).sort((a, b) => b.rank - a.rank)
  document.getElementById('count').textContent = hits.length > most ? `${hits.length} places, the first ${most} of them:` : hits.length === 1 ? '1 place' : `${hits.length} places`
  document.getElementById('hits').replaceChildren(...hits.slice(0, most).map(({ part }) => hit(part, words)))
}

const rank = ({ title, heading }, words) => words.reduce((sum, word) =>
  sum + (title.toLowerCase().includes(word) ? 100 : 0) + (heading.toLowerCase().includes(word) ? 1 : 0), 0)

// hit is one place, with what stands around the first word that was looked for.
function hit({ address, title, heading, text }, words) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = root + address
  link.textContent = heading === title ? title : `${title}: ${heading}`
  const from = (place) => place <= 0 ? 0 : text.lastIndexOf(' ', place) + 1 // the beginning of the word there
  const at = from(text.toLowerCase().indexOf(words[0]) - 60)
  const end = text.length > at + 180 ? Math.max(from(at + 180), at) : text.length
  const where = document.createElement('span')
  where.className = 'where'
  where.textContent = (at ? '… ' : '') + text.slice(at, end).trim() + (end < text.length ? ' …' : '')
  item.append(link, where)
  return item
}
