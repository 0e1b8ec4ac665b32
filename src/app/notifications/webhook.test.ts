/** Delivering links to a receiver that is slow, wrong or away. D-378. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startReceiver, WEBHOOK_SECRET } from '../../../test/support/monitoring/webhook-receiver.ts'
import type { EnrollmentId, IdentityId } from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { systemClock } from '../../base/time/clock.ts'
import { milliseconds } from '../../base/time/duration.ts'
import { instant } from '../../base/time/instant.ts'
import type { LinkNotice } from '../../domain/enrollments/links/notice.ts'
import { createNotifier, type Delivery } from './webhook.ts'

const NOTICE: LinkNotice = {
  type: 'invitation.created',
  enrollment: {
    id: 'enrollment-1' as EnrollmentId,
    method: 'updb',
    username: 'ada',
    expiresAt: instant(4_000_000_000_000),
  },
  identity: {
    id: 'identity-1' as IdentityId,
    name: 'Ada',
    externalId: undefined,
    tags: { mail: 'ada@example.com' },
  },
  link: new Secret('https://id.example.com/invite#lke_secret'),
  caller: { address: '192.0.2.1' } as LinkNotice['caller'],
}

const SHORT = milliseconds(20)

/** Sends the notice and waits for its end. */
async function deliver(t: TestContext, url: string, pauses = [SHORT, SHORT]) {
  const lines: unknown[] = []
  const keep = (...line: unknown[]) => void lines.push(line)
  const log = { debug: keep, info: keep, warn: keep, error: keep } as never
  const ended = Promise.withResolvers<Delivery>()
  const webhook = { url: new URL(url), secret: new Secret(WEBHOOK_SECRET.toString('base64')) }
  const notifier = createNotifier({
    webhook,
    clock: systemClock,
    random: systemRandom,
    log,
    onEnd: async (_notice, delivery) => ended.resolve(delivery),
    timeLimit: milliseconds(300),
    pauses,
  })
  t.after(() => notifier.stop())
  notifier.send(NOTICE)
  const delivery = await ended.promise
  assert.ok(!JSON.stringify(lines).includes('lke_secret'), 'R108')
  return delivery
}

test('sends the link once, with a signature over id, time and body', async (t) => {
  const { url, received } = await startReceiver(t)
  assert.deepEqual(await deliver(t, url), { attempts: 1, why: undefined })
  const [notice, ...others] = received
  assert.deepEqual(others, [])
  assert.equal(notice?.isSigned, true)
  const { type, data } = notice.body
  assert.equal(type, 'invitation.created')
  assert.deepEqual(data, {
    link: 'https://id.example.com/invite#lke_secret',
    enrollment: {
      id: 'enrollment-1',
      method: 'updb',
      username: 'ada',
      expiresAt: '2096-10-02T07:06:40.000Z',
    },
    identity: {
      id: 'identity-1',
      name: 'Ada',
      tags: { mail: 'ada@example.com' },
      externalId: null,
    },
  })
})

test('tries again under the same id, and each attempt has its own signature', async (t) => {
  const { url, received } = await startReceiver(t, (attempt, response) =>
    response.writeHead(attempt < 3 ? 503 : 200).end(),
  )
  assert.deepEqual(await deliver(t, url), { attempts: 3, why: undefined })
  assert.equal(new Set(received.map(({ id }) => id)).size, 1)
  assert.ok(received.every(({ isSigned }) => isSigned))
})

test('gives up after its attempts, and says why', async (t) => {
  const { url } = await startReceiver(t, (_, response) => response.writeHead(500).end())
  const why = 'the answer has the status 500'
  assert.deepEqual(await deliver(t, url), { attempts: 3, why })
})

test('follows no redirect: the link goes to the configured address alone', async (t) => {
  const { url: other, received } = await startReceiver(t)
  const { url } = await startReceiver(t, (_, response) =>
    response.writeHead(307, { location: other }).end(),
  )
  const why = 'the answer has the status 307'
  assert.deepEqual(await deliver(t, url, []), { attempts: 1, why })
  assert.deepEqual(received, [])
})

test('waits for neither a silent receiver nor one that never ends its answer', async (t) => {
  const { url: silent } = await startReceiver(t, () => undefined)
  assert.match((await deliver(t, silent, [])).why ?? '', /^it took longer than /)
  const { url: endless } = await startReceiver(t, (_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(1_000)), 10)
    response.on('close', () => clearInterval(timer))
  })
  assert.match((await deliver(t, endless, [])).why ?? '', /^it took longer than /)
})

test('stops at once, whatever is waiting', async () => {
  const webhook = {
    url: new URL('http://127.0.0.1:1/'),
    secret: new Secret(WEBHOOK_SECRET.toString('base64')),
  }
  const log = { warn() {}, error: assert.fail } as never
  const notifier = createNotifier({
    webhook,
    clock: systemClock,
    random: systemRandom,
    log,
    onEnd: async () => assert.fail('it was given up'),
  })
  notifier.send(NOTICE)
  await notifier.stop()
  notifier.send(NOTICE)
})
