/** A key that signs tokens, only its public part: API 3.3, D-23. */
import { LISTED } from './every-entity.ts'
import type { Fields } from './field.ts'

export const SIGNING_KEY = {
  /** The kid: a key has no other name. */
  id: { type: 'text', ...LISTED },
  kid: { type: 'text', ...LISTED, title: 'KID' },
  purpose: {
    type: 'text',
    choices: ['access', 'id', 'any'],
    ...LISTED,
    title: 'SIGNS',
    description:
      'Which tokens it signs: access tokens, ID tokens, or both (a key that an older version created).',
  },
  algorithm: { type: 'text', ...LISTED, title: 'ALGORITHM' },
  /**
   * `waiting`: published, not used yet. `retiring`: no longer used, but published while one of its tokens can be valid.
   */
  state: { type: 'text', choices: ['waiting', 'signing', 'retiring'], ...LISTED, title: 'STATE' },
  createdAt: { type: 'time', ...LISTED },
  activeFrom: {
    type: 'time',
    ...LISTED,
    title: 'SIGNS FROM',
    description: 'When it starts to sign.',
  },
  publishedUntil: {
    type: 'time',
    isOptional: true,
    ...LISTED,
    title: 'PUBLISHED UNTIL',
    description: 'Null while it has no successor.',
  },
  jwk: { type: 'text-map', shownTo: 'administrator' },
} as const satisfies Fields
