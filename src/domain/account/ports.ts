/** The page of the own account begins a login, exchanges its code and authenticates calls; it needs nothing besides. */
import type { CallPorts } from '../calls/ports.ts'

export type AccountPorts = CallPorts
