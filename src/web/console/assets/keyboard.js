/** The key "/" puts the focus into the search box, unless the user is typing somewhere. */
export function focusSearch() {
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target.closest?.('input, textarea, select, [contenteditable]')) return
    const search = document.getElementById('search')
    if (search === null) return
    event.preventDefault()
    search.focus()
    search.select()
  })
}
