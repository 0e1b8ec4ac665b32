/** Credentials for gateways, and what happens when one refuses or is away. D-423, D-424. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { TestClock } from '../../../test/support/clocks/clock.ts'
import { hours } from '../../base/time/duration.ts'
import { ServerUnavailable, SessionEnded, UntrustedServer } from '../errors.ts'
import { createGatewayCredentials } from './credentials.ts'
import { attempt } from './reach.ts'
import { GatewayRefused } from './tunnel.ts'

const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** A session whose certificates last 12 hours and are numbered. */
function sessionOf(clock: TestClock) {
  const asked = { certificates: 0, refreshes: 0 }
  const removed: string[] = []
  let isAway = false
  return {
    asked,
    removed,
    leave() {
      isAway = true
    },
    session: {
      accessToken: async () => `token-${asked.refreshes}`,
      async refresh() {
        asked.refreshes += 1
      },
      async certificate() {
        if (isAway) throw new ServerUnavailable('NO_ANSWER', 'away', { mayHaveHappened: false })
        asked.certificates += 1
        const id = String(asked.certificates)
        return {
          id,
          certificate: `certificate-${id}`,
          cas: 'cas',
          key,
          validTo: new Date(clock.now() + hours(12)),
          remove: async () => void removed.push(id),
        }
      },
    },
  }
}

test('a certificate is shared, renewed after two thirds of its life, and removed at the end', async () => {
  const clock = new TestClock()
  const { session, asked, removed } = sessionOf(clock)
  const credentials = createGatewayCredentials({ session, clock })
  const both = await Promise.all([credentials.current(), credentials.current()])
  assert.deepEqual(
    both.map(({ cert }) => cert),
    ['certificate-1', 'certificate-1'],
  )
  clock.advance(hours(7))
  assert.equal((await credentials.current()).cert, 'certificate-1')
  clock.advance(hours(2))
  assert.equal((await credentials.current()).cert, 'certificate-2')
  assert.equal(asked.certificates, 2)
  // The first is still what open connections rely on.
  assert.deepEqual(removed, [])
  await credentials.close()
  assert.deepEqual(removed, ['1', '2'])
})

test('while the server is away a certificate is used to its end, and not longer', async () => {
  const clock = new TestClock()
  const { session, leave } = sessionOf(clock)
  const credentials = createGatewayCredentials({ session, clock })
  await credentials.current()
  leave()
  clock.advance(hours(11))
  assert.equal((await credentials.current()).cert, 'certificate-1')
  clock.advance(hours(2))
  await assert.rejects(credentials.current(), ServerUnavailable)
})

const refused = (status: number, next: string) =>
  new GatewayRefused(status === 401 ? 'UNAUTHORIZED' : 'CODE', 'refused', { status, next })

/** Each failure once, then success; the credentials that were shown. */
async function tried(failures: readonly Error[], patienceMilliseconds = 0) {
  const clock = new TestClock()
  const { session } = sessionOf(clock)
  const credentials = createGatewayCredentials({ session, clock })
  const shown: string[] = []
  const left = [...failures]
  const outcome = await attempt(
    async ({ token, cert }) => {
      shown.push(`${token} ${cert}`)
      const failure = left.shift()
      if (failure !== undefined) throw failure
      return 'open'
    },
    { credentials, clock, patienceMilliseconds },
  ).catch((error: unknown) => error)
  return { outcome, shown }
}

test('a token and a certificate that a gateway refuses are replaced, each once', async () => {
  const { outcome, shown } = await tried([
    refused(401, 'refresh'),
    refused(403, 'present-certificate'),
  ])
  assert.equal(outcome, 'open')
  assert.deepEqual(shown, [
    'token-0 certificate-1',
    'token-1 certificate-1',
    'token-1 certificate-2',
  ])
  const again = refused(401, 'sign-in')
  assert.equal((await tried([refused(401, 'sign-in'), again])).outcome, again)
})

test('a gateway that is away is tried again, and one that refuses or is not trusted is not', async () => {
  const away = new ServerUnavailable('NO_ANSWER', 'away', { mayHaveHappened: false })
  assert.equal((await tried([away, refused(503, 'wait')], 10_000)).outcome, 'open')
  assert.equal((await tried([away])).outcome, away)
  for (const failure of [
    refused(404, 'fix-configuration'),
    refused(502, 'report'),
    new UntrustedServer('CODE', 'untrusted'),
    new SessionEnded('EXPIRED', 'over', { status: 401 }),
  ]) {
    const { outcome, shown } = await tried([failure], 10_000)
    assert.equal(outcome, failure)
    assert.equal(shown.length, 1)
  }
})
