/**
 * The copy of policies, signers and CAs: D-34. What has changed is read, what has not is not, and a copy that is too old
 * says so. The lists are in memory here; a test decides when a read of them ends.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { externalSigner } from '../../../test/support/idp/external-idp.ts'
import { aPolicy } from '../../../test/support/people.ts'
import type { AuthPolicyId, ExternalJwtSignerId, IdentityId } from '../../base/ids.ts'
import { milliseconds, seconds } from '../../base/time/duration.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import type { RouterPlace } from '../identities/router-hosts.ts'
import type { AuthPolicy } from './auth-policy.ts'
import { createRules } from './rules.ts'

const ONE = 'policy-1' as AuthPolicyId

function world() {
  const clock = new ManualClock()
  const stored = {
    version: 0,
    policies: [aPolicy()] as readonly AuthPolicy[],
    signers: [] as readonly ExternalJwtSigner[],
    cas: [] as readonly Ca[],
    routers: [] as readonly RouterPlace[],
  }
  const reads: string[] = []
  let isDown = false
  /** What a list waits for before it answers what it has read; a test may hold it back. */
  let held = Promise.resolve()
  const list = <T>(what: string, now: () => T) => {
    return async () => {
      reads.push(what)
      const read = now()
      await held
      return read
    }
  }
  const rules = createRules({
    clock,
    ruleVersions: {
      current: async () => {
        if (isDown) throw new Error('the database is away')
        reads.push('version')
        return stored.version
      },
    },
    authPolicies: { list: list('policies', () => stored.policies) },
    externalJwtSigners: { list: list('signers', () => stored.signers) },
    cas: { list: list('cas', () => stored.cas) },
    identities: { listRouterPlaces: async () => stored.routers },
  })
  return {
    clock,
    rules,
    reads,
    change(change: Partial<Omit<typeof stored, 'version'>>) {
      Object.assign(stored, change)
      stored.version += 1
    },
    goDown: (down = true) => {
      isDown = down
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = Promise.resolve()
        resolve()
      }
    },
  }
}

test('before the first reading nothing is known, and the copy is stale', () => {
  const { rules } = world()
  assert.equal(rules.policy(ONE), undefined)
  assert.deepEqual(rules.signers(), [])
  assert.deepEqual(rules.cas(), [])
  assert.equal(rules.isStale(), true)
})

test('the first reading reads everything, also while the version is still 0', async () => {
  const { rules } = world()
  await rules.refresh()
  assert.deepEqual(rules.policy(ONE), aPolicy())
  assert.equal(rules.policy('policy-2' as AuthPolicyId), undefined)
  assert.equal(rules.isStale(), false)
})

test('D-34: a change is read, and what is gone is gone', async () => {
  const { rules, change } = world()
  await rules.refresh()
  const stricter = aPolicy({ secondary: { requireTotp: true } })
  change({ policies: [stricter] })
  assert.equal(rules.policy(ONE)?.secondary.requireTotp, false, 'not before it is read')
  await rules.refresh()
  assert.deepEqual(rules.policy(ONE), stricter)
  change({ policies: [] })
  await rules.refresh()
  assert.equal(rules.policy(ONE), undefined)
})

test('D-392: routers are found by each of their hosts, with the port that it allows', async () => {
  const { rules, change } = world()
  const router = { name: 'gw', disabledAt: undefined, disabledUntil: undefined }
  const one = { ...router, id: 'r1' as IdentityId, hosts: ['gw.example.com', '[::1]:8443'] }
  const two = { ...router, id: 'r2' as IdentityId, hosts: ['gw.example.com:443'] }
  change({ routers: [one, two] })
  await rules.refresh()
  const at = (host: string) => rules.routersAt(host).map(({ id, port }) => [id, port])
  assert.deepEqual(at('gw.example.com'), [
    ['r1', 0],
    ['r2', 443],
  ])
  assert.deepEqual(at('::1'), [['r1', 8443]])
  assert.deepEqual(at('other.example.com'), [])
  change({ routers: [] })
  await rules.refresh()
  assert.deepEqual(at('gw.example.com'), [])
})

test('where nothing has changed, only the version is asked for', async () => {
  const { rules, reads } = world()
  await rules.refresh()
  assert.deepEqual(reads.toSorted(), ['cas', 'policies', 'signers', 'version'])
  reads.length = 0
  await rules.refresh()
  assert.deepEqual(reads, ['version'])
})

test('signers are found by their id and by their exact issuer, enabled or not', async () => {
  const { rules, change } = world()
  const one = externalSigner({ issuer: 'https://idp.example/' })
  const other = externalSigner({
    id: 'signer-2' as ExternalJwtSignerId,
    issuer: 'https://idp.example',
    enabled: false,
  })
  change({ signers: [one, other] })
  await rules.refresh()
  assert.deepEqual(rules.signers(), [one, other])
  assert.deepEqual(rules.signer(one.id), one)
  assert.deepEqual(rules.signer(other.id), other)
  assert.deepEqual(rules.signerOf('https://idp.example/'), one)
  assert.deepEqual(rules.signerOf('https://idp.example'), other)
  for (const issuer of ['https://IDP.example/', 'https://idp.example//', '', '__proto__']) {
    assert.equal(rules.signerOf(issuer), undefined, issuer)
  }
})

test('listeners are notified after a change that was read, and after nothing else', async () => {
  const { rules, change } = world()
  const told: (boolean | undefined)[] = []
  rules.onChange(() => told.push(rules.policy(ONE)?.secondary.requireTotp))
  await rules.refresh()
  await rules.refresh()
  change({ policies: [aPolicy({ secondary: { requireTotp: true } })] })
  await rules.refresh()
  assert.deepEqual(told, [false, true], 'they see what was read')
})

test('a change while the lists are being read is read by the next refresh', async () => {
  const { rules, change, hold } = world()
  const release = hold()
  const reading = rules.refresh()
  // Every list has been read as it was; the change comes before they have arrived.
  await new Promise(setImmediate)
  change({ policies: [aPolicy({ secondary: { requireTotp: true } })] })
  release()
  await reading
  await rules.refresh()
  assert.equal(rules.policy(ONE)?.secondary.requireTotp, true)
})

test('refreshes at the same moment come one after the other, and each sees what stood before it', async () => {
  const { rules, change, hold } = world()
  const release = hold()
  const first = rules.refresh()
  await new Promise(setImmediate)
  change({ policies: [] })
  // A caller that has just changed something refreshes, and then finds its change.
  const second = rules.refresh()
  release()
  await Promise.all([first, second])
  assert.equal(rules.policy(ONE), undefined)
})

test('D-34: a copy is stale when it is older than five seconds', async () => {
  const { rules, clock } = world()
  await rules.refresh()
  clock.pass(seconds(5))
  assert.equal(rules.isStale(), false)
  clock.pass(milliseconds(1))
  assert.equal(rules.isStale(), true)
  await rules.refresh()
  assert.equal(rules.isStale(), false)
})

test('D-34: a reading is as old as its beginning', async () => {
  const { rules, clock, hold } = world()
  const release = hold()
  const reading = rules.refresh()
  await new Promise(setImmediate)
  clock.pass(seconds(6))
  release()
  await reading
  assert.equal(rules.isStale(), true)
})

test('D-34: a read that fails is reported to its caller, keeps the copy, and does not renew it', async () => {
  const { rules, clock, goDown, change } = world()
  await rules.refresh()
  goDown()
  change({ policies: [] })
  clock.pass(seconds(6))
  await assert.rejects(rules.refresh(), { message: 'the database is away' })
  assert.deepEqual(rules.policy(ONE), aPolicy())
  assert.equal(rules.isStale(), true)

  goDown(false)
  await rules.refresh()
  assert.equal(rules.policy(ONE), undefined, 'it recovers by itself')
  assert.equal(rules.isStale(), false)
})

test('D-289: a version that another process saw keeps the copy fresh, and another version is read', async () => {
  const { rules, change, clock, reads } = world()
  await rules.refresh()
  const before = reads.length
  clock.pass(seconds(4))
  await rules.confirm({ version: 0, age: milliseconds(300) })
  assert.deepEqual(rules.state(), { version: 0, age: 300 })
  assert.equal(reads.length, before, 'nothing was read')
  change({ policies: [] })
  await rules.confirm({ version: 1, age: milliseconds(0) })
  assert.equal(rules.policy(ONE), undefined)
})
