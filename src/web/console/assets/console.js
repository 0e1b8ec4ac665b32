/** What makes the pages of the console lively. Each part does nothing on a page that does not need it. */
import { addCopyButtons } from './copy.js'
import { focusSearch } from './keyboard.js'
import { followChanges } from './live.js'
import { keepTimes } from './times.js'

keepTimes()
focusSearch()
addCopyButtons()
followChanges()
