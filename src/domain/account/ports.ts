/** The account page begins a login, exchanges its code and authenticates calls; it needs nothing else. */
import type { CallPorts } from '../calls/ports.ts'

export type AccountPorts = CallPorts
