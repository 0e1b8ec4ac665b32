/** TOTP as an entry of the registry of second factors: D-256, D-262. */
import { totpQuery } from '../../../protocol/auth-query.ts'
import type { SecondFactor } from '../second-factor.ts'
import { type TotpSetup, totpEnrollment } from './enroll-totp.ts'
import { checkCode } from './totp.ts'

export const totpFactor: SecondFactor<TotpSetup> = {
  id: 'totp',

  async isEnrolled({ totpEnrollments }, identityId) {
    const enrollment = await totpEnrollments.find(identityId)
    return enrollment?.isVerified === true
  },

  listEnrolled: ({ totpEnrollments }, identityIds) => totpEnrollments.listVerified(identityIds),

  query: totpQuery,

  check: checkCode,

  enrollment: totpEnrollment,
}
