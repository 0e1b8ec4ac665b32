/**
 * The answer to a caller that does not meet the rules of an upstream: D-404. If another authentication would help, 401
 * with the challenge of RFC 9470; otherwise 403. Both name what is missing.
 */
import { inSeconds } from '../../base/time/duration.ts'
import { insufficientAuthentication, insufficientScope } from '../../protocol/challenge.ts'
import { acrFor } from '../../protocol/factors/acr.ts'
import type { Answer } from '../http/answers.ts'
import { amrValue, type Unmet } from './judge.ts'

export function answerUnmet(unmet: Unmet, brand: string): Answer {
  switch (unmet.rule) {
    case 'identities':
      return { code: 'IDENTITY_NOT_ALLOWED', challenges: [insufficientScope(brand, {})] }
    case 'policies':
      return {
        code: 'POLICY_NOT_ALLOWED',
        challenges: [insufficientScope(brand, { policies: unmet.required.join(' ') })],
      }
    case 'roles':
      return {
        code: unmet.isUnknown ? 'ROLES_UNKNOWN' : 'ROLE_REQUIRED',
        challenges: [insufficientScope(brand, { roles: unmet.required.join(' ') })],
      }
    case 'amr': {
      const missing = unmet.required.map(amrValue)
      // RFC 9470 §3: the class that a login must ask for, if there is one that leads to the factor.
      const acr = missing.map(acrFor).find((one) => one !== undefined)
      const what = { amr: missing.join(' '), ...(acr === undefined ? {} : { acr_values: acr }) }
      return { code: 'FACTOR_REQUIRED', challenges: [insufficientAuthentication(brand, what)] }
    }
    case 'maxAge': {
      const max_age = String(inSeconds(unmet.required))
      return {
        code: 'LOGIN_TOO_OLD',
        challenges: [insufficientAuthentication(brand, { max_age })],
      }
    }
  }
}

/** For the log: what is missing, in the words of the settings. */
export function describeUnmet({ rule, required, isUnknown }: Unmet): object {
  return { reason: 'rule-unmet', rule, required, ...(isUnknown ? { isUnknown } : {}) }
}
