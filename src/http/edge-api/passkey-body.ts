/** A passkey in the responses of both APIs. */
import type { Passkey } from '../../contract/passkeys.ts'
import type * as domain from '../../domain/factors/passkey/passkey.ts'
import { PASSKEY } from '../../entities/passkey.ts'
import { selfLink } from './answers.ts'
import { ownFields } from './described-body.ts'

/** `under`: the path of the list. */
export function passkeyBody(passkey: domain.Passkey, under: string): Passkey {
  return { ...ownFields(PASSKEY, passkey), _links: selfLink(`${under}/${passkey.id}`) }
}
