/**
 * Only what can be guessed is limited by its address, and each kind separately: D-22, R080. Attack: a machine behind
 * the same NAT as an office fails on purpose, so that the office's certificates, JWTs, routers and known devices are
 * refused.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { certificateLogin, presenting } from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { enrollByCsr, inviteNew } from '../../support/certificates/enrollment.ts'
import { enrollRouter, openFeed } from '../../support/edge/feed-client.ts'
import type { Reply } from '../../support/http-client.ts'
import { jwtLogin, registerIdp } from '../../support/idp/jwt-login.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const LIMIT = 3

async function start(t: TestContext, failuresPerAddress = LIMIT) {
  const config = { edge: { limits: { failuresPerAddress } } }
  const service = await startService(t, { config })
  return { service, admin: await administrate(service) }
}

function logIn(
  service: Pick<Service, 'call'>,
  password: string = ADMIN.password,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const json = { username: ADMIN.username, password }
  return service.call(`${CLIENT_API}/authenticate?method=password`, { json, headers })
}

/** Enough failures that the next password from this address is refused. */
async function useUp(service: Service, limit = LIMIT): Promise<void> {
  for (let i = 0; i < limit; i++) {
    assertRefused(await logIn(service, `guess ${i}`), 401, 'INVALID_AUTH')
  }
  assertRefused(await logIn(service), 429, 'RATE_LIMITED')
}

test('checks certificates, external JWTs and routers whatever else failed from their address', async (t) => {
  const { service, admin } = await start(t)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example.org' })
  const person = await admin.createIdentity({ externalId: 'ada' })
  const router = await enrollRouter(t, admin)
  const laptop = await enrollRouter(t, admin, { type: 'Default' })
  await useUp(service)

  const byCertificate = await certificateLogin(presenting(service, laptop.certificate))
  assert.equal(byCertificate.status, 302, byCertificate.text)
  const byJwt = await jwtLogin(service, await idp.jwt('ada'))
  assert.equal(byJwt.status, 302, byJwt.text)
  assert.ok(person.id)
  const feed = await openFeed(t, service, router)
  assert.equal(feed.response.statusCode, 200)
  assertRefused(await logIn(service), 429, 'RATE_LIMITED')
})

test('any number of refused certificates and JWTs blocks neither other credentials nor each other', async (t) => {
  const { service, admin } = await start(t)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example.org' })
  const router = await enrollRouter(t, admin)
  const stranger = await enrollRouter(t, admin)
  await admin.act('DELETE', `/identities/${stranger.identityId}`)
  for (let i = 0; i < LIMIT * 3; i++) {
    const refused = await certificateLogin(presenting(service, stranger.certificate))
    assertRefused(refused, 401, 'INVALID_AUTH')
    assertRefused(await jwtLogin(service, await idp.forged('ada')), 401, 'UNAUTHORIZED')
    const call = await presenting(service, stranger.certificate).call(
      `${CLIENT_API}/router-checks`,
      {
        json: { ztSession: 'x' },
      },
    )
    assertRefused(call, 401, 'INVALID_AUTH')
  }
  assert.equal((await logIn(service)).status, 200)
  const feed = await openFeed(t, service, router)
  assert.equal(feed.response.statusCode, 200)
})

test('counts passwords and enrollment tokens separately', async (t) => {
  const { service, admin } = await start(t)
  const { pem } = await makeCsr()
  const invited = await inviteNew(admin, { ott: true })
  await useUp(service)
  const enrolled = await enrollByCsr(service, invited.token, pem)
  assert.equal(enrolled.status, 200, enrolled.text)

  const other = await start(t)
  const token = (await inviteNew(other.admin, { ott: true })).token
  for (let i = 0; i < LIMIT; i++) {
    const reply = await enrollByCsr(other.service, `lke_${i}`, pem)
    assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
  }
  assertRefused(await enrollByCsr(other.service, token, pem), 429, 'RATE_LIMITED')
  assert.equal((await logIn(other.service)).status, 200)
})

test('R080: a known device can sign in from a limited address, but only with the correct password', async (t) => {
  const { service } = await start(t)
  const reply = await logIn(service)
  const cookie = (reply.headers['set-cookie'] ?? []).map((one) => one.split(';', 1)[0]).join('; ')
  await useUp(service)
  assertRefused(await logIn(service, 'wrong', { cookie }), 401, 'INVALID_AUTH')
  assert.equal((await logIn(service, ADMIN.password, { cookie })).status, 200)
  assertRefused(await logIn(service), 429, 'RATE_LIMITED')
})

// Failed before: 86 parallel guesses passed a limit of 60, because each was admitted before any other had failed.
test('R079: checks exactly as many parallel guesses as the limit allows', async (t) => {
  const limit = 60
  // Hashed one at a time with full strength, so that every guess has arrived before the first one has failed.
  const service = await startService(t, {
    config: {
      edge: { limits: { failuresPerAddress: limit }, passwords: { hashing: 1, queue: 1_000 } },
    },
    hashing: 'as shipped',
  })
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      service.call(`${CLIENT_API}/authenticate?method=password`, {
        json: { username: `nobody-${i}`, password: 'a guess' },
      }),
    ),
  )
  const count = (status: number) => replies.filter((reply) => reply.status === status).length
  assert.equal(count(401), limit)
  // The others were not checked: too many failures, or too many guesses waiting for their outcome.
  assert.equal(count(429) + count(503), 200 - limit)
  assert.ok(count(429) > 0)
  for (const reply of replies) {
    if (reply.status === 401) continue
    assertRefused(reply, reply.status, reply.status === 429 ? 'RATE_LIMITED' : 'SERVER_TOO_BUSY')
    assert.match(String(reply.headers['retry-after']), /^[1-9]\d*$/)
  }
  // D-207: repeats are folded into rows that count.
  const failed = await sql(service, "select count from events where type = 'login.failed'")
  assert.equal(
    failed.reduce((sum, row) => sum + Number(row['count']), 0),
    limit,
  )
})

test('R079: checks exactly as many parallel wrong tokens as the limit allows', async (t) => {
  const { service } = await start(t, 10)
  const { pem } = await makeCsr()
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) => enrollByCsr(service, `lke_${i}`, pem)),
  )
  const judged = replies.filter(({ status }) => status === 400)
  assert.equal(judged.length, 10)
  for (const reply of judged) assertRefused(reply, 400, 'INVALID_ENROLLMENT_TOKEN')
})
