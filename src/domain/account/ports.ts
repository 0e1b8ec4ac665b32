/** The page of the own account begins a login, exchanges its code and authenticates calls; it needs nothing besides. */
import type { TokenPorts } from '../tokens/ports.ts'

export type AccountPorts = TokenPorts
