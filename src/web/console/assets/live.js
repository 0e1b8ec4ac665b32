/**
 * Follows the stream of changes that an element names with `data-stream`. When something has happened, htmx loads every
 * element with `data-live` again. `data-stream-state` says whether the page is live.
 */
export function followChanges() {
  const source = document.querySelector('[data-stream]')
  if (source === null || !('EventSource' in window)) return
  const state = document.querySelector('[data-stream-state]')
  const say = (text) => {
    if (state !== null) state.textContent = text
  }
  let stream

  function open() {
    stream = new EventSource(source.dataset.stream)
    stream.addEventListener('open', () => say('Live'))
    stream.addEventListener('error', () => say(''))
    stream.addEventListener('change', refresh)
    // The session has ended: the page asks for a login.
    stream.addEventListener('over', () => {
      stream.close()
      location.reload()
    })
  }

  open()
  // A browser opens few connections to one address: tabs in the background must not keep them.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stream.close()
    else {
      refresh()
      open()
    }
  })
  addEventListener('pagehide', () => stream.close())
}

function refresh() {
  // A user who is choosing rows must not lose the choice.
  if (document.querySelector('[data-live] input:checked, [data-live] details[open]')) return
  for (const element of document.querySelectorAll('[data-live]')) {
    window.htmx?.trigger(element, 'refresh')
  }
}
