import assert from 'node:assert/strict'
import { after, describe, type TestContext, test } from 'node:test'
import { ManualClock } from '../../test/support/clocks/manual-clock.ts'
import { openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { startFakeController } from '../../test/support/edge/fake-controller.ts'
import { Secret } from '../base/secrets/secret.ts'
import { type Duration, milliseconds, minutes, seconds } from '../base/time/duration.ts'
import { instant } from '../base/time/instant.ts'
import { createSessionChecks } from './session-checks.ts'

const TOKEN = 'a'.repeat(43)
const ACTIVE = {
  isActive: true,
  sessionId: 's1',
  identityId: 'i1',
  externalId: null,
  isAdmin: false,
  expiresAt: '2100-01-01T00:00:00.000Z',
}

const pki = await openEdgePki()
after(() => pki.close())

async function startChecks(t: TestContext, patience?: Duration) {
  const controller = await startFakeController(t, pki)
  const clock = new ManualClock()
  const checks = createSessionChecks({
    controller: new URL(controller.url),
    identity: {
      id: 'r1',
      cert: pki.server.pem,
      key: new Secret(pki.server.keyPem),
      ca: pki.root.pem,
    },
    clock,
    ...(patience === undefined ? {} : { patience }),
  })
  t.after(() => checks.stop())
  return { controller, clock, checks }
}

const active = { body: { data: ACTIVE, meta: {} } }

test('the controller is asked, and its answer read', async (t) => {
  const { controller, checks } = await startChecks(t)
  assert.deepEqual(await checks.ask(TOKEN), { outcome: 'inactive' })
  controller.answerChecks(() => active)
  assert.deepEqual(await checks.ask('b'.repeat(43)), {
    outcome: 'active',
    sessionId: 's1',
    identityId: 'i1',
    expiresAt: instant(Date.UTC(2100, 0, 1)),
    login: undefined,
  })
  assert.deepEqual(controller.asked, [TOKEN, 'b'.repeat(43)])
})

test('D-232: reads what the login proved if the controller sends it', async (t) => {
  const { controller, checks } = await startChecks(t)
  const login = { authPolicyId: 'p1', amr: ['swk'], externalJwtSignerId: 'signer-1', caId: 'ca-1' }
  controller.answerChecks(() => ({ body: { data: { ...ACTIVE, ...login }, meta: {} } }))
  const answer = await checks.ask(TOKEN)
  assert.ok(answer.outcome === 'active')
  assert.deepEqual(answer.login, {
    policyId: 'p1',
    amr: ['swk'],
    signerId: 'signer-1',
    caId: 'ca-1',
  })
})

test('D-42: an answer is kept for less than a second, for its own token', async (t) => {
  const { controller, clock, checks } = await startChecks(t)
  controller.answerChecks(() => active)
  await checks.ask(TOKEN)
  controller.answerChecks(() => ({ body: { data: { isActive: false }, meta: {} } }))
  clock.pass(milliseconds(999))
  assert.equal((await checks.ask(TOKEN)).outcome, 'active')
  assert.equal((await checks.ask('b'.repeat(43))).outcome, 'inactive')
  clock.pass(milliseconds(1))
  assert.equal((await checks.ask(TOKEN)).outcome, 'inactive')
  assert.equal(controller.asked.length, 3)
})

test('the second counts from the question, however long the answer took', async (t) => {
  const { controller, clock, checks } = await startChecks(t)
  controller.answerChecks(() => {
    clock.pass(seconds(2))
    return active
  })
  await checks.ask(TOKEN)
  await checks.ask(TOKEN)
  assert.equal(controller.asked.length, 2)
})

test('many concurrent checks of one token make one request', async (t) => {
  const { controller, checks } = await startChecks(t)
  controller.answerChecks(() => active)
  const answers = await Promise.all(Array.from({ length: 20 }, () => checks.ask(TOKEN)))
  assert.ok(answers.every(({ outcome }) => outcome === 'active'))
  assert.equal(controller.asked.length, 1)
})

test('what is not a token at all is inactive without a request', async (t) => {
  const { controller, checks } = await startChecks(t)
  for (const text of [
    '',
    'short',
    'x'.repeat(257),
    'with space '.repeat(4),
    `${TOKEN}\n`,
    'é'.repeat(43),
  ]) {
    assert.deepEqual(await checks.ask(text), { outcome: 'inactive' }, JSON.stringify(text))
  }
  assert.deepEqual(controller.asked, [])
})

describe('nothing is known, and nothing kept, when the controller', () => {
  const cases: Readonly<Record<string, { readonly status?: number; readonly body: unknown }>> = {
    'answers with another status': { status: 500, body: active.body },
    'says that the router may not ask': { status: 403, body: {} },
    'switches to another protocol': { status: 101, body: '' },
    'answers with no JSON': { body: 'yes' },
    'answers with something else': { body: { data: { isActive: 'true' } } },
    'answers with nothing': { body: null },
    'names no session': { body: { data: { ...ACTIVE, sessionId: '' } } },
    'names no identity': { body: { data: { ...ACTIVE, identityId: 7 } } },
    'names no time': { body: { data: { ...ACTIVE, expiresAt: 'soon' } } },
    'answers without end': { body: ' '.repeat(65 * 1024) },
  }
  for (const [what, answer] of Object.entries(cases)) {
    test(what, async (t) => {
      const { controller, checks } = await startChecks(t)
      controller.answerChecks(() => answer)
      assert.equal((await checks.ask(TOKEN)).outcome, 'unknown')
      controller.answerChecks(() => active)
      assert.equal((await checks.ask(TOKEN)).outcome, 'active')
    })
  }

  test('is not there', async () => {
    const checks = createSessionChecks({
      controller: new URL('https://127.0.0.1:1'),
      identity: {
        id: 'r1',
        cert: pki.server.pem,
        key: new Secret(pki.server.keyPem),
        ca: pki.root.pem,
      },
      clock: new ManualClock(),
    })
    assert.equal((await checks.ask(TOKEN)).outcome, 'unknown')
  })

  test('does not show a certificate that the router trusts', async (t) => {
    const controller = await startFakeController(t, pki)
    controller.answerChecks(() => active)
    const other = await openEdgePki()
    t.after(() => other.close())
    const checks = createSessionChecks({
      controller: new URL(controller.url),
      identity: {
        id: 'r1',
        cert: pki.server.pem,
        key: new Secret(pki.server.keyPem),
        ca: other.root.pem,
      },
      clock: new ManualClock(),
    })
    t.after(() => checks.stop())
    assert.equal((await checks.ask(TOKEN)).outcome, 'unknown')
    assert.deepEqual(controller.asked, [])
  })
})

test('more than 256 questions at once do not wait for an answer', async (t) => {
  // 256 answers take long on a busy machine, and the test is not about that.
  const { controller, checks } = await startChecks(t, minutes(5))
  const gate = Promise.withResolvers<void>()
  controller.answerChecks(async () => {
    await gate.promise
    return active
  })
  const token = (i: number) => String(i).padStart(43, 'a')
  const first = Array.from({ length: 256 }, (_, i) => checks.ask(token(i)))
  assert.deepEqual(await checks.ask(token(256)), {
    outcome: 'unknown',
    why: 'too many checks are waiting for a response',
  })
  gate.resolve()
  assert.ok((await Promise.all(first)).every(({ outcome }) => outcome === 'active'))
})
