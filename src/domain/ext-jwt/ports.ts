/** The ports of external JWTs. Built once, in `app/compose`. */
import type { Clock } from '../../base/time/clock.ts'
import type { FetchJson, SignerKeyCache } from './signer-keys.ts'

export interface ExternalJwtPorts {
  readonly clock: Clock
  readonly signerKeys: SignerKeyCache
  readonly fetchJson: FetchJson
  readonly postForm: PostForm
}

/** Rejects with a message that may be shown to an administrator. */
export type PostForm = (
  url: string,
  fields: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly value: unknown }>
