/**
 * Loaded before the command (`node --import`): at one step of a backup, a restore or a move the process kills itself, as a
 * kill -9 or a power cut would. Which step is in KILL_AT: `rows`, after the first rows of events; `commit`, instead of the
 * commit after them; `mark`, when the target of a move is committed and its source is about to be marked; `place`, when the
 * file of a backup is written and is about to get its name.
 */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'
import { beforeStatements } from './before-statements.ts'

const step = process.env['KILL_AT']
let hasRows = false

function killAt(text: string): void {
  if (/insert into "events"/.test(text)) {
    if (step === 'rows' && hasRows) process.kill(process.pid, 'SIGKILL')
    hasRows = true
  }
  if (step === 'commit' && hasRows && text === 'commit') process.kill(process.pid, 'SIGKILL')
  if (step === 'mark' && /^update "installation" set "moved_to"/.test(text)) {
    process.kill(process.pid, 'SIGKILL')
  }
}

if (step === 'place') {
  fs.rename = async () => {
    process.kill(process.pid, 'SIGKILL')
  }
  syncBuiltinESMExports()
}

if (step !== undefined) beforeStatements(killAt)
