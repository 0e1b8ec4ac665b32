/** A stored API session certificate. SPEC API Session Certificate; D-40. */
import type { EntityOf } from '../../../entities/field.ts'
import type { SESSION_CERTIFICATE } from '../../../entities/session-certificate.ts'

export type SessionCertificate = EntityOf<typeof SESSION_CERTIFICATE>

/** R099, D-40. */
export const MOST_LIVE_CERTIFICATES = 100
