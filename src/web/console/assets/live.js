/**
 * Follows the stream of changes, on pages that have something to refresh: an element with `data-live` is loaded again
 * when something happened, through htmx. The page says which stream with `data-stream` on the body's main element.
 */
export function followChanges() {
  const source = document.querySelector('[data-stream]')
  if (source === null || !('EventSource' in window)) return
  const stream = new EventSource(source.dataset.stream)
  const state = document.querySelector('[data-stream-state]')
  const say = (text) => {
    if (state !== null) state.textContent = text
  }
  stream.addEventListener('open', () => say('Live'))
  stream.addEventListener('error', () => say('Connecting…'))
  stream.addEventListener('change', () => {
    // A user who is choosing rows must not lose the choice.
    if (document.querySelector('[data-live] input:checked, [data-live] details[open]')) return
    for (const element of document.querySelectorAll('[data-live]')) {
      window.htmx?.trigger(element, 'refresh')
    }
  })
  // The session has ended: the next page asks for a login.
  stream.addEventListener('over', () => {
    stream.close()
    location.reload()
  })
  addEventListener('pagehide', () => stream.close())
}
