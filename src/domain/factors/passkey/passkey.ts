/** A passkey of an identity, as it is stored, and the limits of passkeys: D-430. */
import type { EntityOf } from '../../../entities/field.ts'
import type { PASSKEY } from '../../../entities/passkey.ts'

export type Passkey = EntityOf<typeof PASSKEY>

export const MOST_PASSKEYS = 20

export const LONGEST_PASSKEY_NAME = 64
