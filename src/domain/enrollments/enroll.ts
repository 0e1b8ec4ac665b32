/**
 * Enrolls by token: with a CSR for a certificate of ours, or with a password that the user chooses. API 3.2; D-127. The
 * token is checked before anything is signed or hashed, and both happen before the transaction that spends it.
 */
import type { IdentityId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Caller } from '../audit/events.ts'
import {
  type IdentityCertificate,
  issueIdentityCertificate,
} from '../certificates/own/identity-certificate.ts'
import { hashNewPassword } from '../factors/passwords/new-password.ts'
import { usernameKey } from '../identities/authenticator.ts'
import { invalid } from '../refusals.ts'
import type { EnrollmentPorts } from './ports.ts'
import { findEnrollment, policyOf, takeEnrollment } from './use-enrollment.ts'

/** Returns the identity with its certificate. Throws what `takeEnrollment` throws, and COULD_NOT_PROCESS_CSR, COULD_NOT_VALIDATE. */
export async function enrollByCsr(
  ports: EnrollmentPorts,
  {
    token,
    clientCsr,
    identityType,
  }: {
    readonly token: Secret
    readonly clientCsr: string
    /** What the caller takes it for, if it says so. */
    readonly identityType?: string | undefined
  },
  caller: Caller,
): Promise<{ readonly id: IdentityId; readonly certificate: IdentityCertificate }> {
  const shown = { token, method: 'ott', caller } as const
  const { identity } = await findEnrollment(ports, shown)
  // D-393: before the token is spent. A gateway cannot use any other identity.
  if (identityType !== undefined && identityType !== identity.type) {
    throw invalid('identityType', `is not the type of the identity, which is ${identity.type}`)
  }
  const csr = { pem: clientCsr, field: 'clientCsr' }
  const certificate = issueIdentityCertificate(ports, identity, csr)
  const { certPem, fingerprint } = certificate
  const credential = { method: 'cert', certPem, fingerprint, isIssuedByNetwork: true } as const
  await takeEnrollment(ports, shown, identity.id, credential)
  return { id: identity.id, certificate }
}

/** Returns the username chosen for the identity. Also throws COULD_NOT_VALIDATE, SERVER_TOO_BUSY. */
export async function enrollByPassword(
  ports: EnrollmentPorts,
  {
    token,
    username: given,
    password,
  }: {
    readonly token: Secret
    /** Undefined if the caller leaves it to the enrollment (D-475). */
    readonly username: string | undefined
    readonly password: Secret
  },
  caller: Caller,
): Promise<string> {
  const shown = { token, method: 'updb', caller } as const
  const { enrollment, identity } = await findEnrollment(ports, shown)
  const { username } = enrollment
  if (given !== undefined && usernameKey(given) !== usernameKey(username)) {
    throw invalid('username', 'is not the one of the enrollment')
  }
  const policy = await policyOf(ports, identity)
  const passwordHash = await hashNewPassword(ports, password, { username, identity, policy })
  const credential = { method: 'updb', username, passwordHash, lockedUntil: undefined } as const
  await takeEnrollment(ports, shown, identity.id, credential)
  return username
}
