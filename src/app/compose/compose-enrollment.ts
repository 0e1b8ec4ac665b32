/** Enrollment, wired: how identities are invited, and what an invitation is exchanged for. API 3.2. */

import type { Random } from '../../base/secrets/random.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import type { RecordEvent } from '../../domain/audit/record.ts'
import { createRenewCertificate } from '../../domain/certificates/enrolled/renew.ts'
import { createCountRenewal } from '../../domain/certificates/enrolled/renewal-limit.ts'
import type { JudgeCertificate } from '../../domain/certificates/judge-certificate.ts'
import type { CertificateAuthorities } from '../../domain/certificates/own/authorities.ts'
import { createIssueIdentityCertificate } from '../../domain/certificates/own/identity-certificate.ts'
import { createInviteByCa } from '../../domain/certificates/third-party/ca-invitation.ts'
import { createJudgeForEnrollment } from '../../domain/enrollments/ca-certificate.ts'
import { createEnroll } from '../../domain/enrollments/enroll.ts'
import { createEnrollByCa } from '../../domain/enrollments/enroll-by-ca.ts'
import { type ClientApi, createSignEnrollmentJwt } from '../../domain/enrollments/enrollment-jwt.ts'
import { createInvite } from '../../domain/enrollments/invite.ts'
import { createUseEnrollment } from '../../domain/enrollments/use-enrollment.ts'
import type { AddressFailures } from '../../domain/factors/guessing/failures.ts'
import type { HashNewPassword } from '../../domain/factors/new-password.ts'
import type { Rules } from '../../domain/policies/rules.ts'
import type { EndSessionsWithin } from '../../domain/sessions/ending/end-session.ts'
import type { EndedSessions } from '../../domain/sessions/ending/ended-sessions.ts'
import type { Store } from '../../domain/stores.ts'

export function composeEnrollment(
  parts: Omit<Store, 'close' | 'authorities'> & {
    readonly config: Pick<Config, 'trustDomain' | 'enrollment'>
    readonly authorities: CertificateAuthorities
    readonly clientApi: () => ClientApi | undefined
    readonly hashNewPassword: HashNewPassword
    readonly addressFailures: AddressFailures
    readonly judgeCertificate: JudgeCertificate
    readonly rules: Pick<Rules, 'cas' | 'policy'>
    readonly endedSessions: Pick<EndedSessions, 'add'>
    readonly endSessionsWithin: EndSessionsWithin
    readonly brand: string
    readonly vault: Vault
    readonly clock: Clock
    readonly random: Random
    readonly recordEvent: RecordEvent
  },
) {
  const { trustDomain, enrollment } = parts.config
  const signEnrollmentJwt = createSignEnrollmentJwt(parts)
  const useEnrollment = createUseEnrollment(parts)
  const issueIdentityCertificate = createIssueIdentityCertificate({
    ...parts,
    trustDomain,
    duration: enrollment.certificateDuration,
  })
  return {
    signEnrollmentJwt,
    useEnrollment,
    issueIdentityCertificate,
    invite: createInvite({ ...parts, duration: enrollment.duration, signEnrollmentJwt }),
    enroll: createEnroll({ ...parts, useEnrollment, issueIdentityCertificate }),
    enrollByCa: createEnrollByCa({
      ...parts,
      useEnrollment,
      judgeForEnrollment: createJudgeForEnrollment({ ...parts, cas: () => parts.rules.cas() }),
    }),
    inviteByCa: createInviteByCa({ ...parts, signEnrollmentJwt }),
    renewCertificate: createRenewCertificate({
      ...parts,
      issueIdentityCertificate,
      countRenewal: createCountRenewal(parts),
    }),
  }
}
