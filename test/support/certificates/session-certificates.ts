/**
 * Issuing API session certificates without a listener, on a real store in memory; and what openssl says about what was
 * issued.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { systemRandom } from '../../../src/base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../../src/base/secrets/vault.ts'
import type { Clock } from '../../../src/base/time/clock.ts'
import { type Duration, hours } from '../../../src/base/time/duration.ts'
import { auditPorts } from '../../../src/domain/audit/ports.ts'
import {
  type CertificateAuthorities,
  loadAuthorities,
} from '../../../src/domain/certificates/own/authorities.ts'
import type { ApiSession, SessionEnding } from '../../../src/domain/sessions/api-session.ts'
import type { CallSession } from '../../../src/domain/sessions/call-session.ts'
import { tellCopies } from '../../../src/domain/sessions/ending/tell-copies.ts'
import type { Store } from '../../../src/domain/stores.ts'
import { aPolicy, rulesOf } from '../people.ts'
import { runOpenssl } from './csr.ts'

/** The ports of the use cases on this store; `felt` is what this instance was told has ended. Instances share their authorities. */
export async function sessionCertificatesOn(
  store: Store,
  clock: Clock,
  given: { readonly duration?: Duration; readonly authorities?: CertificateAuthorities } = {},
) {
  const random = systemRandom
  const vault = createVault(random.bytes(INSTALLATION_SECRET_BYTES), random)
  const {
    duration = hours(12),
    authorities = await loadAuthorities({ ...store, vault, random, clock }),
  } = given
  const felt: SessionEnding[] = []
  const ports = {
    ...store,
    ...auditPorts({ clock, random }),
    brand: 'service',
    trustDomain: 'latchkey',
    sessionCertificateDuration: duration,
    authorities,
    rules: rulesOf({ policies: [aPolicy()] }),
    transaction: tellCopies(store.transaction, {
      endedSessions: { add: (ending) => felt.push(ending) },
      rules: { refresh: async () => {} },
    }),
  }
  return { ports, authorities, felt }
}

/** A call of this session, whose credential ends with it unless told otherwise. */
export function callOf(session: ApiSession, changes: Partial<CallSession> = {}): CallSession {
  return {
    kind: session.kind,
    sessionId: session.id,
    identityId: session.identityId,
    isAdmin: false,
    authPolicyId: aPolicy().id,
    configTypes: [],
    expiresAt: session.expiresAt,
    isPartial: undefined,
    ...changes,
  }
}

/** The certificates of a PEM text, one text each. */
export function blocksOf(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? []
}

/**
 * openssl believes the certificate as that of a TLS client, by all the rules that it has: with the bundle, and with
 * the root alone and the chain as it was handed out (R103).
 */
export async function assertVerifies(certificate: string, cas: string): Promise<void> {
  const [leaf = '', ...intermediates] = blocksOf(certificate)
  const files = { leaf, chain: intermediates.join(''), cas, root: blocksOf(cas)[0] ?? '' }
  const verify = ['verify', '-purpose', 'sslclient', '-x509_strict']
  for (const trust of [
    ['-CAfile', 'cas'],
    ['-CAfile', 'root', '-untrusted', 'chain'],
  ]) {
    const { text } = await runOpenssl([...verify, ...trust, 'leaf'], files)
    assert.equal(text, 'leaf: OK\n')
  }
  for (const purpose of ['sslserver', 'smimesign']) {
    const other = ['verify', '-purpose', purpose, '-CAfile', 'cas', 'leaf']
    await assert.rejects(runOpenssl(other, files), /unsuitable certificate purpose/)
  }
}

/** What openssl prints about a certificate, without the keys. */
export async function textOf(certificate: string): Promise<string> {
  const { text } = await runOpenssl(
    ['x509', '-in', 'crt', '-noout', '-text', '-nameopt', 'RFC2253,utf8,-esc_msb'],
    { crt: certificate },
  )
  return text
}

/** The extensions of a certificate by the name that openssl has for them, each with what it says. */
export async function extensionsOf(certificate: string): Promise<Readonly<Record<string, string>>> {
  const text = await textOf(certificate)
  const [, section = ''] =
    /X509v3 extensions:\n([\s\S]*?)\n {4}Signature Algorithm/.exec(text) ?? []
  const found = section.split(/^ {12}(?! )/m).filter((part) => part.trim() !== '')
  return Object.fromEntries(
    found.map((part) => {
      const [name = '', ...lines] = part.split('\n').map((line) => line.trim())
      return [name.replace(/:$/, ''), lines.join(' ').trim()]
    }),
  )
}

/** The two moments, in epoch milliseconds. */
export function validityOf(certificate: string): readonly [number, number] {
  const { validFromDate, validToDate } = new X509Certificate(certificate)
  return [validFromDate.getTime(), validToDate.getTime()]
}
