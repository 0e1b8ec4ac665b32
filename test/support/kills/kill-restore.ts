/**
 * Loaded before the command (`node --import`): at one step of a backup, a restore or a move the process kills itself, as a
 * kill -9 or a power cut would. Which step is in KILL_AT: `rows`, after the first rows of events; `commit`, instead of the
 * commit after them; `mark`, when the target of a move is committed and its source is about to be marked; `place`, when the
 * file of a backup is written and is about to get its name.
 */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'
import { StatementSync } from 'node:sqlite'
import { Client } from 'pg'

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

if (step !== undefined) {
  const { run, all } = StatementSync.prototype
  StatementSync.prototype.run = function (this: StatementSync, ...args: Parameters<typeof run>) {
    killAt(this.sourceSQL)
    return run.apply(this, args)
  } as typeof run
  // Inserts that return something.
  StatementSync.prototype.all = function (this: StatementSync, ...args: Parameters<typeof all>) {
    killAt(this.sourceSQL)
    return all.apply(this, args)
  } as typeof all
  const { query } = Client.prototype
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    const [what] = args
    const text = typeof what === 'string' ? what : (what as { text?: string } | undefined)?.text
    killAt(text ?? '')
    return Reflect.apply(query, this, args)
  } as typeof query
}
