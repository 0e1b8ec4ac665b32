/**
 * What a 401 of the APIs says: the rows of the table in SPEC 401 challenges, to the letter, and which row a request
 * gets. D-35, D-36, D-37, R064–R068, R071.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import * as oauth from 'oauth4webapi'
import { milliseconds, minutes } from '../../../src/base/time/duration.ts'
import { ApiError } from '../../../src/contract/envelope.ts'
import { parseChallenges } from '../../../src/protocol/challenge.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import {
  EXPIRED,
  IDENTITY,
  INVALID,
  MISSING,
  NO_SUCH_SESSION,
} from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { type Service, startService } from '../../support/service.ts'
import { thiefOf } from '../../support/signing.ts'

const PATHS = ['client', 'management'].flatMap((api) =>
  ['current-identity', 'current-api-session'].map((name) => `/edge/${api}/v1/${name}`),
)

const authorization = (...fields: string[]): CallOptions => ({
  headers: { authorization: fields.length === 1 ? (fields[0] ?? '') : fields },
})

/** Refused with exactly this field, once, and with a body that fits the contract. */
async function assertChallenge(
  service: Service,
  options: CallOptions,
  expected: string,
  path = IDENTITY,
): Promise<void> {
  const reply = await service.call(path, options)
  assert.equal(reply.status, 401, reply.text)
  const fields = reply.rawHeaders.filter((_, i) => {
    return i % 2 === 1 && reply.rawHeaders[i - 1]?.toLowerCase() === 'www-authenticate'
  })
  assert.deepEqual(fields, [expected])
  assertBody(reply, path)
  const { next = reply.json().next } = reply.json().error
  assert.equal(next, expected === EXPIRED ? 'refresh' : 'sign-in', 'D-323')
  assert.equal(reply.headers['expiration-seconds'], undefined)
  assert.equal(reply.headers['expires-at'], undefined)
}

/** The body of an API error, or that of an OAuth one where an OAuth endpoint wants a token (D-28). */
function assertBody(reply: Reply, path: string): void {
  const body = reply.json()
  if (path.startsWith('/oidc/')) {
    assert.deepEqual(Object.keys(body), ['error', 'error_description', 'code', 'next'])
    assert.equal(typeof body.error, 'string')
    return
  }
  assert.deepEqual(ApiError.parse(body), body)
  assert.equal(body.error.code, 'UNAUTHORIZED')
  assert.equal(body.error.requestId, reply.headers['x-request-id'])
}

test('401 challenges', async (t) => {
  const service = await startService(t)
  const { access_token, id_token } = await logIn(service)
  const thief = await thiefOf(service, access_token)
  const foreign = await thief.sign({ iss: 'https://idp.example/' })

  for (const path of PATHS) {
    await t.test(`R064: ${path} without a credential gets both challenges in one field`, () =>
      assertChallenge(service, {}, MISSING, path),
    )
    await t.test(`R065: ${path} calls a bad token invalid`, () =>
      assertChallenge(service, bearer('x'), INVALID, path),
    )
    await t.test(`SPEC Authentication 1: ${path} takes a good token`, async () => {
      const reply = await service.call(path, bearer(access_token))
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.headers['www-authenticate'], undefined)
    })
  }

  await t.test('R065: a token past its exp is called expired', async () => {
    const { iat } = decodeJwt(access_token)
    const expired = await thief.sign({ exp: Number(iat) - 1 })
    await assertChallenge(service, bearer(expired), EXPIRED)
  })

  await t.test('R055: an ID token is called invalid', () =>
    assertChallenge(service, bearer(id_token), INVALID),
  )

  await t.test('D-35: only JWTs of other issuers count as no token of ours', async () => {
    await assertChallenge(service, bearer(foreign), MISSING)
    await assertChallenge(service, authorization(`Bearer ${foreign}, Bearer ${foreign}`), MISSING)
  })

  await t.test(
    'R065: a bearer credential that is present but empty is never called missing',
    async () => {
      for (const field of [
        'Bearer',
        'Bearer ',
        'bearer ,',
        'Bearer  x',
        'Bearer ..',
        'Bearer a.b.c',
      ]) {
        await assertChallenge(service, authorization(field), INVALID)
      }
    },
  )

  await t.test(
    'D-37: credentials of a scheme that no API takes are no supported token',
    async () => {
      for (const field of ['Basic c2VydmljZTo=', 'Negotiate YII=', 'Digest x="y"', access_token]) {
        await assertChallenge(service, authorization(field), MISSING)
      }
    },
  )

  await t.test('RFC 9110 §11.1: the scheme is compared without regard to case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
      const reply = await service.call(IDENTITY, authorization(`${scheme} ${access_token}`))
      assert.equal(reply.status, 200)
    }
  })

  await t.test('R067, D-106: a token in the query string is refused', async () => {
    // Attack: URLs are logged and sent on as Referer; a token that works there leaks.
    for (const name of ['access_token', 'token', 'bearer', 'zt-session']) {
      await assertChallenge(service, {}, MISSING, `${IDENTITY}?${name}=${access_token}`)
    }
  })

  await t.test('R067: a token in a cookie or another header is refused', async () => {
    for (const name of ['cookie', 'x-access-token', 'proxy-authorization', 'token']) {
      const value = name === 'cookie' ? `access_token=${access_token}` : `Bearer ${access_token}`
      await assertChallenge(service, { headers: { [name]: value } }, MISSING)
    }
  })

  await t.test('D-36: an unknown zt-session gets its own challenge', async () => {
    for (const value of ['unknown', '', access_token]) {
      await assertChallenge(service, { headers: { 'zt-session': value } }, NO_SUCH_SESSION)
    }
  })

  await t.test('R068: zt-session goes before a bearer token, good or bad', async () => {
    for (const token of [access_token, 'x', foreign]) {
      const headers = { 'zt-session': 'unknown', authorization: `Bearer ${token}` }
      await assertChallenge(service, { headers }, NO_SUCH_SESSION)
    }
  })

  await t.test('D-14: our token is found among others, as several fields and in one', async () => {
    const [ours, theirs] = [`Bearer ${access_token}`, `Bearer ${foreign}`]
    for (const fields of [
      [ours, theirs],
      [theirs, ours],
      [theirs, theirs, ours],
      [`${ours}, ${theirs}`],
      [`${theirs},${ours}`],
      [`${theirs} ,  ${ours}`, theirs],
    ]) {
      const reply = await service.call(IDENTITY, authorization(...fields))
      assert.equal(reply.status, 200, reply.text)
    }
  })

  await t.test('R068: two tokens of ours are refused, good as they may be', async () => {
    const other = (await logIn(service)).access_token
    const [one, two] = [`Bearer ${access_token}`, `Bearer ${other}`]
    await assertChallenge(service, authorization(one, two), INVALID)
    await assertChallenge(service, authorization(`${one}, ${two}`), INVALID)
    await assertChallenge(service, authorization(one, one), INVALID)
  })

  await t.test('D-14: more than three bearer tokens are refused', async () => {
    const [ours, theirs] = [`Bearer ${access_token}`, `Bearer ${foreign}`]
    await assertChallenge(service, authorization(ours, theirs, theirs, theirs), INVALID)
    await assertChallenge(
      service,
      authorization([theirs, theirs, theirs, ours].join(', ')),
      INVALID,
    )
  })

  const HEADERS = { MISSING, INVALID, EXPIRED, NO_SUCH_SESSION }
  for (const [name, header] of Object.entries(HEADERS)) {
    await t.test(`R066: two independent parsers read the same from the ${name} field`, async () => {
      const ours = parseChallenges(header)?.map(({ scheme, parameters }) => ({
        scheme: scheme.toLowerCase(),
        parameters: Object.fromEntries(parameters),
      }))
      assert.ok(ours)
      assert.deepEqual(await parsedByLibrary(header), ours)
    })
  }

  await t.test('R066: what a strict client library gets from a real answer', async () => {
    const options = { [oauth.customFetch]: service.client.fetch }
    const url = new URL(`${service.baseUrl}${IDENTITY}`)
    const error = await oauth
      .protectedResourceRequest('not-a-jwt', 'GET', url, undefined, null, options)
      .then(
        () => assert.fail('the call is refused'),
        (thrown: unknown) => thrown,
      )
    assert.ok(error instanceof oauth.WWWAuthenticateChallengeError)
    assert.equal(error.status, 401)
    const parameters = {
      realm: 'service-oidc',
      error: 'invalid',
      error_description: 'token is invalid',
    }
    assert.deepEqual(
      error.cause.map((challenge) => ({ ...challenge, parameters: { ...challenge.parameters } })),
      [{ scheme: 'bearer', parameters }],
    )
  })

  const { routes = [] } = service.instance.listeners[0] ?? {}
  assert.ok(routes.length > 10)
  for (const { method, url: pattern, access } of routes) {
    const url = pattern.replaceAll(/:\w+/g, 'nothing')
    if (['session', 'partial', 'logout', 'admin'].includes(access)) {
      await t.test(`R071: ${method} ${url} without a credential sends the challenge`, () =>
        assertChallenge(service, { method }, MISSING, url),
      )
    }
    if (access === 'public') {
      await t.test(`R071: ${method} ${url} never sends one, whatever is attached`, async () => {
        for (const headers of [
          { authorization: 'Bearer x' },
          { 'zt-session': 'x' },
          { authorization: `Bearer ${access_token}` },
        ]) {
          const reply = await service.call(url, { method, headers })
          assert.notEqual(reply.status, 401)
          assert.equal(reply.headers['www-authenticate'], undefined)
        }
      })
    }
  }
})

test('R065: a token turns from good to expired at its exp, without leeway', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const { access_token } = await logIn(service)
  const left = Number(decodeJwt(access_token).exp) * 1_000 - service.clock.now()
  service.clock.advance(milliseconds(left - 1))
  assert.equal((await service.call(IDENTITY, bearer(access_token))).status, 200)
  service.clock.advance(milliseconds(1))
  await assertChallenge(service, bearer(access_token), EXPIRED)
  service.clock.advance(minutes(60))
  await assertChallenge(service, bearer(access_token), EXPIRED)
})

/** The challenges as oauth4webapi reads them. */
async function parsedByLibrary(header: string): Promise<object[]> {
  const headers = { 'www-authenticate': header }
  const error = await oauth
    .protectedResourceRequest('x', 'GET', new URL('https://localhost/'), undefined, null, {
      [oauth.customFetch]: async () => new Response('', { status: 401, headers }),
    })
    .catch((thrown: unknown) => thrown)
  assert.ok(error instanceof oauth.WWWAuthenticateChallengeError)
  return error.cause.map(({ scheme, parameters }) => ({ scheme, parameters: { ...parameters } }))
}
