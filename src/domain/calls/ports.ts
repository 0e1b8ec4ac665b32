/** What calls, and the routers that judge connections, need from outside. Built once, in `app/compose`. */
import type { TokenPorts } from '../tokens/ports.ts'
import type { ProvenRouters } from './routers/proven-routers.ts'

export interface CallPorts extends TokenPorts {
  readonly provenRouters: ProvenRouters
  /** Every CA of ours that has not expired; another one when a successor was made (D-129). */
  readonly caBundlePem: () => string
}
