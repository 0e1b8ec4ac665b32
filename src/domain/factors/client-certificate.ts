/**
 * The primary factor client certificate: the one of the connection that posts the login. D-21, R093. Whether it is
 * trusted is judged in certificates/; here it finds its identity.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { LoginFailureReason } from '../audit/events.ts'
import type { CertificateVerdict, JudgeCertificate } from '../certificates/judge-certificate.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import type { Authenticators, Identities } from '../identities/stores.ts'
import type { Rules } from '../policies/rules.ts'
import { usableIdentity } from './usable-identity.ts'
import type { PrimaryVerdict, Rejected } from './verdict.ts'

export type CertificateFactor = (chain: PresentedChain | undefined) => Promise<PrimaryVerdict>

type Trusted = Extract<CertificateVerdict, { verdict: 'trusted' }>

export function createCertificateFactor(deps: {
  readonly judgeCertificate: JudgeCertificate
  readonly authenticators: Pick<Authenticators, 'findCert'>
  readonly identities: Pick<Identities, 'find' | 'findByExternalId'>
  readonly rules: Pick<Rules, 'policy' | 'cas'>
  readonly clock: Clock
}): CertificateFactor {
  const { judgeCertificate, authenticators, identities, rules, clock } = deps

  return async (chain) => {
    if (chain === undefined) return reject('no-certificate')
    const judged = await judgeCertificate(chain, rules.cas())
    if (judged.verdict === 'rejected') return { ...reject(judged.reason), why: judged.why }

    const found = await findOwner(judged)
    if (found === undefined) return reject('certificate-unknown')
    const identity = await identities.find(found.identityId)
    const usable = usableIdentity(identity, (policy) => policy.primary.cert.allowed, deps)
    if ('refusal' in usable) return { ...reject(usable.refusal), identityId: found.identityId }
    if (judged.isExpired && !usable.policy.primary.cert.allowExpiredCerts) {
      return { ...reject('certificate-expired'), identityId: found.identityId }
    }
    return {
      verdict: 'accepted',
      ...usable,
      primary: {
        method: 'cert',
        ...found,
        certificate: {
          fingerprint: judged.fingerprint,
          isIssuedByNetwork: judged.anchor.kind === 'network',
          notAfter: judged.notAfter,
          trust: judged.trust,
        },
        signerId: undefined,
        voidedLogins: usable.identity.voidedLogins,
        at: clock.now(),
      },
    }
  }

  /** By its fingerprint among the authenticators, or through the claim of its CA. */
  async function findOwner({ fingerprint, externalId }: Trusted) {
    const authenticator = await authenticators.findCert(fingerprint)
    if (authenticator !== undefined) {
      const { id, identityId, credentialVersion } = authenticator
      return { identityId, authenticatorId: id, credentialVersion }
    }
    const identity =
      externalId === undefined ? undefined : await identities.findByExternalId(externalId)
    return (
      identity && {
        identityId: identity.id,
        authenticatorId: undefined,
        credentialVersion: undefined,
      }
    )
  }
}

function reject(reason: LoginFailureReason): Rejected {
  return { verdict: 'rejected', reason, identityId: undefined }
}
