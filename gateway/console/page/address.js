// What an address names, such as an approval, kept until somebody is logged in: a login
// has an address of its own.
const kept = 'bailiff-address'

export function remember() {
  if (location.search) localStorage.setItem(kept, location.search.slice(0, 1000))
  history.replaceState(null, '', location.pathname)
}

// remembered is what was named; each is empty if nothing was.
export function remembered() {
  const named = new URLSearchParams(localStorage.getItem(kept) ?? '')
  localStorage.removeItem(kept)
  const approval = named.get('approval') ?? ''
  return { approval: /^[a-z0-9-]{1,64}$/.test(approval) ? approval : '', view: named.get('view') ?? '', find: named.get('find') ?? '' }
}
