/**
 * Makes the times of a page relative, or exact in the reader's time zone if they say so (`exact`), and shows the whole
 * time on hover. Without this module a page shows the exact time in UTC.
 */

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const SHORT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Each unit with its seconds, the longest first. */
const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

export function keepTimes() {
  showTimes(document)
  setInterval(() => showTimes(document), 20_000)
  document.addEventListener('htmx:afterSwap', () => showTimes(document))
}

export function showTimes(root) {
  for (const element of root.querySelectorAll('time[datetime]')) {
    const at = new Date(element.dateTime)
    if (Number.isNaN(at.getTime())) continue
    element.title = EXACT.format(at)
    element.textContent = element.classList.contains('exact')
      ? SHORT.format(at)
      : relative((at.getTime() - Date.now()) / 1000)
  }
}

export function relative(seconds) {
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.round(seconds / size), unit)
  }
  return seconds > 5 ? 'in a moment' : 'just now'
}
