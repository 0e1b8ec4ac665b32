/** What a receiver learns about a link that it is to hand over (D-378). */
import type { Secret } from '../../../base/secrets/secret.ts'
import type { Caller } from '../../audit/events.ts'
import type { Identity } from '../../identities/identity.ts'
import type { Enrollment } from '../enrollment.ts'

export interface LinkNotice {
  readonly type: 'invitation.created' | 'reset.created'
  readonly enrollment: Pick<Enrollment, 'id' | 'method' | 'expiresAt'> & {
    readonly username: string | undefined
  }
  readonly identity: Pick<Identity, 'id' | 'name' | 'externalId' | 'tags'>
  readonly link: Secret
  /** Who asked for the link, for the events about its delivery. */
  readonly caller: Caller
}

/** Returns at once; undefined if no receiver is configured. */
export type Announce = ((notice: LinkNotice) => void) | undefined
