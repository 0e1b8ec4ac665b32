/** The auth request inside its own id: D-7. Only what we sealed opens, and only for this. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64url, fromBase64url, utf8 } from '../../../base/encoding.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import {
  createVault,
  INSTALLATION_SECRET_BYTES,
  type SecretHash,
} from '../../../base/secrets/vault.ts'
import { minutes } from '../../../base/time/duration.ts'
import { instant } from '../../../base/time/instant.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import type { AuthRequestKey, AwaitingPrimary, ClientAsk } from './auth-request.ts'
import { openRequest, sealRequest } from './sealed-request.ts'
import type { VerifiedRedirect } from './verified-redirect.ts'

const newVault = () => createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
const vault = newVault()

const ASK: ClientAsk = {
  clientId: 'service',
  redirectUri: 'http://127.0.0.1:4000/callback' as VerifiedRedirect,
  responseMode: 'form_post',
  issuer: 'https://localhost:1280/oidc' as Issuer,
  scopes: ['openid', 'profile'],
  dpopKey: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  state: 'a state with "quotes", \u0000 and 🔑',
  nonce: 'a nonce',
  prompt: 'login',
  maxAge: minutes(5),
  stepUp: ['totp', 'passkey'],
  configTypes: ['one', 'two'],
}

function aRequest(ask: Partial<ClientAsk> = {}, browser?: SecretHash): AwaitingPrimary {
  return {
    state: 'awaiting-primary',
    key: 'a-key' as AuthRequestKey,
    ask: { ...ASK, ...ask },
    browser,
    expiresAt: instant(1_800_000_000_000),
  }
}

function seal(request: AwaitingPrimary): string {
  const id = sealRequest(vault, request)
  assert.ok(id)
  return id
}

test('D-7: a sealed request opens as it was, with and without a browser', () => {
  for (const request of [aRequest(), aRequest({}, 'a-hash' as SecretHash)]) {
    assert.deepEqual(openRequest(vault, seal(request)), request)
  }
})

test('what the client did not send is still absent after opening', () => {
  const opened = openRequest(
    vault,
    seal(aRequest({ state: undefined, nonce: undefined, prompt: undefined })),
  )
  assert.equal(opened?.ask.state, undefined)
  assert.equal(opened?.ask.nonce, undefined)
})

test('R024: two ids of the same request have nothing in common', () => {
  const [one, other] = [seal(aRequest()), seal(aRequest())]
  assert.notEqual(one.slice(0, 16), other.slice(0, 16))
  assert.notEqual(one.slice(-32), other.slice(-32))
})

test('R110: an id shows nothing of what is inside', () => {
  const id = seal(aRequest())
  const text = Buffer.from(id, 'base64url').toString('latin1')
  assert.doesNotMatch(text, /service|127\.0\.0\.1|E9Melhoa/)
  assert.match(id, /^[A-Za-z0-9_-]+$/)
})

test('D-7: an id with any byte changed is not one of ours', () => {
  // Attack: the redirect URI, the challenge or the expiry is changed inside the id.
  const bytes = fromBase64url(seal(aRequest()))
  assert.ok(bytes)
  for (let i = 0; i < bytes.length; i++) {
    const changed = bytes.map((byte, at) => (at === i ? byte ^ 1 : byte))
    assert.equal(openRequest(vault, base64url(changed)), undefined, `byte ${i}`)
  }
})

test('D-7: an id that is cut, extended or padded is not one of ours', () => {
  const id = seal(aRequest())
  for (const text of [id.slice(0, -4), `${id}AAAA`, `${id}=`, ` ${id}`, id.slice(4), '', '.']) {
    assert.equal(openRequest(vault, text), undefined, text)
  }
})

test('D-48: an id that was sealed under another installation secret is not one of ours', () => {
  const theirs = sealRequest(newVault(), aRequest())
  assert.ok(theirs)
  assert.equal(openRequest(vault, theirs), undefined)
})

test('a value that was sealed for another purpose is not an auth request', () => {
  const sealed = vault.seal('signing-key', utf8(JSON.stringify(aRequest())))
  assert.equal(openRequest(vault, sealed), undefined)
})

test('D-7: a request that does not fit 4 KiB is not sealed', () => {
  assert.equal(sealRequest(vault, aRequest({ state: 'x'.repeat(4_096) })), undefined)
  assert.ok(seal(aRequest({ state: 'x'.repeat(2_000) })).length <= 4_096)
})

test('D-7: the longest id that is sealed also opens, and a longer text is not looked at', () => {
  const lengths = Array.from({ length: 1_200 }, (_, i) => 2_000 + i)
  const longest = lengths.findLast((length) =>
    sealRequest(vault, aRequest({ state: 'x'.repeat(length) })),
  )
  assert.ok(longest !== undefined && longest < 3_199)
  const request = aRequest({ state: 'x'.repeat(longest) })
  assert.deepEqual(openRequest(vault, seal(request)), request)
  const beyond = vault.seal(
    'auth-request',
    utf8(JSON.stringify(aRequest({ state: 'x'.repeat(4_096) }))),
  )
  assert.equal(openRequest(vault, beyond), undefined)
})

test('D-313: a request such as the C SDK sends has an id of at most 232 characters', () => {
  const address = `${'c'.repeat(15)}.controllers.example.com:1280`
  assert.equal(address.length, 44)
  for (const clientId of ['service', 'openziti', 'native']) {
    const request: AwaitingPrimary = {
      ...aRequest(),
      key: base64url(systemRandom.bytes(16)) as AuthRequestKey,
      ask: {
        ...ASK,
        clientId,
        redirectUri: 'http://localhost:20314/auth/callback' as VerifiedRedirect,
        responseMode: 'query',
        issuer: `https://${address}/oidc` as Issuer,
        scopes: ['openid', 'offline_access'],
        dpopKey: undefined,
        codeChallenge: base64url(systemRandom.bytes(32)),
        state: base64url(systemRandom.bytes(30)),
        nonce: undefined,
        prompt: undefined,
        maxAge: undefined,
        stepUp: undefined,
        configTypes: [],
      },
    }
    const id = seal(request)
    assert.ok(id.length <= 232, `${id.length}`)
    assert.deepEqual(openRequest(vault, id), request)
  }
})

test('D-313: what is sealed in another format is not one of ours', () => {
  const older = vault.seal('auth-request', utf8(JSON.stringify(aRequest())))
  assert.equal(openRequest(vault, older), undefined)
})
