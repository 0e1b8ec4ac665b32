/**
 * The fields of each list that callers may filter and sort by: API 2, 4. Nothing secret may be added here: no hash of a
 * password, token or code, no sealed key. The names are those of the responses.
 */

import { API_SESSION } from '../../entities/api-session.ts'
import { AUTH_POLICY } from '../../entities/auth-policy.ts'
import { AUTHENTICATOR } from '../../entities/authenticator.ts'
import { CA } from '../../entities/ca.ts'
import { ENROLLMENT } from '../../entities/enrollment.ts'
import { EVENT } from '../../entities/event.ts'
import { EXTERNAL_JWT_SIGNER, PUBLIC_SIGNER } from '../../entities/external-jwt-signer.ts'
import type { Fields, ListedName } from '../../entities/field.ts'
import { IDENTITY } from '../../entities/identity.ts'
import { SIGNING_KEY } from '../../entities/signing-key.ts'
import type { ListField, ListFields } from './list-query.ts'

const TEXT = { type: 'text' } as const
const TEXTS = { type: 'text', isList: true } as const
const TIME = { type: 'time' } as const

export const IDENTITY_FIELDS = listFieldsOf(IDENTITY)

export const AUTHENTICATOR_FIELDS = listFieldsOf(AUTHENTICATOR)

export const ENROLLMENT_FIELDS = listFieldsOf(ENROLLMENT)

export const API_SESSION_FIELDS = listFieldsOf(API_SESSION)

export const AUTH_POLICY_FIELDS = listFieldsOf(AUTH_POLICY)

export const PUBLIC_SIGNER_FIELDS = listFieldsOf(PUBLIC_SIGNER)

export const SIGNER_FIELDS = listFieldsOf(EXTERNAL_JWT_SIGNER)

export const CA_FIELDS = listFieldsOf(CA)

export const EVENT_FIELDS = listFieldsOf(EVENT)

export const SIGNING_KEY_FIELDS = listFieldsOf(SIGNING_KEY)

export const EXPIRY_FIELDS = {
  fields: { id: TEXT, kind: TEXT, name: TEXT, endsAt: TIME, renewedBy: TEXT, identityId: TEXT },
  hasTags: false,
} as const satisfies ListFields

/** A list that is only available in pages. */
export const NO_FIELDS: ListFields = { fields: {}, hasTags: false }

type ListFieldsOf<F extends Fields> = ListFields<Exclude<ListedName<F>, 'tags'>> & {
  readonly hasTags: 'tags' extends ListedName<F> ? true : false
}

function listFieldsOf<F extends Fields>(described: F): ListFieldsOf<F> {
  const fields = Object.entries(described).flatMap(([name, { type, isListed }]) => {
    if (isListed !== true || type === 'map') return []
    return [[name, type === 'texts' ? TEXTS : { type }] as [string, ListField]]
  })
  const hasTags = described['tags']?.isListed === true
  return { fields: Object.fromEntries(fields), hasTags } as unknown as ListFieldsOf<F>
}
