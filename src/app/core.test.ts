import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../base/secrets/secret.ts'
import { shareOf } from './core.ts'

const db = { kind: 'postgres', url: new Secret('postgres://db.example.org/latchkey') } as const

test('however many workers there are, each process has enough connections, and the supervisor one to listen', () => {
  const connections = (processes: number) =>
    (['first', 'worker'] as const).map((role) => {
      const address = shareOf(db, { processes, role })
      return address.kind === 'postgres' ? address.maxConnections : undefined
    })
  assert.deepEqual(connections(1), [undefined, undefined], 'the default of a single process')
  assert.deepEqual(connections(2), [5, 5])
  assert.deepEqual(connections(3), [5, 4])
  assert.deepEqual(connections(8), [5, 4])
})
