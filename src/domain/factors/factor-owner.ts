/** The login or session that a pending enrollment, or a challenge, was made for: nothing else may use it (D-240). */
import type { Brand } from '../../base/brand.ts'
import type { ApiSessionId } from '../../base/ids.ts'

export type FactorOwner = Brand<string, 'FactorOwner'>

export const loginOwner = ({ key }: { readonly key: Brand<string, 'AuthRequestKey'> }) =>
  `login ${key}` as string as FactorOwner

export const sessionOwner = ({ sessionId }: { readonly sessionId: ApiSessionId }) =>
  `session ${sessionId}` as string as FactorOwner
