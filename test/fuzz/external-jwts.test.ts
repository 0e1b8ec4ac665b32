/** Properties of external JWTs: the claim that a pointer finds, and tokens that are nonsense. RFC 6901, R059. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Secret } from '../../src/base/secrets/secret.ts'
import { claimedSubject } from '../../src/domain/ext-jwt/claim.ts'
import { createSignerKeys } from '../../src/domain/ext-jwt/signer-keys.ts'
import { verifyExternalJwt } from '../../src/domain/ext-jwt/verify.ts'
import { rounds } from '../support/chance/rounds.ts'
import { ManualClock } from '../support/clocks/manual-clock.ts'
import { externalSigner, newIdpKey } from '../support/idp/external-idp.ts'
import { jwtPart } from '../support/jwt-part.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

type Step = string | number

/** Every text in a document, with the steps that lead to it. */
function textsOf(value: unknown, steps: readonly Step[] = []): [readonly Step[], string][] {
  if (typeof value === 'string') return [[steps, value]]
  if (typeof value !== 'object' || value === null) return []
  const entries: [Step, unknown][] = Array.isArray(value)
    ? value.map((entry, i): [number, unknown] => [i, entry])
    : Object.entries(value)
  return entries.flatMap(([step, entry]) => textsOf(entry, [...steps, step]))
}

const key = fc.oneof(fc.constantFrom('~', '/', '~1', '~0', '', '0', '__proto__'), fc.string())
const claims = fc.dictionary(
  key,
  fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ maxLength: 20 }),
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3 }),
    ),
  })).value,
  { maxKeys: 4 },
)

test('a pointer to each text of a document finds that text', () => {
  fc.assert(
    fc.property(claims, (given) => {
      const document: unknown = JSON.parse(JSON.stringify(given))
      for (const [steps, text] of textsOf(document)) {
        const pointer = steps
          .map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
          .join('')
        const isSubject = text !== '' && pointer.length <= 256
        assert.equal(claimedSubject(document, pointer), isSubject ? text : undefined, pointer)
      }
    }),
  )
})

test('whatever the property is, only a text of the document is found', () => {
  const property = fc.oneof(
    fc.string(),
    fc
      .array(fc.oneof(key, fc.constantFrom('length', 'constructor', '-', '00')))
      .map((steps) => `/${steps.join('/')}`),
  )
  fc.assert(
    fc.property(claims, property, (given, name) => {
      const found = claimedSubject(given, name)
      if (found === undefined) return
      assert.ok(textsOf(given).some(([, text]) => text === found))
    }),
  )
})

test('R059: no token makes the verification throw, and without a signature none is accepted', async () => {
  const clock = new ManualClock()
  const idpKey = await newIdpKey('k')
  const signerKeys = createSignerKeys({
    fetchJson: async () => ({ keys: [idpKey.jwk] }),
    clock,
  })
  const ports = { clock, signerKeys }
  const signer = externalSigner()
  const header = fc.oneof(
    fc.record(
      { alg: fc.constantFrom('ES256', 'none', 'HS256', 'RS256'), kid: fc.constantFrom('k', 7) },
      { requiredKeys: [] },
    ),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const payload = fc.oneof(
    fc.record(
      {
        iss: fc.oneof(fc.constant(signer.issuer), fc.jsonValue({ maxDepth: 1 })),
        aud: fc.oneof(fc.constant(signer.audience), fc.jsonValue({ maxDepth: 1 })),
        exp: fc.oneof(fc.constant(1e12), fc.jsonValue({ maxDepth: 1 })),
        sub: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: ['iss'] },
    ),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const token = fc.oneof(
    fc.string(),
    fc
      .tuple(header, payload, fc.base64String({ maxLength: 100 }))
      .map(([first, second, third]) => `${jwtPart(first)}.${jwtPart(second)}.${third}`),
  )
  await fc.assert(
    fc.asyncProperty(token, async (text) => {
      assert.equal((await verifyExternalJwt(ports, signer, new Secret(text))).verdict, 'invalid')
    }),
  )
})
