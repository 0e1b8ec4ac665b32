/** The key of a signer that is known by its certificate, and when it counts. API 4.5. */
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { externalSigner } from '../../../test/support/idp/external-idp.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { type Duration, days, hours, milliseconds } from '../../base/time/duration.ts'
import { minus, plus } from '../../base/time/instant.ts'
import { newKeyPair, signCertificate } from '../certificates/write-certificate.ts'
import { createSignerKeys, type SignerKeyCache } from './signer-keys.ts'
import type { ExternalJwtAlgorithm } from './verification-key.ts'

function world() {
  const clock = new ManualClock()
  const fetchJson = () => assert.fail('nothing is fetched for a certificate')
  return { clock, cache: createSignerKeys({ fetchJson, clock }) }
}

/** The coordinate of the key that is found, or why there is none. */
async function find(
  cache: SignerKeyCache,
  kid: string | undefined,
  signer = externalSigner(),
  alg: ExternalJwtAlgorithm = 'ES256',
): Promise<unknown> {
  const found = await cache.keyFor(signer, { kid, alg })
  return 'why' in found ? found.why : pointOf(found.key)
}

function pointOf(key: KeyObject): unknown {
  return key.export({ format: 'jwk' }).x
}

async function certificateOf(ends: Duration) {
  const { publicKey, privateKey } = await newKeyPair()
  const certificate = signCertificate(
    {
      commonName: 'Signer',
      publicKey,
      notBefore: minus(NOON, hours(1)),
      notAfter: plus(NOON, ends),
      profile: { kind: 'authority' },
    },
    { privateKey },
    systemRandom,
  )
  return { certPem: certificate.toString(), point: pointOf(publicKey) }
}

test('the key of a certificate verifies, whatever kid a token names, when the signer names none', async () => {
  const { cache } = world()
  const { certPem, point } = await certificateOf(days(1))
  const signer = externalSigner({ keys: { kind: 'certificate', certPem, kid: undefined } })
  assert.equal(await find(cache, undefined, signer), point)
  assert.equal(await find(cache, 'anything', signer), point)
  assert.equal(
    await find(cache, undefined, signer, 'RS256'),
    "the key of the signer's certificate is not for that algorithm",
  )
  assert.equal(await cache.status(signer), undefined)
})

test('a certificate with a kid verifies only tokens that name it', async () => {
  const { cache } = world()
  const { certPem, point } = await certificateOf(days(1))
  const signer = externalSigner({ keys: { kind: 'certificate', certPem, kid: 'k1' } })
  const other = "the token names a key that is not the one of the signer's certificate"
  assert.equal(await find(cache, 'k1', signer), point)
  assert.equal(await find(cache, 'K1', signer), other)
  assert.equal(await find(cache, undefined, signer), other)
})

test('a certificate outside its time verifies nothing', async () => {
  const { cache, clock } = world()
  const { certPem, point } = await certificateOf(hours(1))
  const signer = externalSigner({ keys: { kind: 'certificate', certPem, kid: undefined } })
  clock.pass(milliseconds(-3_600_001))
  assert.equal(await find(cache, undefined, signer), "the signer's certificate is not valid yet")
  clock.pass(milliseconds(1))
  assert.equal(await find(cache, undefined, signer), point)
  clock.pass(hours(2))
  assert.equal(await find(cache, undefined, signer), point)
  clock.pass(milliseconds(1))
  assert.equal(await find(cache, undefined, signer), "the signer's certificate has expired")
})

test('another certificate of the same signer replaces its key at once', async () => {
  const { cache } = world()
  const [old, next] = [await certificateOf(days(1)), await certificateOf(days(1))]
  for (const { certPem, point } of [old, next, old]) {
    const signer = externalSigner({ keys: { kind: 'certificate', certPem, kid: undefined } })
    assert.equal(await find(cache, undefined, signer), point)
  }
})

test('a certificate that cannot be read has no key', async () => {
  const { cache } = world()
  const keys = { kind: 'certificate', certPem: 'nonsense', kid: undefined } as const
  assert.equal(
    await find(cache, undefined, externalSigner({ keys })),
    "the signer's certificate has no key that can be used",
  )
})
