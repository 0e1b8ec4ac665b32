/** Which login methods an identity may use: API 4.4. The nested parts are in contract/ and domain/policies. */
import type { AuthPolicyId } from '../base/ids.ts'
import { CREATED_AND_UPDATED, LISTED, NAME, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

export const AUTH_POLICY = {
  id: { type: 'text', of: as<AuthPolicyId>(), ...LISTED, title: 'ID' },
  ...CREATED_AND_UPDATED,
  name: NAME,
  tags: TAGS,
} as const satisfies Fields
