/** Tokens that are bound to a key, at a router: RFC 9449; D-457. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TestClock } from '../../../test/support/clocks/clock.ts'
import { ALICE, openEdgePki } from '../../../test/support/edge/edge-pki.ts'
import {
  type DpopKey,
  dpopKey,
  dpopProof,
  type ProofParts,
} from '../../../test/support/login/dpop.ts'
import { minutes } from '../../base/time/duration.ts'
import { createRouterCheck, type Presented } from '../check.ts'
import { createFeedCopy } from '../feed-copy.ts'

const pki = await openEdgePki()
after(() => pki.close())
const { der: certificate } = await pki.sessionCertificate(ALICE)
const key = await dpopKey()
const URI = 'https://router.example/hello?a=b'

function startCheck() {
  const clock = new TestClock()
  clock.hold()
  const copy = createFeedCopy({ clock, onEnded: () => undefined })
  const reception = copy.receive()
  const hello = { brand: 'service', trustDomain: 'latchkey', isSnapshot: true } as const
  reception.take({ type: 'hello', ...hello, issuers: ['https://controller.example/oidc'] })
  reception.take({ type: 'keys', keys: pki.jwks as never })
  reception.take({ type: 'cas', cas: pki.cas })
  reception.take({ type: 'ready', cursor: 'c' })
  reception.take({ type: 'heartbeat', cursor: 'c' })
  const sessionChecks = { ask: () => assert.fail('there is no zt-session') }
  const check = createRouterCheck({ copy, sessionChecks, clock })
  const verdictOf = async (
    token: Presented['token'],
    shown: Uint8Array | undefined = certificate,
  ) => {
    const verdict = await check({ certificate: shown, token })
    return verdict.verdict === 'refused' ? verdict.reason : 'accepted'
  }
  const proven = async (dpop: string, parts: Partial<ProofParts> = {}, by: DpopKey = key) => ({
    dpop,
    proof: await dpopProof({ clock } as never, by, {
      method: 'GET',
      url: URI,
      token: dpop,
      ...parts,
    }),
    method: 'GET',
    uri: URI,
  })
  return { clock, verdictOf, proven }
}

const bound = (jti = 'j1') => pki.token({ jti, cnf: { jkt: key.jkt } })

test('a bound token passes with its certificate and its proof, once', async () => {
  const { verdictOf, proven } = startCheck()
  const token = await proven(await bound())
  assert.equal(await verdictOf(token), 'accepted')
  assert.equal(await verdictOf(token), 'proof-invalid')
  assert.equal(await verdictOf(await proven(await bound())), 'accepted')
})

test('a bound token is refused without a proof, as a bearer token, and without the certificate', async () => {
  const { verdictOf, proven } = startCheck()
  const text = await bound()
  assert.equal(await verdictOf({ bearer: text }), 'proof-invalid')
  assert.equal(await verdictOf({ ...(await proven(text)), proof: undefined }), 'proof-invalid')
  const other = await openEdgePki()
  after(() => other.close())
  const { der } = await other.sessionCertificate(ALICE)
  assert.equal(await verdictOf(await proven(text), der), 'certificate-untrusted')
})

test('a token that is not bound is refused in the scheme DPoP', async () => {
  const { verdictOf, proven } = startCheck()
  assert.equal(await verdictOf(await proven(await pki.token({ jti: 'j2' }))), 'token-invalid')
})

test('a proof of another key, method, address, token or time is refused', async () => {
  const { verdictOf, proven, clock } = startCheck()
  const text = await bound()
  const now = Math.floor(clock.now() / 1_000)
  const wrong: Readonly<Record<string, Partial<ProofParts>>> = {
    method: { method: 'POST' },
    address: { url: 'https://router.example/other' },
    token: { token: await bound('j3') },
    old: { claims: { iat: now - 61 } },
    future: { claims: { iat: now + 61 } },
  }
  for (const [what, parts] of Object.entries(wrong)) {
    assert.equal(await verdictOf(await proven(text, parts)), 'proof-invalid', what)
  }
  assert.equal(await verdictOf(await proven(text, {}, await dpopKey())), 'proof-invalid')
  const early = await proven(text)
  clock.advance(minutes(2))
  assert.equal(await verdictOf(early), 'proof-invalid')
})
