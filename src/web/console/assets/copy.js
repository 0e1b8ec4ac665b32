/**
 * Adds a button to every element with `data-copy`, which copies its text. Where the browser does not allow that, the text
 * is selected, ready for the keyboard. Without this module, the text is selected by hand.
 */
export function addCopyButtons() {
  for (const field of document.querySelectorAll('textarea[data-copy]')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'quiet'
    button.textContent = field.dataset.copy
    const state = document.createElement('span')
    state.setAttribute('role', 'status')
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(field.value)
        state.textContent = 'Copied'
      } catch {
        field.select()
      }
    })
    const tools = document.createElement('p')
    tools.className = 'actions tools'
    tools.append(button, state)
    field.after(tools)
  }
}
