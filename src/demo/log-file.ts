/** The log of a part of the demo, in a file of its folder, to keep the screen readable. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { createLog } from '../app/logging.ts'

export function openLogFile(path: string) {
  const file = openSync(path, 'a', 0o600)
  let isOpen = true
  const write = (text: string) => {
    if (isOpen) writeSync(file, text)
  }
  return {
    log: createLog({ level: 'info', format: 'text' }, { write }),
    close() {
      if (isOpen) closeSync(file)
      isOpen = false
    },
  }
}
