/**
 * Each rule of WebAuthn Level 3 §7.1 (registration) and §7.2 (authentication) that applies here, as the refusal that names
 * it. The authenticator is our own (test/support/passkeys); the stores are in memory.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FLAGS,
  type Lie,
  softAuthenticator,
} from '../../../../test/support/passkeys/authenticator.ts'
import { passkeyStores } from '../../../../test/support/passkeys/passkey-stores.ts'
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { createVault } from '../../../base/secrets/vault.ts'
import { minutes } from '../../../base/time/duration.ts'
import { instant, plus } from '../../../base/time/instant.ts'
import { auditPorts } from '../../audit/ports.ts'
import { sessionOwner } from '../factor-owner.ts'
import { checkPasskey, judgeAssertion } from './assertion.ts'
import { passkeyEnrollment, passkeyName } from './enroll-passkey.ts'
import { userHandleOf } from './options.ts'
import { proveOptions } from './passkey-factor.ts'
import { signInOptions } from './prove-by-passkey.ts'
import { relyingPartyAt } from './relying-party.ts'

const NOON = instant(1_800_000_000_000)
const ORIGIN = 'https://id.example.org:1280'
const RP = { id: 'id.example.org', name: 'Example', origins: [ORIGIN, 'https://id.example.org'] }
const ADA = { id: 'ada' as IdentityId, name: 'Ada' }
const OWNER = sessionOwner({ sessionId: 'one' as ApiSessionId })
const OTHER = sessionOwner({ sessionId: 'another' as ApiSessionId })

function world() {
  const stores = passkeyStores()
  let now = NOON
  const clock = { now: () => now, uptime: () => assert.fail('challenges go by the time of day') }
  const vault = createVault(new Uint8Array(32).fill(7), systemRandom)
  const ports = { ...stores, vault, ...auditPorts({ random: systemRandom, clock }) }
  const key = softAuthenticator({ counts: true })
  const prover = { identityId: ADA.id, owner: OWNER, rp: RP }

  async function start() {
    const enrollee = { identity: ADA, owner: OWNER, hostname: RP.id, rp: RP }
    const started = await passkeyEnrollment.start(ports, enrollee)
    assert.ok(typeof started === 'object')
    return started.setup.publicKey
  }
  async function prove(credential: unknown, by = prover) {
    return passkeyEnrollment.prove(ports, by, JSON.stringify({ credential, name: 'key' }))
  }
  async function enroll(authenticator = key) {
    const proof = await prove(authenticator.create(await start(), ORIGIN))
    assert.equal(proof.verdict, 'matches')
    return proof.verdict === 'matches' && proof.take(stores as never)
  }
  const advance = (by: number) => {
    now = plus(now, minutes(by))
  }
  return { ...stores, ports, key, prover, start, prove, enroll, advance }
}

/** §7.1. The steps are those of the specification. */
const REGISTRATION: Readonly<Record<string, readonly [refusal: string, lie: Lie]>> = {
  'step 7: another type': ['type', { type: 'webauthn.get' }],
  'step 8: a challenge that is not ours': ['challenge', { challenge: 'AAAA' }],
  'step 9: another origin': ['origin', { origin: 'https://evil.example' }],
  'step 9: another port': ['origin', { origin: 'https://id.example.org:8443' }],
  'step 9: no TLS': ['origin', { origin: 'http://id.example.org' }],
  'step 10: a frame of another site': ['cross-origin', { crossOrigin: true }],
  'step 10: a crossOrigin that is not a boolean': ['cross-origin', { crossOrigin: 'false' }],
  'step 11: a top origin': ['cross-origin', { topOrigin: ORIGIN }],
  'step 14: another RP ID': ['rp-id', { rpId: 'evil.example' }],
  'step 15: an absent user': ['user-presence', { clear: FLAGS.up }],
  'step 17: backed up, but not eligible': ['backup-flags', { set: FLAGS.bs }],
  'step 20: an algorithm that was not offered': ['algorithm', { coseAlgorithm: -36 }],
  'step 22: an attestation by certificate': [
    'attestation',
    { fmt: 'packed', statement: new Map([['x5c', [Buffer.from([1])]]]) },
  ],
  'step 22: a format that is not known': ['attestation', { fmt: 'tpm' }],
  'step 22: no attestation, with a statement': [
    'attestation',
    { statement: new Map([['sig', Buffer.from([1])]]) },
  ],
  'step 23: a bad signature of its own key': [
    'signature',
    {
      fmt: 'packed',
      statement: new Map<string, number | Uint8Array>([
        ['alg', -7],
        ['sig', Buffer.alloc(64)],
      ]),
    },
  ],
  'step 25: an id that is too long': ['malformed', { id: 'A'.repeat(1368) }],
  'another id than the one that is attested': ['credential-id', { attestedId: Buffer.alloc(32) }],
  'no attested credential': ['malformed', { clear: FLAGS.at }],
}

test('D-321: an RSA key with a long exponent is refused, because verifying with it takes long', async () => {
  const { start, prove } = world()
  const key = softAuthenticator({ algorithm: 'RS256' })
  const credential = key.create(await start(), ORIGIN, { exponent: Buffer.alloc(256, 0xff) })
  assert.deepEqual(await prove(credential), { verdict: 'wrong', passkey: 'key' })
})

for (const [what, [refusal, lie]] of Object.entries(REGISTRATION)) {
  test(`WebAuthn §7.1 ${what} is refused`, async () => {
    const { key, start, prove } = world()
    const credential = key.create(await start(), ORIGIN, lie)
    assert.deepEqual(await prove(credential), { verdict: 'wrong', passkey: refusal })
  })
}

test('WebAuthn §7.1 step 26: a credential id that is registered is refused', async () => {
  const { enroll } = world()
  assert.equal(await enroll(), true)
  await assert.rejects(enroll(), { code: 'PASSKEY_EXISTS' })
})

test('a challenge for a new key works once, for its owner and use, for ten minutes', async () => {
  const { key, start, prove, prover, advance, ...stores } = world()
  const publicKey = await start()
  const credential = key.create(publicKey, ORIGIN)
  const wrong = { verdict: 'wrong', passkey: 'challenge' }
  assert.deepEqual(await prove(credential, { ...prover, owner: OTHER }), wrong)
  const proofs = [await prove(credential), await prove(credential)]
  const taken: unknown[] = []
  for (const proof of proofs) {
    assert.equal(proof.verdict, 'matches')
    if (proof.verdict === 'matches') taken.push(await proof.take(stores as never))
  }
  assert.deepEqual(taken, [true, false])
  const late = softAuthenticator().create(await start(), ORIGIN)
  advance(10)
  assert.deepEqual(await prove(late), wrong)
})

test('recovery codes come with the first factor, and are those that were shown', async () => {
  const use = world()
  const enrollee = { identity: ADA, owner: OWNER, hostname: RP.id, rp: RP }
  const started = await passkeyEnrollment.start(use.ports, enrollee)
  assert.ok(typeof started === 'object')
  assert.equal(new Set(started.recoveryCodes).size, 20)
  const proof = await use.prove(use.key.create(started.setup.publicKey, ORIGIN))
  assert.ok(proof.verdict === 'matches' && (await proof.take(use as never)))
  const [code = ''] = started.recoveryCodes
  const verdict = await checkPasskey(use.ports, use.prover, code.toLowerCase())
  assert.ok(verdict.verdict === 'matches' && verdict.by === 'recovery-code')
  assert.equal(await verdict.take(use as never), true)
  assert.equal(await verdict.take(use as never), false)
  const second = await passkeyEnrollment.start(use.ports, enrollee)
  assert.deepEqual(typeof second === 'object' && second.recoveryCodes, [])
})

/** §7.2. The same, for a passkey alone and as the second factor. */
const AUTHENTICATION: Readonly<Record<string, readonly [refusal: string, lie: Lie]>> = {
  'step 5: a key that is not registered': ['unknown-credential', { id: 'AAAA' }],
  'step 6: the user handle of another': [
    'user-handle',
    { userHandle: userHandleOf({ id: 'bob' as IdentityId }) },
  ],
  'step 10: another type': ['type', { type: 'webauthn.create' }],
  'step 11: a challenge that is not ours': ['challenge', { challenge: 'AAAA' }],
  'step 12: another origin': ['origin', { origin: 'https://evil.example' }],
  'step 13: a frame of another site': ['cross-origin', { crossOrigin: true }],
  'step 14: a top origin': ['cross-origin', { topOrigin: ORIGIN }],
  'step 15: another RP ID': ['rp-id', { rpId: 'evil.example' }],
  'step 16: an absent user': ['user-presence', { clear: FLAGS.up }],
  'step 18: backed up, but not eligible': ['backup-flags', { set: FLAGS.bs }],
  'step 19: eligible, which it was not': ['backup-flags', { set: FLAGS.be }],
  'step 21: a bad signature': ['signature', { isBadlySigned: true }],
  'step 21: a signature of something else': ['signature', { extra: Buffer.from('x') }],
  'step 22: a counter that stands still': ['counter', { signCount: 1 }],
  'step 22: a counter that goes back to zero': ['counter', { signCount: 0 }],
}

for (const [what, [refusal, lie]] of Object.entries(AUTHENTICATION)) {
  test(`WebAuthn §7.2 ${what} is refused`, async () => {
    const use = world()
    await use.enroll()
    const alone = use.key.get(signInOptions(use.ports, { owner: OWNER, rp: RP }), ORIGIN, lie)
    const first = await judgeAssertion(use.ports, alone, { use: 'sign-in', owner: OWNER, rp: RP })
    assert.deepEqual([first.verdict, first.verdict === 'wrong' && first.why], ['wrong', refusal])
    const beside = use.key.get(await proveOptions(use.ports, use.prover), ORIGIN, lie)
    const second = await checkPasskey(use.ports, use.prover, JSON.stringify(beside))
    assert.deepEqual(second, { verdict: 'wrong', passkey: refusal })
  })
}

test('WebAuthn §7.2 step 17: alone, a user who is not verified is refused', async () => {
  const use = world()
  await use.enroll()
  const options = signInOptions(use.ports, { owner: OWNER, rp: RP })
  const credential = use.key.get(options, ORIGIN, { clear: FLAGS.uv })
  const place = { use: 'sign-in', owner: OWNER, rp: RP } as const
  const verdict = await judgeAssertion(use.ports, credential, place)
  assert.equal(verdict.verdict === 'wrong' && verdict.why, 'user-verification')
})

test('WebAuthn §7.2 step 6: alone, a passkey must name its user', async () => {
  const use = world()
  await use.enroll()
  const options = signInOptions(use.ports, { owner: OWNER, rp: RP })
  const credential = use.key.get(options, ORIGIN, { userHandle: null })
  const place = { use: 'sign-in', owner: OWNER, rp: RP } as const
  const verdict = await judgeAssertion(use.ports, credential, place)
  assert.equal(verdict.verdict === 'wrong' && verdict.why, 'user-handle')
})

test('a passkey of another identity does not prove this one', async () => {
  const use = world()
  await use.enroll()
  const credential = use.key.get(await proveOptions(use.ports, use.prover), ORIGIN)
  const bob = { ...use.prover, identityId: 'bob' as IdentityId }
  const verdict = await checkPasskey(use.ports, bob, JSON.stringify(credential))
  assert.deepEqual(verdict, { verdict: 'wrong', passkey: 'unknown-credential' })
})

test('an assertion for the second factor begins no login, and the other way round', async () => {
  const use = world()
  await use.enroll()
  const place = { use: 'sign-in', owner: OWNER, rp: RP } as const
  const beside = use.key.get(await proveOptions(use.ports, use.prover), ORIGIN)
  const first = await judgeAssertion(use.ports, beside, place)
  assert.equal(first.verdict === 'wrong' && first.why, 'challenge')
  const alone = use.key.get(signInOptions(use.ports, { owner: OWNER, rp: RP }), ORIGIN)
  const second = await checkPasskey(use.ports, use.prover, JSON.stringify(alone))
  assert.deepEqual(second, { verdict: 'wrong', passkey: 'challenge' })
})

test('an assertion is spent once, and moves the counter', async () => {
  const use = world()
  await use.enroll()
  const credential = JSON.stringify(use.key.get(await proveOptions(use.ports, use.prover), ORIGIN))
  const verdicts = [
    await checkPasskey(use.ports, use.prover, credential),
    await checkPasskey(use.ports, use.prover, credential),
  ]
  const taken: unknown[] = []
  for (const verdict of verdicts) {
    assert.equal(verdict.verdict, 'matches')
    if (verdict.verdict === 'matches') taken.push(await verdict.take(use as never))
  }
  assert.deepEqual(taken, [true, false])
  const again = await checkPasskey(use.ports, use.prover, credential)
  assert.deepEqual(again, { verdict: 'wrong', passkey: 'counter' })
})

test('ten wrong recovery codes block them, and never a passkey', async () => {
  const use = world()
  await use.enroll()
  for (let i = 0; i < 10; i += 1) await checkPasskey(use.ports, use.prover, 'ABCDEF')
  assert.equal((await checkPasskey(use.ports, use.prover, 'ABCDEF')).verdict, 'blocked')
  const credential = use.key.get(await proveOptions(use.ports, use.prover), ORIGIN)
  const verdict = await checkPasskey(use.ports, use.prover, JSON.stringify(credential))
  assert.equal(verdict.verdict, 'matches')
})

const MALFORMED: Readonly<Record<string, unknown>> = {
  nothing: {},
  'a list': [],
  'a response that is not an object': { id: 'AAAA', type: 'public-key', response: 'x' },
  'another type': { id: 'AAAA', type: 'password', response: {} },
  'a rawId that differs': { id: 'AAAA', rawId: 'BBBB', type: 'public-key', response: {} },
  'padded base64url': { id: 'AA==', type: 'public-key', response: {} },
  'client data that is not JSON': {
    id: 'AAAA',
    type: 'public-key',
    response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
  },
  'client data that is too long': {
    id: 'AAAA',
    type: 'public-key',
    response: { clientDataJSON: 'A'.repeat(8000), authenticatorData: 'AAAA', signature: 'AAAA' },
  },
}

for (const [what, given] of Object.entries(MALFORMED)) {
  test(`an answer with ${what} is malformed`, async () => {
    const { ports, prove } = world()
    const place = { use: 'sign-in', owner: OWNER, rp: RP } as const
    const verdict = await judgeAssertion(ports, given, place)
    assert.equal(verdict.verdict === 'wrong' && verdict.why, 'malformed')
    assert.deepEqual(await prove(given), { verdict: 'wrong', passkey: 'malformed' })
  })
}

for (const [host, isThere] of [
  ['id.example.org', true],
  ['localhost', true],
  ['127.0.0.1', false],
  ['::1', false],
  ['[::1]', false],
  ['', false],
] as const) {
  test(`D-430: passkeys ${isThere ? 'work' : 'do not work'} at the host "${host}"`, () => {
    const urls = ['https://id.example.org:1280', 'https://localhost', 'https://127.0.0.1:1280']
    const rp = relyingPartyAt(host, urls, 'Example')
    assert.equal(rp !== undefined, isThere)
    if (rp !== undefined) assert.equal(rp.origins.length, 1)
  })
}

test('a passkey of another host is not offered', async () => {
  const use = world()
  await use.enroll()
  const elsewhere = { ...RP, id: 'other.example.org' }
  const there = { ...use.prover, rp: elsewhere }
  await assert.rejects(proveOptions(use.ports, there), { code: 'PASSKEYS_UNAVAILABLE' })
})

for (const [given, name] of [
  [undefined, 'Passkey'],
  [7, 'Passkey'],
  ['  ', 'Passkey'],
  ['\u0000\u001b', 'Passkey'],
  ['\ud800', 'Passkey'],
  [' Zoë’s phone ', 'Zoë’s phone'],
  ['x'.repeat(99), 'x'.repeat(64)],
] as const) {
  test(`a passkey that is called ${JSON.stringify(given)} gets the name ${name}`, () => {
    assert.equal(passkeyName(given), name)
  })
}
