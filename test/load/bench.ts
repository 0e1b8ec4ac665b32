/**
 * What the hot paths cost beside the bare cryptography that they cannot do without: ratios within one run, never
 * absolute times, so that any machine will do. `npm run bench`; exits 1 when one is beyond its limit.
 */
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { readBits, readChildren, readDer, TAG } from '../../src/base/der.ts'
import type { ApiSessionId, SessionCertificateId } from '../../src/base/ids.ts'
import { newId } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { Secret } from '../../src/base/secrets/secret.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../src/base/secrets/vault.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { days, hours, minutes } from '../../src/base/time/duration.ts'
import { plus } from '../../src/base/time/instant.ts'
import { authenticateCall } from '../../src/domain/calls/authenticate-call.ts'
import type { CallPorts } from '../../src/domain/calls/ports.ts'
import { readCsr } from '../../src/domain/certificates/session/csr.ts'
import { createEndedSessions } from '../../src/domain/sessions/ending/ended-sessions.ts'
import { issueSessionCertificate } from '../../src/domain/sessions/session-certificates.ts'
import { accessTokenClaims } from '../../src/domain/tokens/access-token.ts'
import { createSigningKeys } from '../../src/domain/tokens/keys/signing-keys.ts'
import { ACCESS_TOKEN_TYP } from '../../src/protocol/service-claims.ts'
import { sessionCertificateUri } from '../../src/protocol/spiffe-id.ts'
import { openStore } from '../../src/store/open.ts'
import { derOf, type KEYS, makeCsr } from '../support/certificates/csr.ts'
import { callOf, sessionCertificatesOn } from '../support/certificates/session-certificates.ts'
import { fakePorts } from '../support/fake-ports.ts'
import { anIdentity, anOidcSession, aPolicy, CALLER, rulesOf } from '../support/people.ts'
import { slowestPages } from './lists.ts'

/** Issue 4: reading the request and signing the certificate, beside one verification and one signature. */
const LIMIT = 5

const ROUNDS = 25
const ROUND_MILLISECONDS = 25

type Work = () => unknown

interface Row {
  readonly what: string
  readonly beside: string
  readonly ratio: number
  readonly limit?: number
}

const clock = systemClock
const store = await openStore({ kind: 'sqlite', path: ':memory:' })
const { ports: certificatePorts, authorities } = await sessionCertificatesOn(store, clock)

const rows: Row[] = []
for (const key of ['P-256', 'RSA 2048', 'Ed25519'] as const) rows.push(await issuing(key))
rows.push(await wholeIssue())
rows.push(await bearerCall())
rows.push(...(await slowestPages()))
await store.close()

console.log('cost of'.padEnd(62), 'beside'.padEnd(46), 'ratio')
for (const { what, beside, ratio, limit } of rows) {
  const verdict = limit === undefined ? '' : `  (limit ${limit})`
  console.log(what.padEnd(62), beside.padEnd(46), `${ratio.toFixed(2)}${verdict}`)
}
const beyond = rows.filter(({ ratio, limit }) => limit !== undefined && ratio > limit)
for (const { what, limit } of beyond) console.error(`beyond ${limit} times: ${what}`)
process.exitCode = beyond.length > 0 ? 1 : 0

/** In process, without the store: what every issue costs whatever the database is. */
async function issuing(key: keyof typeof KEYS): Promise<Row> {
  const { pem } = await makeCsr({ key })
  const ratio = await compare(() => {
    const request = readCsr(pem)
    if ('fault' in request) throw new Error(request.fault)
    const now = clock.now()
    authorities.signClientCertificate({
      ...request,
      serial: systemRandom.bytes(16),
      uri: sessionCertificateUri({
        trustDomain: 'latchkey',
        identityId: anIdentity().id,
        sessionId: anOidcSession().id,
        certificateId: newId<SessionCertificateId>(systemRandom),
      }),
      notBefore: now,
      notAfter: plus(now, hours(12)),
    })
  }, bareIssue(pem))
  const what = `certificate from a request with ${key}: read, check, sign`
  return { what, beside: 'one verification and one signature', ratio, limit: LIMIT }
}

/** With transaction, count, row and event, on SQLite in memory. */
async function wholeIssue(): Promise<Row> {
  const { pem } = await makeCsr()
  let count = 0
  let session = anOidcSession()
  const issue = async () => {
    // A session may have a hundred.
    if (count++ % 100 === 0) {
      session = anOidcSession({
        id: newId<ApiSessionId>(systemRandom),
        scopes: ['openid', 'offline_access'],
        endsAt: plus(clock.now(), days(30)),
        expiresAt: plus(clock.now(), days(1)),
      })
      await store.apiSessions.insert(session)
    }
    await issueSessionCertificate(certificatePorts, callOf(session), pem, CALLER)
  }
  const ratio = await compare(issue, bareIssue(pem))
  const what = 'the same and stored, with its event (SQLite in memory)'
  return { what, beside: 'one verification and one signature', ratio }
}

/** One verification with a key that is there already, one signature with P-256. */
function bareIssue(pem: string): Work {
  const parts = readChildren(readDer(derOf(pem)), TAG.sequence) ?? []
  const signed = parts[0]?.raw ?? new Uint8Array()
  const signature = readBits(parts[2]) ?? new Uint8Array()
  const request = readCsr(pem)
  if ('fault' in request) throw new Error(request.fault)
  const spki = Buffer.from(request.publicKey)
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  const hash = publicKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return () => {
    if (!verify(hash, signed, publicKey, signature)) throw new Error('the signature is wrong')
    sign('sha256', signed, privateKey)
  }
}

/** What every bearer call pays before its handler runs: D-34, no look-up. */
async function bearerCall(): Promise<Row> {
  const { issuer } = anOidcSession()
  const rules = { ...rulesOf({ policies: [aPolicy()] }), isStale: () => false }
  const endedSessions = createEndedSessions({ ...store, clock })
  await endedSessions.refresh()
  const signingKeys = createSigningKeys({
    store: store.signingKeys,
    vault: createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom),
    clock,
    algorithm: 'ES256',
    rotation: days(90),
    tokenLife: minutes(30),
  })
  await signingKeys.rotate()
  const ports = fakePorts<CallPorts>({
    brand: 'service',
    issuers: () => [issuer],
    signingKeys,
    endedSessions: { has: endedSessions.has, isStale: () => false },
    rules,
  })
  const claims = accessTokenClaims(
    {
      session: anOidcSession(),
      identity: anIdentity(),
      scope: 'openid',
      authTime: clock.now(),
      audience: 'service',
      life: minutes(30),
    },
    clock.now(),
    systemRandom,
  )
  const { token } = await signingKeys.sign(ACCESS_TOKEN_TYP, { ...claims })
  const bearers = [new Secret(token)]
  const credentials = { bearers, ztSession: undefined, certificate: () => undefined }

  const [header = '', payload = '', signature = ''] = token.split('.')
  const [jwk] = signingKeys.keySet().keys
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  const signed = Buffer.from(`${header}.${payload}`)
  const bytes = Buffer.from(signature, 'base64url')
  const ratio = await compare(
    () => authenticateCall(ports, credentials, 'full'),
    () => {
      const isGood = verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes)
      if (!isGood) throw new Error('the signature is wrong')
    },
  )
  return {
    what: 'a bearer call: whose it is, and whether it may',
    beside: 'one verification',
    ratio,
  }
}

/** How many times the cost of `bare` is that of `work`: the middle of many pairs, so that a busy moment hits both. */
async function compare(work: Work, bare: Work): Promise<number> {
  const ratios: number[] = []
  for (const one of [work, bare]) await costOf(one) // warm
  for (let round = 0; round < ROUNDS; round++)
    ratios.push((await costOf(work)) / (await costOf(bare)))
  return ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN
}

/** Milliseconds for one. */
async function costOf(work: Work): Promise<number> {
  const begun = performance.now()
  let count = 0
  let passed = 0
  while (passed < ROUND_MILLISECONDS) {
    await work()
    count += 1
    passed = performance.now() - begun
  }
  return passed / count
}
