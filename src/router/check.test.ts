/**
 * The check of a router, row by row: SPEC Other errors, Limits; D-42; R101, R102. Certificates come from openssl, tokens
 * from jose.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  CA_EXTENSIONS,
  LEAF_EXTENSIONS,
  type MadeCertificate,
} from '../../test/support/certificates/openssl.ts'
import { TestClock } from '../../test/support/clocks/clock.ts'
import { ALICE, openEdgePki, sessionUri } from '../../test/support/edge/edge-pki.ts'
import { base64url, sha256 } from '../base/encoding.ts'
import { days, hours, minutes, seconds } from '../base/time/duration.ts'
import { epochSeconds, instant, plus } from '../base/time/instant.ts'
import {
  createHeldTokenCheck,
  createRouterCheck,
  type Presented,
  type RefusalReason,
} from './check.ts'
import { createFeedCopy } from './feed-copy.ts'
import type { FeedLine } from './feed-lines.ts'
import type { SessionAnswer } from './session-checks.ts'

const pki = await openEdgePki()
after(() => pki.close())
const certificate = await pki.sessionCertificate(ALICE)
const other = await openEdgePki()
after(() => other.close())

/** What a feed begins with. */
const SNAPSHOT: readonly FeedLine[] = [
  {
    type: 'hello',
    brand: 'service',
    trustDomain: 'latchkey',
    issuers: ['https://controller.example/oidc'],
    isSnapshot: true,
  },
  { type: 'keys', keys: pki.jwks as never },
  { type: 'cas', cas: pki.cas },
  { type: 'ready', cursor: 'c' },
  { type: 'heartbeat', cursor: 'c' },
]

const thumbprint = ({ der }: MadeCertificate) => base64url(sha256(der))

function startCheck(options: { readonly answer?: SessionAnswer } = {}) {
  const clock = new TestClock()
  clock.hold()
  const copy = createFeedCopy({ clock, onEnded: () => undefined })
  const reception = copy.receive()
  const take = (...lines: readonly FeedLine[]) => {
    for (const line of lines) reception.take(line)
  }
  take(...SNAPSHOT)
  const asked: string[] = []
  const sessionChecks = {
    async ask(ztSession: string): Promise<SessionAnswer> {
      asked.push(ztSession)
      return options.answer ?? { outcome: 'inactive' }
    },
  }
  const check = createRouterCheck({ copy, sessionChecks, clock })
  const checkHeld = createHeldTokenCheck({ copy, clock })
  const end = (subject: string) =>
    take({ type: 'ended', subject, keepUntil: plus(clock.now(), hours(1)) })
  const checkBearer = async (
    shown: Pick<MadeCertificate, 'der'> | undefined,
    token: string | undefined,
  ) =>
    check({ certificate: shown?.der, token: token === undefined ? undefined : { bearer: token } })
  return { clock, copy, take, asked, check, checkHeld, end, checkBearer }
}

async function refusal(verdict: ReturnType<ReturnType<typeof startCheck>['check']>) {
  const given = await verdict
  return given.verdict === 'refused' ? given.reason : given
}

describe('accepted is', () => {
  test('the certificate of a session with a token of that session', async () => {
    const { checkBearer, clock } = startCheck()
    const exp = epochSeconds(clock.now()) + 300
    const verdict = await checkBearer(certificate, await pki.token({ jti: 'j1', exp }))
    assert.deepEqual(verdict, {
      verdict: 'accepted',
      sessionId: ALICE.sessionId,
      identityId: ALICE.identityId,
      certificateId: ALICE.certificateId,
      expiresAt: instant(exp * 1_000),
      certificateExpiresAt: verdict.verdict === 'accepted' && verdict.certificateExpiresAt,
      subjects: [
        ALICE.sessionId,
        'j1',
        ALICE.certificateId,
        `cert:${certificate.fingerprint}`,
        'key:key-1',
      ],
    })
  })

  test('the certificate that the token is bound to, whichever CA issued it', async () => {
    const stranger = await pki.openssl.makeCa({ subject: '/CN=Some CA' })
    const bound = await pki.openssl.makeLeaf(stranger)
    const cnf = { 'x5t#S256': thumbprint(bound) }
    const verdict = await startCheck().checkBearer(bound, await pki.token({ jti: 'j1', cnf }))
    assert.ok(verdict.verdict === 'accepted')
    const subjects = [ALICE.sessionId, 'j1', `cert:${bound.fingerprint}`, 'key:key-1']
    assert.deepEqual(verdict.subjects, subjects)
    assert.equal(verdict.certificateId, undefined)
  })

  test('an enrolled certificate of our PKI of the same identity', async () => {
    const enrolled = await pki.enrolledCertificate(ALICE.identityId)
    const verdict = await startCheck().checkBearer(enrolled, await pki.token())
    assert.equal(verdict.verdict, 'accepted')
  })

  test('the certificate of a session with its zt-session', async () => {
    const { check, clock } = startCheck({
      answer: { outcome: 'active', ...ALICE, expiresAt: instant(4e12) },
    })
    const verdict = await check({ certificate: certificate.der, token: { ztSession: 'token' } })
    assert.ok(verdict.verdict === 'accepted')
    assert.equal(verdict.sessionId, ALICE.sessionId)
    assert.deepEqual(verdict.subjects, [
      ALICE.sessionId,
      ALICE.certificateId,
      `cert:${certificate.fingerprint}`,
    ])
    assert.ok(verdict.expiresAt > clock.now())
  })
})

describe('R102: refused is', () => {
  const refused = (
    what: string,
    reason: RefusalReason,
    present: () => Promise<readonly [MadeCertificate | undefined, string | undefined]>,
  ) =>
    test(`${what}: ${reason}`, async () => {
      const [shown, token] = await present()
      assert.equal(await refusal(startCheck().checkBearer(shown, token)), reason)
    })

  refused('a certificate without a token', 'no-token', async () => [certificate, undefined])
  refused('a token without a certificate', 'no-certificate', async () => [
    undefined,
    await pki.token(),
  ])
  refused('the certificate of another session', 'certificate-of-other-session', async () => [
    await pki.sessionCertificate({ ...ALICE, sessionId: 'another-of-alice' }),
    await pki.token(),
  ])
  refused('the certificate of another identity', 'certificate-of-other-identity', async () => [
    await pki.sessionCertificate({ ...ALICE, identityId: 'bob' }),
    await pki.token(),
  ])
  refused('an enrolled certificate of another', 'certificate-of-other-identity', async () => [
    await pki.enrolledCertificate('bob'),
    await pki.token(),
  ])
  refused('a certificate that has expired', 'certificate-expired', async () => [
    await pki.sessionCertificate(ALICE, { notAfter: minutes(-1) }),
    await pki.token(),
  ])
  refused('a certificate of tomorrow', 'certificate-not-yet-valid', async () => [
    await pki.sessionCertificate(ALICE, { notBefore: hours(1) }),
    await pki.token(),
  ])
  refused('a certificate that is bound, but expired', 'certificate-expired', async () => {
    const bound = await pki.sessionCertificate(ALICE, { notAfter: minutes(-1) })
    return [bound, await pki.token({ cnf: { 'x5t#S256': thumbprint(bound) } })]
  })
  refused('a token of another key', 'token-invalid', async () => [certificate, await other.token()])
  refused('a token that has expired', 'token-expired', async () => [
    certificate,
    await pki.token({ exp: epochSeconds(instant(Date.UTC(2020, 0, 1))) }),
  ])
  refused('a certificate that another token is bound to', 'certificate-untrusted', async () => {
    const stranger = await pki.openssl.makeCa({ subject: '/CN=Some CA' })
    const [one, other] = [
      await pki.openssl.makeLeaf(stranger),
      await pki.openssl.makeLeaf(stranger),
    ]
    return [one, await pki.token({ cnf: { 'x5t#S256': thumbprint(other) } })]
  })

  describe('a certificate of the right name that', () => {
    const named = (issuer: () => Promise<MadeCertificate>, extensions?: readonly string[]) => ({
      async make() {
        return pki.openssl.makeLeaf(await issuer(), {
          extensions: extensions ?? [...LEAF_EXTENSIONS, `subjectAltName=URI:${sessionUri(ALICE)}`],
        })
      },
    })
    const issuing = async () => pki.issuing
    const without = (word: string) => LEAF_EXTENSIONS.filter((line) => !line.startsWith(word))
    const uri = `URI:${sessionUri(ALICE)}`
    const cases: Readonly<Record<string, { make(): Promise<MadeCertificate> }>> = {
      'another CA issued': named(() => pki.openssl.makeCa({ subject: '/CN=Some CA' })),
      'a CA with the name of ours issued': named(() =>
        pki.openssl.makeCa({ subject: pki.issuing.subject }),
      ),
      // Its CA was issued by ours, but the router relies on what the controller names and nothing else.
      'an intermediate below our CA issued': named(() =>
        pki.openssl.makeCa({ subject: '/CN=Below', issuer: pki.issuing }),
      ),
      'another certificate of ours issued': named(async () => certificate),
      'is a CA': named(issuing, [...CA_EXTENSIONS, `subjectAltName=${uri}`]),
      'is for servers': named(issuing, [
        ...without('extendedKeyUsage'),
        'extendedKeyUsage=serverAuth',
        `subjectAltName=${uri}`,
      ]),
      'has no purpose': named(issuing, [...without('extendedKeyUsage'), `subjectAltName=${uri}`]),
      'has no name at all': named(issuing, LEAF_EXTENSIONS),
      'has two names': named(issuing, [
        ...LEAF_EXTENSIONS,
        `subjectAltName=${uri},URI:spiffe://latchkey/identity/bob`,
      ]),
      'is of another trust domain': named(issuing, [
        ...LEAF_EXTENSIONS,
        `subjectAltName=URI:${sessionUri(ALICE).replace('latchkey', 'elsewhere')}`,
      ]),
      'has the name as a DNS name': named(issuing, [
        ...LEAF_EXTENSIONS,
        'subjectAltName=DNS:alice',
      ]),
      'goes on behind the name': named(issuing, [...LEAF_EXTENSIONS, `subjectAltName=${uri}/more`]),
    }
    for (const [what, { make }] of Object.entries(cases)) {
      test(`${what} is untrusted`, async () => {
        const verdict = startCheck().checkBearer(await make(), await pki.token())
        assert.equal(await refusal(verdict), 'certificate-untrusted')
      })
    }
  })

  // R093: Node reads a PEM block wherever it stands in the bytes, and would see a certificate whose key was not proven.
  test('bytes that contain the certificate of another identity as text', async () => {
    const { check } = startCheck()
    const token = { bearer: await pki.token() }
    for (const der of [
      Buffer.from(certificate.pem),
      Buffer.concat([certificate.der, Buffer.from(certificate.pem)]),
      Buffer.concat([certificate.der, Buffer.from([0])]),
      certificate.der.subarray(0, -1),
      new Uint8Array(),
      new Uint8Array(100_000),
    ]) {
      assert.equal(await refusal(check({ certificate: der, token })), 'certificate-unreadable')
    }
    // Of mallory's own key, with alice's certificate as the text of some extension.
    const text = Buffer.from(`\n${certificate.pem}`)
      .toString('hex')
      .replace(/..(?!$)/g, '$&:')
    const carrier = await pki.openssl.makeLeaf(pki.issuing, {
      subject: '/CN=mallory',
      extensions: [...LEAF_EXTENSIONS, `1.2.3.4=DER:${text}`],
    })
    const verdict = check({ certificate: carrier.der, token })
    assert.equal(await refusal(verdict), 'certificate-unreadable')
  })
})

test('what only JavaScript lets a caller pass is refused, and neither thrown nor repeated', async () => {
  const { check, checkHeld } = startCheck()
  const { der } = certificate
  const secret = await pki.token()
  const cases: [presented: object, reason: RefusalReason][] = [
    // Authorization without a token, as in `fields.authorization.split(' ')[1]`.
    [{ certificate: der, token: { bearer: undefined } }, 'token-invalid'],
    [{ certificate: der, token: { bearer: [secret] } }, 'token-invalid'],
    [{ certificate: der, token: { ztSession: undefined } }, 'token-invalid'],
    [{ certificate: der, token: { dpop: undefined } }, 'token-invalid'],
    [{ certificate: der, token: {} }, 'token-invalid'],
    [{ certificate: der, token: secret }, 'token-invalid'],
    [{ certificate: der, token: null }, 'no-token'],
    [{ certificate: null, token: { bearer: secret } }, 'no-certificate'],
  ]
  for (const [presented, reason] of cases) {
    const verdict = await check(presented as Presented)
    assert.ok(verdict.verdict === 'refused')
    assert.equal(verdict.reason, reason)
    assert.ok(!JSON.stringify(verdict).includes(secret))
  }
  assert.equal(await refusal(checkHeld(undefined as unknown as string)), 'token-invalid')
})

describe('R101: refused from the moment it is known is', () => {
  const ends: readonly (readonly [string, () => string, RefusalReason])[] = [
    ['a session that has ended', () => ALICE.sessionId, 'session-ended'],
    ['a token that was revoked', () => 'j1', 'session-ended'],
    ['a token whose key was withdrawn', () => 'key:key-1', 'token-invalid'],
    ['a session certificate that was removed', () => ALICE.certificateId, 'certificate-removed'],
    [
      'a certificate whose authenticator was removed',
      () => `cert:${certificate.fingerprint}`,
      'certificate-removed',
    ],
  ]
  for (const [what, subject, reason] of ends) {
    test(what, async () => {
      const { checkBearer, end } = startCheck()
      const token = await pki.token({ jti: 'j1' })
      assert.equal((await checkBearer(certificate, token)).verdict, 'accepted')
      end(subject())
      assert.equal(await refusal(checkBearer(certificate, token)), reason)
    })
  }

  test('an enrolled or bound certificate that was removed', async () => {
    const { checkBearer, end } = startCheck()
    const enrolled = await pki.enrolledCertificate(ALICE.identityId)
    const bound = await pki.openssl.makeLeaf(await pki.openssl.makeCa())
    const token = await pki.token({ cnf: { 'x5t#S256': thumbprint(bound) } })
    for (const one of [enrolled, bound]) {
      assert.equal((await checkBearer(one, token)).verdict, 'accepted')
      end(`cert:${one.fingerprint}`)
      assert.equal(await refusal(checkBearer(one, token)), 'certificate-removed')
    }
  })

  test('a session that ends while its token is being checked', async () => {
    const { checkBearer, end } = startCheck()
    const token = await pki.token()
    const verdict = checkBearer(certificate, token)
    end(ALICE.sessionId)
    assert.equal(await refusal(verdict), 'session-ended')
  })

  test('a certificate that was good an hour ago, by the clock', async () => {
    const { clock, checkBearer } = startCheck()
    const short = await pki.sessionCertificate(ALICE, { notAfter: minutes(30) })
    const token = await pki.token({ exp: epochSeconds(plus(clock.now(), days(1))) })
    assert.equal((await checkBearer(short, token)).verdict, 'accepted')
    clock.advance(hours(1))
    assert.equal(await refusal(checkBearer(short, token)), 'certificate-expired')
  })
})

describe('every caller is refused', () => {
  test('before the controller was heard', async () => {
    const clock = new TestClock()
    const copy = createFeedCopy({ clock, onEnded: () => undefined })
    const check = createRouterCheck({
      copy,
      clock,
      sessionChecks: { ask: async () => ({ outcome: 'inactive' }) },
    })
    const token = { bearer: await pki.token() }
    assert.equal(await refusal(check({ certificate: certificate.der, token })), 'cut-off')
  })

  test('by CAs and keys that the controller has replaced', async () => {
    const { checkBearer, take } = startCheck()
    const token = await pki.token()
    take({ type: 'cas', cas: other.cas })
    assert.equal(await refusal(checkBearer(certificate, token)), 'certificate-untrusted')
    take({ type: 'cas', cas: pki.cas }, { type: 'keys', keys: other.jwks as never })
    assert.equal(await refusal(checkBearer(certificate, token)), 'token-invalid')
  })

  test('below a CA that has expired', async () => {
    const { checkBearer, take } = startCheck()
    const old = await pki.openssl.makeCa({ subject: '/CN=Old CA', notAfter: minutes(-1) })
    const leaf = await pki.openssl.makeLeaf(old, {
      extensions: [...LEAF_EXTENSIONS, `subjectAltName=URI:${sessionUri(ALICE)}`],
    })
    take({ type: 'cas', cas: old.pem })
    assert.equal(await refusal(checkBearer(leaf, await pki.token())), 'certificate-untrusted')
  })
})

describe('a zt-session', () => {
  const token: Presented['token'] = { ztSession: 'the-token' }
  const cases: readonly (readonly [string, SessionAnswer, RefusalReason])[] = [
    ['that is not active is refused', { outcome: 'inactive' }, 'token-invalid'],
    [
      'about which the controller cannot be asked is refused',
      { outcome: 'unknown', why: 'x' },
      'controller-unreachable',
    ],
    [
      'that has ended by its time is refused',
      { outcome: 'active', ...ALICE, expiresAt: instant(1_000) },
      'token-expired',
    ],
    [
      'of another session than the certificate is refused',
      { outcome: 'active', ...ALICE, sessionId: 'other', expiresAt: instant(4e12) },
      'certificate-of-other-session',
    ],
    [
      'of another identity than the certificate is refused',
      { outcome: 'active', ...ALICE, identityId: 'bob', expiresAt: instant(4e12) },
      'certificate-of-other-identity',
    ],
  ]
  for (const [what, answer, reason] of cases) {
    test(what, async () => {
      const { check } = startCheck({ answer })
      assert.equal(await refusal(check({ certificate: certificate.der, token })), reason)
    })
  }

  test('whose session has ended by the feed is refused, whatever the controller says', async () => {
    const { check, end } = startCheck({
      answer: { outcome: 'active', ...ALICE, expiresAt: instant(4e12) },
    })
    end(ALICE.sessionId)
    assert.equal(await refusal(check({ certificate: certificate.der, token })), 'session-ended')
  })

  // Otherwise any machine on the network could make the router query its controller without end.
  test('is not asked about for a certificate that is not ours', async () => {
    const { check, asked } = startCheck()
    const stranger = await pki.openssl.makeLeaf(await pki.openssl.makeCa())
    const verdict = check({ certificate: stranger.der, token })
    assert.equal(await refusal(verdict), 'certificate-untrusted')
    assert.deepEqual(asked, [])
  })
})

test('refuses every caller if no heartbeat arrives for 30 s', async () => {
  const clock = new TestClock()
  let passed = 0
  const copy = createFeedCopy({
    clock: { now: () => clock.now(), uptime: () => seconds(passed) },
    onEnded: () => undefined,
  })
  const reception = copy.receive()
  for (const line of SNAPSHOT) reception.take(line)
  const check = createRouterCheck({
    copy,
    clock,
    sessionChecks: { ask: async () => ({ outcome: 'inactive' }) },
  })
  const presented = { certificate: certificate.der, token: { bearer: await pki.token() } }
  passed = 30
  assert.equal((await check(presented)).verdict, 'accepted')
  passed = 31
  assert.equal(await refusal(check(presented)), 'cut-off')
})

describe('D-410: a token that the gateway holds for a browser', () => {
  test('is accepted without a certificate, and ends with its session, its token and its key', async () => {
    const { checkHeld, clock } = startCheck()
    const exp = epochSeconds(clock.now()) + 300
    assert.deepEqual(await checkHeld(await pki.token({ jti: 'j1', exp })), {
      verdict: 'accepted',
      sessionId: ALICE.sessionId,
      identityId: ALICE.identityId,
      expiresAt: instant(exp * 1_000),
      subjects: [ALICE.sessionId, 'j1', 'key:key-1'],
    })
  })

  const ends: Readonly<Record<string, RefusalReason>> = {
    [ALICE.sessionId]: 'session-ended',
    j1: 'session-ended',
    'key:key-1': 'token-invalid',
  }
  for (const [subject, reason] of Object.entries(ends)) {
    test(`is refused after the end of ${subject}`, async () => {
      const { checkHeld, end } = startCheck()
      end(subject)
      assert.equal(await refusal(checkHeld(await pki.token({ jti: 'j1' }))), reason)
    })
  }

  test('is refused if it has expired, is not signed by the controller, or the gateway is cut off', async () => {
    const { checkHeld, clock } = startCheck()
    const token = await pki.token({ exp: epochSeconds(clock.now()) + 60 })
    assert.equal(await refusal(checkHeld(await other.token())), 'token-invalid')
    clock.advance(seconds(61))
    assert.equal(await refusal(checkHeld(token)), 'token-expired')
    const copy = createFeedCopy({ clock, onEnded: () => undefined })
    assert.equal(await refusal(createHeldTokenCheck({ copy, clock })(token)), 'cut-off')
  })

  // The certificate of the login stays in the browser: behind the gateway nothing proves it.
  test('is refused if its policy binds tokens to certificates', async () => {
    const { checkHeld, take } = startCheck()
    const policy = { id: 'p', allowsPassword: true, allowsCertificate: true, signers: [], cas: [] }
    const demands = { requireTotp: false, requireExtJwt: null, bindTokens: true }
    take({ type: 'policy', policy: { ...policy, ...demands } } as never)
    const bound = { cnf: { 'x5t#S256': thumbprint(certificate) }, z_ap: 'p', amr: ['swk'] }
    assert.equal(await refusal(checkHeld(await pki.token(bound))), 'token-bound-elsewhere')
  })
})
