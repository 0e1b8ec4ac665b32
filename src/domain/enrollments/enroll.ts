/**
 * Enrolling by token: with a CSR for a certificate of ours, or with a password that its holder chooses. API 3.2; D-127.
 * The token is looked at before anything is signed or hashed, and both come before the transaction that takes it.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import type { Caller } from '../audit/events.ts'
import type {
  IdentityCertificate,
  IssueIdentityCertificate,
} from '../certificates/own/identity-certificate.ts'
import type { HashNewPassword } from '../factors/new-password.ts'
import { usernameKey } from '../identities/authenticator.ts'
import type { AuthPolicies } from '../policies/stores.ts'
import { invalid } from '../refusals.ts'
import type { UseEnrollment } from './use-enrollment.ts'

/** Thrown by both: what `UseEnrollment` throws. */
export interface Enroll {
  /** Also thrown: COULD_NOT_PROCESS_CSR. */
  byCsr(
    given: { readonly token: Secret; readonly clientCsr: string },
    caller: Caller,
  ): Promise<IdentityCertificate>
  /** Answers the username as it was chosen for the identity. Also thrown: COULD_NOT_VALIDATE, SERVER_TOO_BUSY. */
  byPassword(
    given: { readonly token: Secret; readonly username: string; readonly password: Secret },
    caller: Caller,
  ): Promise<string>
}

export function createEnroll(deps: {
  readonly useEnrollment: UseEnrollment
  readonly issueIdentityCertificate: IssueIdentityCertificate
  readonly hashNewPassword: HashNewPassword
  readonly authPolicies: Pick<AuthPolicies, 'find'>
}): Enroll {
  const { useEnrollment } = deps

  return {
    async byCsr({ token, clientCsr }, caller) {
      const shown = { token, method: 'ott', caller } as const
      const { identity } = await useEnrollment.look(shown)
      const csr = { pem: clientCsr, field: 'clientCsr' }
      const certificate = deps.issueIdentityCertificate(identity.id, csr)
      const { certPem, fingerprint } = certificate
      const credential = { method: 'cert', certPem, fingerprint, isIssuedByNetwork: true } as const
      await useEnrollment.take(shown, identity.id, credential)
      return certificate
    },

    async byPassword({ token, username: given, password }, caller) {
      const shown = { token, method: 'updb', caller } as const
      const { enrollment, identity } = await useEnrollment.look(shown)
      const { username } = enrollment
      if (usernameKey(given) !== usernameKey(username)) {
        throw invalid('username', 'is not the one of the enrollment')
      }
      const policy = await deps.authPolicies.find(identity.authPolicyId)
      if (policy === undefined) throw new Error('an identity has a policy that does not exist')
      const passwordHash = await deps.hashNewPassword(password, { username, identity, policy })
      const credential = { method: 'updb', username, passwordHash, lockedUntil: undefined } as const
      await useEnrollment.take(shown, identity.id, credential)
      return username
    },
  }
}
