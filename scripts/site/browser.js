/** What the pages do with scripts: search as you type, buttons that copy, and a menu that is closed on small screens. */
import MiniSearch from 'minisearch'

const MOST_RESULTS = 12
const base = document.documentElement.dataset['base'] ?? ''

/** Fetched when the reader begins to search. */
let index

async function loadIndex() {
  const response = await fetch(`${base}assets/search.json`)
  if (!response.ok) throw new Error(`the index cannot be loaded: ${response.status}`)
  const sections = await response.json()
  const search = new MiniSearch({
    fields: ['heading', 'title', 'text', 'words'],
    // Codes and options are words: INVALID_AUTH, --ca-fingerprint, D-22.
    tokenize: (text) =>
      text.split(/[^\p{L}\p{N}_.-]+/u).map((word) => word.replace(/^[-.]+|[-.]+$/g, '')),
    searchOptions: {
      boost: { heading: 4, title: 3 },
      prefix: true,
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
      combineWith: 'AND',
    },
  })
  search.addAll(sections.map((section, id) => ({ ...section, id })))
  return (words) => search.search(words).map(({ id }) => sections[id])
}

function element(name, attributes, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

function excerpt(text, words) {
  const [first = ''] = words.trim().split(/\s+/)
  const at = Math.max(0, text.toLowerCase().indexOf(first.toLowerCase()) - 40)
  const part = text.slice(at, at + 140)
  return `${at > 0 ? '…' : ''}${part}${at + 140 < text.length ? '…' : ''}`
}

function startSearch() {
  const field = document.querySelector('#search')
  const results = document.querySelector('#results')
  const found = document.querySelector('#found')
  if (field === null || results === null || found === null) return
  field.hidden = false

  const close = () => {
    results.hidden = true
    results.replaceChildren()
  }

  async function show() {
    const words = field.value.trim()
    if (words === '') {
      found.textContent = ''
      return close()
    }
    index ??= loadIndex()
    let sections
    try {
      sections = (await index)(words)
    } catch {
      index = undefined
      found.textContent = 'The search does not work right now.'
      results.replaceChildren(element('p', {}, found.textContent))
      results.hidden = false
      return
    }
    // The reader has typed on meanwhile.
    if (field.value.trim() !== words) return
    const links = sections
      .slice(0, MOST_RESULTS)
      .map(({ url, title, heading, text }) =>
        element(
          'a',
          { href: `${base}${url}` },
          element('strong', {}, heading),
          ...(heading === title ? [] : [element('span', { class: 'page' }, title)]),
          element('span', { class: 'text' }, excerpt(text, words)),
        ),
      )
    const said = sections.length === 0 ? 'Nothing found.' : `${sections.length} found.`
    found.textContent = said
    results.replaceChildren(...(links.length === 0 ? [element('p', {}, said)] : links))
    results.hidden = false
  }

  field.addEventListener('input', show)
  field.addEventListener('focus', () => {
    index ??= loadIndex().catch((error) => {
      index = undefined
      throw error
    })
    index.catch(() => undefined)
    if (field.value !== '') void show()
  })
  document.addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof HTMLElement && /INPUT|TEXTAREA/.test(event.target.tagName)
    if (event.key === '/' && !isTyping) {
      event.preventDefault()
      field.focus()
    }
    if (results.hidden) return
    if (event.key === 'Escape') {
      close()
      field.focus()
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    const places = [field, ...results.querySelectorAll('a')]
    const at = places.indexOf(document.activeElement)
    if (at < 0) return
    event.preventDefault()
    places[Math.min(places.length - 1, Math.max(0, at + step))]?.focus()
  })
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') results.querySelector('a')?.click()
  })
  document.addEventListener('click', (event) => {
    const isInside = event.target instanceof Node && field.parentElement?.contains(event.target)
    if (isInside !== true) close()
  })
}

function addCopyButtons() {
  for (const block of document.querySelectorAll('article pre')) {
    const button = element('button', { type: 'button', class: 'copy' }, 'Copy')
    const frame = element('div', { class: 'code' })
    block.replaceWith(frame)
    frame.append(block, button)
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(block.textContent)
        button.textContent = 'Copied'
      } catch {
        button.textContent = 'Not allowed'
      }
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2_000)
    })
  }
}

/** On a narrow screen the list of pages would push the text out of sight. */
function closeMenu() {
  const menu = document.querySelector('.pages details')
  const isNarrow = matchMedia('(width < 60rem)')
  const apply = () => {
    if (menu !== null) menu.open = !isNarrow.matches
  }
  isNarrow.addEventListener('change', apply)
  apply()
}

closeMenu()
startSearch()
addCopyButtons()
document.querySelector('.pages [aria-current]')?.scrollIntoView({ block: 'nearest' })
