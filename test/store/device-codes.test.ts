/** Devices that wait for their users, on every database: one answer counts, and only a few wait. D-440, D-442. */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import type { RequestId } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import {
  createVault,
  INSTALLATION_SECRET_BYTES,
  type SecretHash,
} from '../../src/base/secrets/vault.ts'
import { seconds } from '../../src/base/time/duration.ts'
import type { DeviceCode } from '../../src/domain/device/device-code.ts'
import { requestDeviceCode } from '../../src/domain/device/request-device-code.ts'
import type { Failure } from '../../src/errors/catalogue.ts'
import type { Issuer } from '../../src/protocol/oidc.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, NOON } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const hash = (name: string) => `hash-${name}` as SecretHash

const code = (name: string, changes: Partial<DeviceCode> = {}): DeviceCode => ({
  hash: hash(name),
  userCodeHash: hash(`user-${name}`),
  clientId: 'service',
  issuer: 'https://id.example.com/oidc' as Issuer,
  scopes: ['openid', 'offline_access'],
  address: '192.0.2.1',
  userAgent: undefined,
  requestedAt: NOON,
  expiresAt: after(600_000),
  interval: seconds(5),
  polledAt: undefined,
  answer: 'pending',
  ...changes,
})

for (const database of ALL) {
  suite(database.name, () => {
    test('a code is found by both of its hashes, as it was stored', async (t) => {
      const { deviceCodes } = await (await database.create(t)).open()
      const stored = code('a', { userAgent: 'a terminal' })
      assert.equal(await deviceCodes.insert(stored), true)
      assert.deepEqual(await deviceCodes.find(stored.hash), stored)
      assert.deepEqual(await deviceCodes.findByUserCode(stored.userCodeHash), stored)
      assert.equal(await deviceCodes.find(stored.userCodeHash), undefined)
      assert.equal(
        await deviceCodes.insert(code('b', { userCodeHash: stored.userCodeHash })),
        false,
        'another device has that user code',
      )
      await deviceCodes.markPolled(stored.hash, after(7), seconds(10))
      const polled = { ...stored, polledAt: after(7), interval: seconds(10) }
      assert.deepEqual(await deviceCodes.find(stored.hash), polled)
    })

    test('of fifty answers at once, one counts', async (t) => {
      const stores = await openTwo(await database.create(t))
      const { userCodeHash } = code('a')
      await stores[0]?.deviceCodes.insert(code('a'))
      const answers = await Promise.all(
        Array.from({ length: 25 }).flatMap((_, n) =>
          stores.map(({ deviceCodes }) =>
            deviceCodes.answer(userCodeHash, n % 2 === 0 ? 'approved' : 'denied', NOON),
          ),
        ),
      )
      assert.equal(answers.filter((counts) => counts).length, 1)
    })

    test('an expired code cannot be answered', async (t) => {
      const { deviceCodes } = await (await database.create(t)).open()
      const { userCodeHash, expiresAt } = code('a')
      await deviceCodes.insert(code('a'))
      assert.equal(await deviceCodes.answer(userCodeHash, 'approved', expiresAt), false)
      assert.equal(await deviceCodes.answer(hash('nothing'), 'approved', NOON), false)
    })

    test('only codes that a user could still answer are counted, by network', async (t) => {
      const { deviceCodes } = await (await database.create(t)).open()
      assert.deepEqual(await deviceCodes.countOutstanding('192.0.2.1', NOON), {
        all: 0,
        ofNetwork: 0,
        ofSite: 0,
      })
      await deviceCodes.insert(code('a'))
      await deviceCodes.insert(code('b', { address: '2001:db8::1' }))
      await deviceCodes.insert(code('c', { address: '2001:db8::2' }))
      await deviceCodes.insert(code('d', { address: '2001:db8:0:1::2' }))
      await deviceCodes.insert(code('expired', { expiresAt: NOON }))
      await deviceCodes.insert(code('answered', { answer: 'denied' }))
      const count = (network: string) => deviceCodes.countOutstanding(network, NOON)
      assert.deepEqual(await count('192.0.2.1'), { all: 4, ofNetwork: 1, ofSite: 1 })
      assert.deepEqual(await count('2001:db8:0:0::/64'), { all: 4, ofNetwork: 2, ofSite: 3 })
    })

    // Attack: an ordinary line has 256 or more networks of IPv6, which could hold all 2,000 places together.
    test('D-442: the networks of one site of IPv6 have few of the places together', async (t) => {
      const { transaction } = await (await database.create(t)).open()
      const ports = {
        clientId: 'service',
        otherClientIds: [],
        vault: createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom),
        random: systemRandom,
        clock: { now: () => NOON, uptime: () => seconds(0) },
        transaction,
      }
      const ask = async (address: string) => {
        const caller = { address, requestId: 'r' as RequestId, userAgent: undefined }
        const issuer = 'https://id.example.com/oidc' as Issuer
        const asked = { issuer, clientId: 'service', scope: 'openid', caller }
        return requestDeviceCode(ports, asked).then(
          () => 'stored',
          (error: Failure) => error.code,
        )
      }
      for (let n = 0; n < 200; n++) assert.equal(await ask(`2001:db8:1:${n}::1`), 'stored')
      assert.equal(await ask('2001:db8:1:ff::1'), 'RATE_LIMITED')
      assert.equal(await ask('2001:db8:2:ff::1'), 'stored', 'another site')
      assert.equal(await ask('2001:db8:11::1'), 'stored', 'one whose text begins in the same way')
      assert.equal(await ask('192.0.2.1'), 'stored')
    })

    test('expired ones are removed a few at a time, oldest first', async (t) => {
      const { deviceCodes } = await (await database.create(t)).open()
      for (const n of [3, 1, 2]) await deviceCodes.insert(code(String(n), { expiresAt: after(n) }))
      assert.equal(await deviceCodes.removeExpired(after(3), 1), 1)
      assert.equal(await deviceCodes.find(hash('1')), undefined)
      assert.equal(await deviceCodes.removeExpired(after(3), 10), 1)
      assert.notEqual(await deviceCodes.find(hash('3')), undefined)
    })
  })
}
