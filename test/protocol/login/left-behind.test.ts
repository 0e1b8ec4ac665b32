/**
 * R116, scaled down: thousands of logins that are begun and left, and hundreds that are completed and forgotten, leave
 * nothing behind, neither rows nor memory. Attack: strangers begin logins until the disk or the memory is full. D-7.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { type TestContext, test } from 'node:test'
import { sweep } from '../../../src/app/janitor.ts'
import { days, hours } from '../../../src/base/time/duration.ts'
import { rounds } from '../../support/chance/rounds.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import { eventually } from '../../support/eventually.ts'
import { jwtLogin, registerIdp, submitJwt, tokensOf } from '../../support/idp/jwt-login.ts'
import { beginLogin } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { heldBytes } from '../../support/monitoring/heap.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

/** Tables that grow with logins. Events are kept for their own time (D-134). */
const TABLES = [
  ...['auth_requests', 'spent_states', 'api_sessions', 'refresh_tokens', 'session_certificates'],
  ...['session_endings', 'code_guesses', 'enrollments', 'totp_enrollments'],
] as const

async function start(t: TestContext, clock = new UptimeClock()): Promise<Service> {
  const service = await startService(t, { clock })
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.after(() => agent.destroy())
  return { ...service, call: (path, options) => service.call(path, { agent, ...options }) }
}

async function rows(service: Service): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const table of TABLES) {
    counts[table] = Number((await sql(service, `select count(*) as n from ${table}`))[0]?.['n'])
  }
  return counts
}

/** What the service holds; the lines of its log are the test's, not its own. */
function held({ log }: Service): number {
  const lines = log as unknown[]
  lines.length = 0
  return heldBytes()
}

/** Eight at a time. */
async function many(times: number, one: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i += 8) {
    await Promise.all(Array.from({ length: Math.min(8, times - i) }, (_, k) => one(i + k)))
  }
}

test('R116: thousands of abandoned logins leave nothing behind', async (t) => {
  const service = await start(t)
  const leave = async (i: number) => {
    const { authRequestId } = await beginLogin(service, { state: `state-${i}` })
    // Some look at the page, some ask what is outstanding; nobody proves anything.
    if (i % 10 === 0) await service.call(`/oidc/login/username?authRequestID=${authRequestId}`)
    if (i % 10 === 1) await service.call(`/oidc/login/auth-queries?id=${authRequestId}`)
    if (i % 10 === 2) await service.call(`/oidc/login/username?authRequestID=nothing-${i}`)
  }
  // Until everything is loaded and compiled that will be.
  await many(rounds(750), leave)
  const [before, begun] = [await rows(service), held(service)]
  const times = rounds(1_500)
  await many(times, leave)
  const grown = held(service) - begun
  assert.deepEqual(await rows(service), before)
  // One that is kept is more than that: its id alone, which it is sealed into, is as long.
  assert.ok(grown < times * 400, `${grown} bytes more are held`)
})

test('R116: hundreds of abandoned logins are removed after they expire', async (t) => {
  const clock = new UptimeClock()
  const service = await start(t, clock)
  const admin = await administrate(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example' })
  await admin.createIdentity({ name: 'zoe', externalId: 'zoe' })
  const store = await service.openStore()
  const before = await rows(service)

  const jwt = await idp.jwt('zoe')
  await many(300, async (i) => {
    // Half of them leave with the code in their hands.
    if (i % 2 === 0) return jwtLogin(service, jwt)
    const login = await beginLogin(service)
    return tokensOf(service, login, await submitJwt(service, login.authRequestId, jwt))
  })
  const full = await rows(service)
  assert.equal(full['auth_requests'], 300 + (before['auth_requests'] ?? 0))
  assert.equal(full['api_sessions'], 150 + (before['api_sessions'] ?? 0))

  clock.elapse(hours(2))
  const isOver = async () => (await rows(service))['api_sessions'] === 0 || undefined
  await eventually(isOver, 'the end of the sessions')
  // Endings are kept until no token of them can be alive; then they go, too.
  service.clock.advance(hours(2))
  await sweep(store, service.clock.now(), days(365))
  // The login of the administrator and his session are over with the others.
  assert.deepEqual(await rows(service), { ...before, auth_requests: 0, api_sessions: 0 })
})
