import type { ExternalJwtSignerId } from '../../base/ids.ts'
import type { ExternalJwtSigner } from './signer.ts'

export interface ExternalJwtSigners {
  find(id: ExternalJwtSignerId): Promise<ExternalJwtSigner | undefined>
  /** All of them, by name. There are few; every instance keeps a copy (D-34). */
  list(): Promise<readonly ExternalJwtSigner[]>
  /** Returns the conflict if another signer has the name or the issuer. */
  insert(signer: ExternalJwtSigner): Promise<'inserted' | 'name-in-use' | 'issuer-in-use'>
  replace(
    signer: ExternalJwtSigner,
  ): Promise<'replaced' | 'missing' | 'name-in-use' | 'issuer-in-use'>
  remove(id: ExternalJwtSignerId): Promise<boolean>
}
