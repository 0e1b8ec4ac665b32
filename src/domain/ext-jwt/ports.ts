/** What the use cases of external JWTs need from outside. */
import type { Clock } from '../../base/time/clock.ts'
import type { PostForm } from './idp/redeem-code.ts'
import type { SignerKeyCache } from './signer-keys.ts'

export interface ExternalJwtPorts {
  readonly clock: Clock
  readonly signerKeys: SignerKeyCache
  readonly postForm: PostForm
}
