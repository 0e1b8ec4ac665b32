/**
 * Where the keys of a signer come from, over the wire: two signers that use the same names, keys that come and go, and
 * an IdP that is down, slow, or answers what nobody asked for. API 4.5; R105, R106, R107.
 */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { minutes, seconds } from '../../../src/base/time/duration.ts'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import { failureOf } from '../../support/audit.ts'
import { passUptime } from '../../support/clocks/pass-uptime.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import { newIdpKey, signJwt } from '../../support/idp/external-idp.ts'
import {
  AUDIENCE,
  assertChallenged,
  jwtLogin,
  primaryChallenge,
  registerIdp,
} from '../../support/idp/jwt-login.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { type Administrator, administrate } from '../../support/management.ts'
import { listenUntilEnd } from '../../support/ports.ts'
import { type Service, type ServiceOptions, startService } from '../../support/service.ts'

async function start(t: TestContext, config: ServiceOptions['config'] = {}) {
  const clock = new UptimeClock()
  const service = await startService(t, { clock, config })
  const admin = await administrate(service)
  await admin.createIdentity({ externalId: 'zoe' })
  return { service, admin, clock }
}

/** D-207: of one minute and reason the first ten refusals have an event each, with its details. */
const nextMinute = ({ clock }: Service) => clock.advance(minutes(1))

/** `taken`, or what the operator reads about the refusal. */
async function outcome(service: Service, token: string): Promise<string> {
  const reply = await jwtLogin(service, token)
  if (reply.status === 302) return 'taken'
  assert.equal(reply.json().error.code, 'UNAUTHORIZED', reply.text)
  const { reason, details } = await failureOf(service, reply)
  assert.equal(reason, 'jwt-invalid')
  return details.why
}

test('R105: equal kids at two signers never cross', async (t) => {
  // Attack: whoever runs one IdP signs tokens in the name of another, under the kid that both of them use.
  const { service, admin } = await start(t)
  const one = await registerIdp(t, service, admin, { issuer: 'https://one.example' })
  const two = await registerIdp(t, service, admin, { issuer: 'https://two.example' })
  assert.equal(one.key.jwk.kid, two.key.jwk.kid)
  for (const round of ['before either set was fetched', 'after']) {
    const [asOne, asTwo] = [{ iss: one.issuer }, { iss: two.issuer }]
    assert.equal(
      await outcome(service, await two.jwt('zoe', asOne)),
      'the signature is wrong',
      round,
    )
    assert.equal(
      await outcome(service, await one.jwt('zoe', asTwo)),
      'the signature is wrong',
      round,
    )
    assert.equal(await outcome(service, await one.jwt('zoe')), 'taken')
    assert.equal(await outcome(service, await two.jwt('zoe')), 'taken')
  }
})

test('R107: keys come and go', async (t) => {
  const { service, admin, clock } = await start(t)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example' })
  const next = await newIdpKey('next')
  const signed = (key = next) => {
    const exp = epochSeconds(clock.now()) + 600
    return signJwt(key, { iss: idp.issuer, aud: AUDIENCE, sub: 'zoe', exp })
  }
  const { server } = idp

  await t.test('the set is fetched once, and only when a token needs it', async () => {
    assert.equal(server.fetches, 0)
    const tokens = await Promise.all(Array.from({ length: 8 }, () => idp.jwt('zoe')))
    const seen = await Promise.all(tokens.map((token) => outcome(service, token)))
    assert.deepEqual(new Set(seen), new Set(['taken']))
    assert.equal(server.fetches, 1)
  })

  await t.test('a token that cannot be valid causes no fetch', async () => {
    const before = server.fetches
    await passUptime(service, clock, seconds(2))
    await jwtLogin(service, await idp.jwt('zoe', { iss: 'https://unknown.example' }))
    await jwtLogin(service, 'x')
    assert.equal(server.fetches, before)
  })

  await t.test('a key that the IdP has begun to use is found at once', async () => {
    server.keys = [idp.key.jwk, next.jwk]
    await passUptime(service, clock, seconds(2))
    assert.equal(await outcome(service, await signed()), 'taken')
    assert.equal(await outcome(service, await idp.jwt('zoe')), 'taken', 'the old one stays')
    assert.equal(server.fetches, 2)
  })

  await t.test('callers that invent key ids cause at most one fetch a second', async () => {
    nextMinute(service)
    // Attack: a flood of invented kids, to turn the service against the IdP.
    await passUptime(service, clock, seconds(2))
    const before = server.fetches
    for (let i = 0; i < 10; i++) {
      const token = await idp.jwt('zoe', {}, { kid: `invented-${i}` })
      assert.equal(await outcome(service, token), 'no key of the signer matches the token')
    }
    assert.equal(server.fetches, before + 1)
  })

  await t.test(
    'a key that was taken back is refused, ten minutes later at the latest',
    async () => {
      nextMinute(service)
      server.keys = [next.jwk]
      await passUptime(service, clock, minutes(10))
      assert.equal(
        await outcome(service, await idp.jwt('zoe')),
        'no key of the signer matches the token',
      )
      assert.equal(await outcome(service, await signed()), 'taken')
    },
  )

  await t.test('the last good set serves while the IdP is down', async () => {
    server.isDown = true
    await passUptime(service, clock, minutes(10))
    assert.equal(await outcome(service, await signed()), 'taken')
    const unknown = await outcome(service, await idp.jwt('zoe'))
    assert.equal(
      unknown,
      'no key of the signer matches the token; the latest fetch failed: the answer has the status 503',
    )
    server.isDown = false
    server.keys = [idp.key.jwk]
    await passUptime(service, clock, seconds(2))
    assert.equal(await outcome(service, await idp.jwt('zoe')), 'taken', 'and when it is back, anew')
  })
})

/** A server of whoever owns the endpoint of a signer. Ends with the test. */
async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listenUntilEnd(t, createServer(answer))}`
}

/** What the operator reads about a good token of a signer with this endpoint. */
async function behind(service: Service, admin: Administrator, endpoint: string) {
  nextMinute(service)
  const issuer = `https://idp.example/${encodeURIComponent(endpoint)}`
  const id = await admin.createSigner({ issuer, jwksEndpoint: endpoint })
  const key = await newIdpKey('a-key')
  const exp = epochSeconds(service.clock.now()) + 600
  const token = await signJwt(key, { iss: issuer, aud: AUDIENCE, sub: 'zoe', exp })
  const reply = await jwtLogin(service, token)
  assertChallenged(reply, primaryChallenge('invalid', { id, issuer }))
  const { why } = (await failureOf(service, reply)).details
  const { lastError, lastFetchedAt, keys } = await admin.get(`/external-jwt-signers/${id}`)
  assert.deepEqual([lastFetchedAt, keys], [null, []])
  assert.equal(why, `no key of the signer matches the token; the latest fetch failed: ${lastError}`)
  return lastError
}

test('R106: an endpoint that does not answer with a key set', async (t) => {
  const { service, admin } = await start(t)
  const set = JSON.stringify({ keys: [(await newIdpKey('a-key')).jwk] })
  const padding = 'x'.repeat(256 * 1024)

  for (const [what, answer, expected] of [
    [
      'a status other than 200',
      (_, response) => response.writeHead(404).end(set),
      'the answer has the status 404',
    ],
    [
      'what is not JSON',
      (_, response) => response.end('<html>'),
      'the answer is not JSON that can be read',
    ],
    ['what is no key set', (_, response) => response.end('[]'), 'the answer is not a JWK set'],
    [
      'a large answer that says so',
      (_, response) => response.end(JSON.stringify({ keys: [], padding })),
      'the answer is larger than 256 KiB',
    ],
    [
      'a large answer that does not say so',
      (_, response) => {
        response.write('{"keys":[],"padding":"')
        response.end(`${padding}"}`)
      },
      'the answer is larger than 256 KiB',
    ],
    [
      'a compressed answer',
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(set))
      },
      'the answer is compressed',
    ],
    [
      'more keys than anybody has',
      (_, response) => response.end(JSON.stringify({ keys: Array(65).fill({ kty: 'RSA' }) })),
      'the set has more than 64 keys',
    ],
    [
      'nothing, and a closed connection',
      (request) => request.socket.destroy(),
      'the host could not be reached (ECONNRESET)',
    ],
  ] as const satisfies readonly (readonly [string, RequestListener, string])[]) {
    await t.test(`${what} is not a valid response`, async (t) => {
      assert.equal(await behind(service, admin, await serve(t, answer)), expected)
    })
  }

  await t.test('a redirect is not followed', async (t) => {
    // Attack: an endpoint that may be fetched leads to one that may not.
    let visits = 0
    const target = await serve(t, (_, response) => {
      visits += 1
      response.end(set)
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const from = await serve(t, (_, response) => {
        response.writeHead(status, { location: target }).end()
      })
      const expected = `the answer is a redirect (${status}); those are not followed`
      assert.equal(await behind(service, admin, from), expected)
    }
    assert.equal(visits, 0)
  })

  await t.test('nobody listens', async () => {
    const error = await behind(service, admin, 'http://127.0.0.1:1/keys')
    assert.equal(error, 'the host could not be reached (ECONNREFUSED)')
  })

  await t.test('an address of cloud metadata is never asked', async () => {
    for (const endpoint of ['https://169.254.169.254/keys', 'https://[::ffff:a9fe:a9fe]/keys']) {
      const error = await behind(service, admin, endpoint)
      assert.equal(error, 'the host has an address of a cloud metadata service')
    }
    assert.match(await behind(service, admin, 'https://169.254.1.1/keys'), /link-local/)
  })
})

test('R106: where the configuration blocks private addresses, this machine is not asked', async (t) => {
  const fetch = { blockPrivateAddresses: true }
  const { service, admin } = await start(t, { edge: { externalJwtSigners: { fetch } } })
  let visits = 0
  const endpoint = await serve(t, (_, response) => {
    visits += 1
    response.end('{"keys":[]}')
  })
  assert.match(await behind(service, admin, endpoint), /private address/)
  assert.equal(visits, 0)
})

test('R106: gives up on an IdP that does not finish its response after five seconds, without delaying others', async (t) => {
  const { service, admin } = await start(t)
  const hanging = await serve(t, (_, response) => {
    response.write('{"keys":[')
    const drip = setInterval(() => response.write(' '), 100)
    response.on('close', () => clearInterval(drip))
  })
  let isAnswered = false
  const waiting = behind(service, admin, hanging).finally(() => {
    isAnswered = true
  })
  const { access_token } = await logIn(service)
  const call = await service.call('/edge/client/v1/current-identity', bearer(access_token))
  assert.equal(call.status, 200)
  assert.equal(isAnswered, false, 'other logins and calls go on meanwhile')
  assert.equal(await waiting, 'it took longer than 5s')
})
