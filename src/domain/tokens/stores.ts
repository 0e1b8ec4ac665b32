import type { Duration } from '../../base/duration.ts'
import type { StoredSigningKey } from './signing-key.ts'

export interface SigningKeyStore {
  /** Every key, oldest generation first. */
  list(): Promise<readonly StoredSigningKey[]>
  /** False when a key of that generation exists: another instance was faster. */
  insert(key: StoredSigningKey): Promise<boolean>
  /** Records that tokens living this long are being signed; never lowers the recorded life. */
  raiseTokenLife(life: Duration): Promise<void>
  remove(kid: string): Promise<boolean>
}
