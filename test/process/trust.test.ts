/** `latchkey trust` as it is shipped. It is tested on pretended machines in src/cli/trust, and never on this one. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { runLatchkey } from '../support/process/run-command.ts'
import { temporaryFolder } from '../support/service.ts'

test('names a CA that cannot be read, and a home without one', async (t) => {
  const folder = await temporaryFolder(t)
  const missing = join(folder, 'ca.pem')
  const { code, stderr } = await runLatchkey(t, ['trust', '--ca', missing])
  assert.equal(code, 66)
  assert.equal(stderr, `latchkey: cannot read the CA ${missing}\n`)
  const empty = await runLatchkey(t, ['trust', '--home', join(folder, 'home')])
  assert.equal(empty.code, 1)
  assert.match(empty.stderr, /^latchkey: nothing is installed in .*; run: latchkey init\n$/)
})
