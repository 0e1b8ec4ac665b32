/** What a discovery document proposes for a signer, and which documents are refused: D-366, OIDC Discovery §4.3. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakePorts } from '../../../../test/support/fake-ports.ts'
import { refusalOf } from '../../../../test/support/people.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import type { ManagementPorts } from '../ports.ts'
import { type Discovery, discoverSigner } from './discover-signer.ts'

const ISSUER = 'https://idp.example/tenant'
const ADDRESS = `${ISSUER}/.well-known/openid-configuration`
const DOCUMENT = {
  issuer: ISSUER,
  jwks_uri: `${ISSUER}/keys`,
  authorization_endpoint: `${ISSUER}/authorize`,
  scopes_supported: ['openid', 'email', 'offline_access'],
  claims_supported: ['sub', 'email', 7, 'a\nline'],
}

function discover(asked: Partial<Discovery>, document: unknown = DOCUMENT) {
  const fetched: string[] = []
  const ports = fakePorts<ManagementPorts>({
    fetchJson: async (url) => {
      fetched.push(url)
      if (document instanceof Error) throw document
      return document
    },
    issuers: () => ['https://own.example/oidc' as Issuer],
    allowHttp: false,
  })
  const whole = { url: ISSUER, clientId: undefined, audience: undefined, ...asked }
  return { proposal: discoverSigner(ports, whole), fetched }
}

test('the issuer, with or without a slash, and the address of its document are the same', async () => {
  for (const url of [ISSUER, `${ISSUER}/`, ADDRESS]) {
    const { proposal, fetched } = discover({ url })
    assert.equal((await proposal).issuer, ISSUER)
    assert.deepEqual(fetched, [ADDRESS])
  }
})

test('with a client id users are sent there, and its ID tokens are for that client', async () => {
  assert.deepEqual(await discover({ clientId: 'app' }).proposal, {
    issuer: ISSUER,
    audience: 'app',
    jwksEndpoint: `${ISSUER}/keys`,
    externalAuthUrl: ISSUER,
    clientId: 'app',
    scopes: ['openid', 'email'],
    targetToken: 'ID',
    claimsProperty: '/sub',
    claims: ['sub', 'email'],
  })
})

test('without a client id access tokens for the given audience are accepted', async () => {
  const { externalAuthUrl, targetToken, audience, scopes } = await discover({ audience: 'api' })
    .proposal
  assert.deepEqual(
    { externalAuthUrl, targetToken, audience, scopes },
    { externalAuthUrl: undefined, targetToken: 'ACCESS', audience: 'api', scopes: [] },
  )
})

const REFUSED: Readonly<Record<string, readonly [string, unknown, RegExp]>> = {
  'plain http to another machine': ['http://idp.example', DOCUMENT, /https/],
  'a URL with credentials': ['https://a:b@idp.example', DOCUMENT, /credentials/],
  'no URL': ['idp.example', DOCUMENT, /URL/],
  'an address that the fetch refuses': [ISSUER, new Error('the address is private'), /private/],
  'a document of another issuer': [ISSUER, { ...DOCUMENT, issuer: 'https://evil' }, /another/],
  'a document without an issuer': [ISSUER, [], /without an issuer/],
  'a document without keys': [ISSUER, { issuer: ISSUER }, /jwks_uri/],
  'this service itself': [
    'https://own.example/oidc',
    { ...DOCUMENT, issuer: 'https://own.example/oidc' },
    /itself/,
  ],
}

for (const [what, [url, document, reason]] of Object.entries(REFUSED)) {
  test(`refuses ${what}`, async () => {
    const { code, field } = await refusalOf(discover({ url }, document).proposal)
    assert.equal(code, 'COULD_NOT_VALIDATE')
    assert.equal(field?.field, 'url')
    assert.match(field.reason, reason)
  })
}
