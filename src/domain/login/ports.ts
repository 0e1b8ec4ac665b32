/** What logins need from outside. Built once, in `app/compose` (D-257). */
import type { AuditPorts } from '../audit/ports.ts'
import type { FindEndpoints } from '../ext-jwt/idp/endpoints.ts'
import type { PostForm } from '../ext-jwt/ports.ts'
import type { AddressFailures } from '../factors/guessing/failures.ts'
import type { BeginGuess } from '../factors/guessing/guess-order.ts'
import type { Turns } from '../factors/guessing/turns.ts'
import type { FactorPorts } from '../factors/ports.ts'
import type { SecondFactorStores } from '../factors/stores.ts'
import type { Stores } from '../stores.ts'

export interface LoginPorts extends FactorPorts, Pick<Stores, 'authRequests' | 'events'> {
  readonly clientId: string
  /** D-314: accepted besides it; empty without the compatibility layer. */
  readonly otherClientIds: readonly string[]
  /** Counts wrong passwords only (D-22). */
  readonly addressFailures: AddressFailures
  /** D-155: limits how many returns contact their IdP at the same time. */
  readonly returnTurns: Turns
  readonly beginGuess: BeginGuess
  readonly findEndpoints: FindEndpoints
  readonly postForm: PostForm
}

/** Of these, what the steps need that prove or enroll a second factor. */
export type SecondFactorStepPorts = Pick<
  LoginPorts,
  | keyof AuditPorts
  | keyof SecondFactorStores
  | 'brand'
  | 'vault'
  | 'identities'
  | 'authenticators'
  | 'authRequests'
  | 'rules'
  | 'transaction'
>
