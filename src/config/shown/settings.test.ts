/** The configuration for people: what was written, what is the default, what was raised, and no secret. D-372. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOf } from './settings.ts'

const valueAt = (tree: unknown, path: string) =>
  settingsOf(tree, []).find((setting) => setting.path === path)?.value

test('shows what the file says, and the default of what it leaves out', () => {
  const settings = settingsOf({ log: { level: 'debug' } }, [])
  const of = (path: string) => settings.find((setting) => setting.path === path)
  assert.deepEqual(of('log.level'), {
    path: 'log.level',
    value: 'debug',
    isSet: true,
    adjustedFrom: undefined,
  })
  assert.equal(of('log.format')?.isSet, false)
  assert.equal(of('constructor'), undefined)
})

test('marks a value that was raised', () => {
  const path = 'edge.audit.retention'
  const tree = { edge: { audit: { retention: '1h' } } }
  const settings = settingsOf(tree, [{ path, given: '1h', used: '1d' }])
  const { value, adjustedFrom } = settings.find((setting) => setting.path === path) ?? {}
  assert.deepEqual([value, adjustedFrom], ['1d', '1h'])
})

test('lists the entries of lists of sections', () => {
  const web = [{ name: 'default', bindPoints: [{ interface: '0.0.0.0:1280' }] }]
  assert.equal(valueAt({ web }, 'web[0].bindPoints[0].interface'), '0.0.0.0:1280')
})

// Attack: an administrator of identities reads credentials of the operator out of the console.
const SECRETS: Readonly<Record<string, readonly [unknown, string]>> = {
  'the password of the database': [{ db: 'postgres://app:hunter2@db/latchkey' }, 'db'],
  'a password with signs of an address': [{ db: 'postgres://app:hunter2@/x@db/latchkey' }, 'db'],
  'a password in the query': [{ db: 'postgres://db/latchkey?password=hunter2' }, 'db'],
  'the address and the secret of a webhook': [
    { notifications: { webhook: { url: 'https://hooks.example/hunter2', secret: 'hunter2' } } },
    'notifications.webhook.url',
  ],
  'a header of the collector': [
    { telemetry: { traces: { headers: { authorization: 'Bearer hunter2' } } } },
    'telemetry.traces.headers',
  ],
}

for (const [what, [tree, path]] of Object.entries(SECRETS)) {
  test(`does not show ${what}`, () => {
    assert.ok(valueAt(tree, path) !== undefined)
    assert.doesNotMatch(JSON.stringify(settingsOf(tree, [])), /hunter2/)
  })
}

test('names a variable without resolving it, and the files of keys', () => {
  assert.equal(valueAt({ db: '$'.concat('{DATABASE_URL}') }, 'db'), '$'.concat('{DATABASE_URL}'))
  assert.equal(valueAt({ identity: { key: 'server.key' } }, 'identity.key'), 'server.key')
})
