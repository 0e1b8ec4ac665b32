/** The authenticator app as a second factor. */
import { totpQuery } from '../../protocol/auth-query.ts'
import type { SecondFactor } from './second-factor.ts'
import { checkCode } from './totp.ts'

export const totpFactor: SecondFactor = {
  id: 'totp',

  async isEnrolled({ totpEnrollments }, identityId) {
    const enrollment = await totpEnrollments.find(identityId)
    return enrollment?.isVerified === true
  },

  listEnrolled: ({ totpEnrollments }, identityIds) => totpEnrollments.listVerified(identityIds),

  query: totpQuery,

  check: checkCode,
}
