/**
 * The client certificate as the primary factor: the certificate of the connection that posts the login. D-21, R093.
 * certificates/ decides whether it is trusted; this file finds its identity.
 */
import { clockOff } from '../audit/clock-off.ts'
import { judgeCertificate } from '../certificates/judge-certificate.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import type { CertificateVerdict, TrustedCertificate } from '../certificates/verdict.ts'
import type { FactorPorts } from './ports.ts'
import { usableIdentity } from './usable-identity.ts'
import { accepted, type PrimaryVerdict, rejected } from './verdict.ts'

type OwnerPorts = Pick<FactorPorts, 'clock' | 'rules' | 'authenticators' | 'identities'>

/** Uses the certificate of the connection; returns undefined if there is none. */
export async function proveByCertificate(
  ports: OwnerPorts & Pick<FactorPorts, 'ownAnchors'>,
  chain: PresentedChain | undefined,
): Promise<PrimaryVerdict> {
  if (chain === undefined) return rejected('no-certificate')
  return proveByJudged(ports, await judgeCertificate(ports, chain, ports.rules.cas()))
}

/** Uses a certificate that has already been checked. */
export async function proveByJudged(
  ports: OwnerPorts,
  judged: CertificateVerdict,
): Promise<PrimaryVerdict> {
  const { identities, clock } = ports
  if (judged.verdict === 'rejected') {
    const { reason, why, clock: off } = judged
    return { ...rejected(reason), why, ...(off === undefined ? {} : { clock: off }) }
  }

  const found = await findOwner(ports, judged)
  if (found === undefined) return rejected('certificate-unknown')
  const identity = await identities.find(found.identityId)
  const usable = usableIdentity(identity, (policy) => policy.primary.cert.allowed, ports)
  if ('refusal' in usable) return rejected(usable.refusal, found.identityId)
  if (judged.isExpired && !usable.policy.primary.cert.allowExpiredCerts) {
    const past = clockOff('notAfter', (judged.notAfter - clock.now()) / 1_000)
    return { ...rejected('certificate-expired', found.identityId), ...past }
  }
  const { fingerprint, anchor, notAfter, trust } = judged
  const certificate = { fingerprint, isIssuedByNetwork: anchor.kind === 'network', notAfter, trust }
  return accepted(usable, { method: 'cert', ...found, certificate }, clock.now())
}

/** Finds the identity by the fingerprint among the authenticators, or through the claim of the CA. */
async function findOwner(
  { authenticators, identities }: Pick<FactorPorts, 'authenticators' | 'identities'>,
  { fingerprint, externalId }: TrustedCertificate,
) {
  const authenticator = await authenticators.findCert(fingerprint)
  if (authenticator !== undefined) {
    const { id, identityId, credentialVersion } = authenticator
    return { identityId, authenticatorId: id, credentialVersion }
  }
  const identity =
    externalId === undefined ? undefined : await identities.findByExternalId(externalId)
  return identity && { identityId: identity.id }
}
