/** Enrollments: API 4.3. An update is a refresh: a new token and a new expiry. */
import { ENROLLMENT } from '../../../../entities/enrollment.ts'
import { Misuse } from '../../../terminal/io.ts'
import { optionFields, tableOf } from '../described-resource.ts'
import type { Body } from '../fields.ts'
import type { Resource } from '../resource.ts'

export const ENROLLMENTS: Resource = {
  one: 'enrollment',
  many: 'enrollments',
  path: '/enrollments',
  names: ['username', 'identity'],
  open: 'usedAt = null',
  columns: tableOf(ENROLLMENT),
  create: {
    what: 'invite an identity to enroll; its link and token are shown only once',
    isNamed: false,
    fields: optionFields(ENROLLMENT),
    defaults: { method: 'ott' },
    complete: withIdentity,
    invites: true,
    examples: [
      'latchkey create enrollment --identity laptop-7',
      'latchkey create enrollment --identity alice --method updb --username alice',
    ],
  },
  update: {
    what: 'give an enrollment a new token and a new expiry; the old token stops working',
    fields: optionFields({ expiresAt: ENROLLMENT.expiresAt }),
    call: { method: 'POST', action: 'refresh' },
    needsNothing: true,
    invites: true,
    examples: ['latchkey update enrollment laptop-7'],
  },
  remove: 'Withdraw',
}

function withIdentity(body: Body): Body {
  if (body['identityId'] === undefined) throw new Misuse('"create enrollment" needs --identity')
  return body
}
