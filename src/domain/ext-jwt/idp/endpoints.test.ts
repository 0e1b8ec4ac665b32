/** Discovery of an IdP: D-154. What a document may say is tested over the wire too (test/protocol/ext-jwt). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts'
import { externalSigner } from '../../../../test/support/idp/external-idp.ts'
import { hours, milliseconds, minutes, seconds } from '../../../base/time/duration.ts'
import { createFindEndpoints, offered } from './endpoints.ts'

const ISSUER = 'https://idp.example'

/** An IdP that answers with `documents`, and what it was asked for. */
function idp(documents: Record<string, unknown>) {
  const clock = new ManualClock()
  const asked: string[] = []
  const fetchJson = async (url: string) => {
    asked.push(url)
    if (documents[url] === undefined) throw new Error('the answer has the status 404')
    return documents[url]
  }
  const find = createFindEndpoints({ fetchJson, clock, allowHttp: false })
  const endpoints = (externalAuthUrl: string, issuer = ISSUER) => {
    const signer = offered(externalSigner({ issuer, externalAuthUrl, clientId: 'us' }))
    assert.ok(signer)
    return find(signer)
  }
  return { clock, asked, documents, endpoints }
}

const at = (issuer: string) => `${issuer}/.well-known/openid-configuration`
const documentOf = (issuer: string, changes: object = {}) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  ...changes,
})

test('does not offer a signer that is disabled or lacks what a login needs', () => {
  const whole = { externalAuthUrl: ISSUER, clientId: 'us' }
  assert.ok(offered(externalSigner(whole)))
  assert.equal(offered(externalSigner({ ...whole, enabled: false })), undefined)
  assert.equal(offered(externalSigner({ ...whole, clientId: undefined })), undefined)
  assert.equal(offered(externalSigner({ ...whole, externalAuthUrl: undefined })), undefined)
  assert.equal(offered(undefined), undefined)
})

test('a path of the issuer stays in front of the well-known one', async () => {
  const issuer = `${ISSUER}/realms/a`
  const { endpoints, asked } = idp({ [at(issuer)]: documentOf(issuer) })
  assert.ok('endpoints' in (await endpoints(issuer, issuer)))
  assert.deepEqual(asked, [at(issuer)])
})

test('an authorization endpoint is used as it is, with the token endpoint of the issuer', async () => {
  const { endpoints } = idp({ [at(ISSUER)]: documentOf(ISSUER) })
  const found = await endpoints('https://login.example/go?tenant=a#part')
  assert.ok('endpoints' in found)
  assert.equal(found.endpoints.authorization.href, 'https://login.example/go?tenant=a')
  assert.equal(found.endpoints.token, `${ISSUER}/token`)
})

test('a document below externalAuthUrl goes before one below the issuer', async () => {
  const elsewhere = 'https://login.example'
  const { endpoints } = idp({
    [at(ISSUER)]: documentOf(ISSUER),
    [at(elsewhere)]: documentOf(ISSUER, { token_endpoint: `${elsewhere}/token` }),
  })
  const found = await endpoints(elsewhere)
  assert.ok('endpoints' in found)
  assert.equal(found.endpoints.token, `${elsewhere}/token`)
})

test('an issuer that is not a URL leads to no token endpoint', async () => {
  const { endpoints, asked } = idp({})
  assert.deepEqual(await endpoints('https://login.example/go', 'an issuer'), {
    why: 'the answer has the status 404',
  })
  assert.deepEqual(asked, [at('https://login.example/go')])
})

test('many concurrent calls make one request, and no other for ten minutes', async () => {
  const { endpoints, asked, clock } = idp({ [at(ISSUER)]: documentOf(ISSUER) })
  await Promise.all(Array.from({ length: 50 }, () => endpoints(ISSUER)))
  clock.pass(milliseconds(minutes(10) - 1))
  await endpoints(ISSUER)
  assert.equal(asked.length, 1)
  clock.pass(milliseconds(1))
  await endpoints(ISSUER)
  assert.equal(asked.length, 2)
})

test('an IdP of which nothing is known is asked once a second at most', async () => {
  const { endpoints, asked, clock, documents } = idp({})
  for (let n = 0; n < 5; n += 1) assert.ok('why' in (await endpoints(ISSUER)))
  assert.equal(asked.length, 1)
  clock.pass(seconds(1))
  documents[at(ISSUER)] = documentOf(ISSUER)
  assert.ok('endpoints' in (await endpoints(ISSUER)))
  assert.equal(asked.length, 2)
})

test('the last good document serves through an outage of a day, and is asked for now and then', async () => {
  const { endpoints, asked, clock, documents } = idp({ [at(ISSUER)]: documentOf(ISSUER) })
  await endpoints(ISSUER)
  delete documents[at(ISSUER)]
  clock.pass(minutes(11))
  for (let n = 0; n < 5; n += 1) assert.ok('endpoints' in (await endpoints(ISSUER)))
  assert.equal(asked.length, 2)
  clock.pass(seconds(30))
  assert.ok('endpoints' in (await endpoints(ISSUER)))
  assert.equal(asked.length, 3)
  clock.pass(hours(24))
  assert.ok('why' in (await endpoints(ISSUER)))
})

test('a signer that has moved is asked for at its new address, and nothing old counts', async () => {
  const other = 'https://other.example'
  const { endpoints } = idp({ [at(ISSUER)]: documentOf(ISSUER) })
  assert.ok('endpoints' in (await endpoints(ISSUER)))
  assert.ok('why' in (await endpoints(other, other)))
})
