import type { StoredAuthority } from './authority-record.ts'

export interface Authorities {
  /** Every authority, root before issuing, oldest generation first. */
  list(): Promise<readonly StoredAuthority[]>
  /** False when one of that role and generation exists: another instance was faster. */
  insert(authority: StoredAuthority): Promise<boolean>
}
