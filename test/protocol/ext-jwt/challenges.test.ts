/**
 * The challenges that name External JWT Signers: their form, whatever an issuer looks like, and how many there are.
 * SPEC 401 challenges; D-1, D-12, D-37; R066.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as oauth from 'oauth4webapi'
import { parseChallenges } from '../../../src/protocol/challenge.ts'
import { assertChallenged, jwtLogin, primaryChallenge } from '../../support/idp/jwt-login.ts'
import { MISSING } from '../../support/login/challenges.ts'
import {
  answerOf,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { administrate, administratorWith } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

test('R066, D-37: challenges that name signers', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('D-37: where there is no signer, the pair for no supported token', async () => {
    const reply = await jwtLogin(service)
    assert.equal(reply.json().error.code, 'UNAUTHORIZED')
    assert.equal(reply.headers['www-authenticate'], MISSING)
  })

  const ODD = [
    ['say "hi"', 'say "hi"'],
    ['back\\slash\\"', 'back\\slash\\"'],
    [
      'x", Bearer realm="service-oidc", error="expired',
      'x", Bearer realm="service-oidc", error="expired',
    ],
    ['a, b; c=d', 'a, b; c=d'],
    // RFC 3987 §3.1: as a URI.
    ['https://idp.example/ü€', 'https://idp.example/%C3%BC%E2%82%AC'],
  ] as const

  await t.test('R066: two parsers read odd issuers back as they are', async () => {
    const ids: string[] = []
    for (const [i, [issuer]] of ODD.entries()) {
      ids.push(await admin.createSigner({ name: `a${i}`, issuer }))
    }
    const header = String((await jwtLogin(service)).headers['www-authenticate'])
    assert.match(header, /^[ -~]+$/)
    const expected = ODD.map(([, issuer], i) => ({
      realm: 'service-primary-ext-jwt',
      error: 'missing',
      error_description: 'no matching token was provided',
      id: ids[i],
      issuer,
    }))
    const ours = parseChallenges(header)?.map(({ parameters }) => Object.fromEntries(parameters))
    assert.deepEqual(ours, expected)
    assert.deepEqual(
      ours?.map((one) => Object.keys(one)),
      ODD.map(() => ['realm', 'error', 'error_description', 'id', 'issuer']),
    )
    assert.deepEqual(await parsedByLibrary(header), expected)
  })

  await t.test('D-12: eight challenges are the most, and disabled signers get none', async () => {
    const issuers = ['b0', 'b1', 'b2', 'b3', 'b4', 'b5']
    for (const issuer of issuers) {
      await admin.createSigner({ name: issuer, issuer, enabled: issuer !== 'b1' })
    }
    const header = String((await jwtLogin(service)).headers['www-authenticate'])
    const named = parseChallenges(header)?.map(({ parameters }) => parameters.get('issuer'))
    assert.deepEqual(named, [...ODD.map(([, issuer]) => issuer), 'b0', 'b2', 'b3'])
  })

  await t.test('R066: an issuer with a line break is not taken in the first place', async () => {
    for (const issuer of ['a\r\nset-cookie: x=y', 'a\nb', 'a\u2028b', 'a\0b']) {
      const signer = { name: 'c', issuer, audience: 'x', jwksEndpoint: 'https://127.0.0.1:1/' }
      const reply = await admin.call('POST', '/external-jwt-signers', signer)
      assert.equal(reply.status, 400)
      assert.equal(reply.json().error.cause.field, 'issuer')
    }
  })

  await t.test('D-1: the realm carries the brand', async (t) => {
    const branded = await startService(t, { config: { edge: { brand: 'acme' } } })
    const { authRequestId, verifier } = await beginLogin(branded, { client_id: 'acme' })
    const tokens = await exchange(branded, {
      client_id: 'acme',
      code: answerOf(await submitPassword(branded, authRequestId)).get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
    })
    const administrator = administratorWith(branded, tokens.json().access_token)
    const issuer = 'https://idp.example'
    const id = await administrator.createSigner({ issuer })
    const url = '/edge/client/v1/authenticate?method=ext-jwt'
    assertChallenged(
      await branded.call(url, { method: 'POST' }),
      primaryChallenge('missing', { id, issuer }).replace('service-', 'acme-'),
    )
  })
})

/** The parameters of each challenge as oauth4webapi reads them. */
async function parsedByLibrary(header: string): Promise<object[]> {
  const headers = { 'www-authenticate': header }
  const error = await oauth
    .protectedResourceRequest('x', 'GET', new URL('https://localhost/'), undefined, null, {
      [oauth.customFetch]: async () => new Response('', { status: 401, headers }),
    })
    .catch((thrown: unknown) => thrown)
  assert.ok(error instanceof oauth.WWWAuthenticateChallengeError)
  return error.cause.map(({ parameters }) => ({ ...parameters }))
}
