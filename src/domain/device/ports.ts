/** What signing in a device needs from outside. Built once, in `app/compose`. */
import type { AccountPorts } from '../account/ports.ts'
import type { AddressFailures } from '../factors/guessing/failures.ts'
import type { Stores } from '../stores.ts'

export interface DevicePorts extends AccountPorts, Pick<Stores, 'deviceCodes'> {
  /** Wrong user codes of one address, and of one identity (D-441). */
  readonly userCodeFailures: AddressFailures
  /** Wrong user codes of all callers together (D-441). */
  readonly allUserCodeFailures: AddressFailures
}
