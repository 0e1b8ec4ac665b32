/** What calls, and the routers' connection checks, need from outside. Built once, in `app/compose`. */

import type { VerifiedTokens } from '../tokens/keys/verified-tokens.ts'
import type { TokenPorts } from '../tokens/ports.ts'
import type { ProvenRouters } from './routers/proven-routers.ts'
import type { RouterPresence } from './routers/router-presence.ts'

export interface CallPorts extends TokenPorts {
  readonly provenRouters: ProvenRouters
  readonly verifiedTokens: VerifiedTokens
  readonly routerPresence: RouterPresence
}
