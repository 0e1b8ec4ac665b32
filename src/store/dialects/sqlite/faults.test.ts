import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainFault } from './faults.ts'

const FULL = 'the disk is full; free some space'
const CASES: readonly [error: object, why: string | undefined][] = [
  [
    { code: 'EROFS' },
    'its file system is read-only; make it writable, or set "db" to a file on another one',
  ],
  [{ code: 'ENOSPC' }, FULL],
  [
    { code: 'EMFILE' },
    'this process has too many files open; raise its limit (ulimit -n, or LimitNOFILE= of systemd)',
  ],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 13 }, FULL],
  // SQLite says best what else happens, and what no permission explains.
  [{ code: 'ERR_SQLITE_ERROR', errcode: 8 }, undefined],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 10 }, undefined],
  [{ code: 'EOTHER' }, undefined],
]

for (const [error, why] of CASES) {
  test(`explains ${JSON.stringify(error)}`, () => {
    assert.equal(explainFault('/nowhere/latchkey.db', error), why)
  })
}
