/** Enrollments: API 4.3. An update is a refresh: another token and another end. */
import { Misuse } from '../../../terminal/io.ts'
import type { Body, Field } from '../fields.ts'
import type { Resource } from '../resource.ts'
import { TAGS } from './tags.ts'

const END: Field = {
  option: 'expires-at',
  path: 'expiresAt',
  kind: 'text',
  value: 'TIME',
  what: 'until when, such as 2026-12-24T18:00:00Z',
}

export const ENROLLMENTS: Resource = {
  one: 'enrollment',
  many: 'enrollments',
  path: '/enrollments',
  names: ['username', 'identity'],
  open: 'usedAt = null',
  columns: [
    { title: 'ID', path: 'id' },
    { title: 'IDENTITY', path: 'identity.name' },
    { title: 'METHOD', path: 'method' },
    { title: 'USERNAME', path: 'username' },
    { title: 'EXPIRES', path: 'expiresAt', as: 'time' },
    { title: 'USED', path: 'usedAt', as: 'time' },
  ],
  create: {
    what: 'invite an identity to enroll; the token is shown this once',
    isNamed: false,
    fields: [
      {
        option: 'identity',
        path: 'identityId',
        kind: 'reference',
        to: 'identity',
        what: 'who is invited',
      },
      {
        option: 'method',
        path: 'method',
        kind: 'choice',
        choices: ['ott', 'updb', 'ottca'],
        what: 'to a certificate (the default), a password, a certificate of a CA',
      },
      { option: 'username', path: 'username', kind: 'text', value: 'NAME', what: 'of updb' },
      { option: 'ca', path: 'caId', kind: 'reference', to: 'ca', what: 'of ottca' },
      END,
      TAGS,
    ],
    defaults: { method: 'ott' },
    complete: withIdentity,
    examples: [
      'latchkey create enrollment --identity laptop-7',
      'latchkey create enrollment --identity alice --method updb --username alice',
    ],
  },
  update: {
    what: 'give an enrollment another token and another end; the former token is void',
    fields: [END],
    call: { method: 'POST', action: 'refresh' },
    needsNothing: true,
    examples: ['latchkey update enrollment laptop-7'],
  },
  remove: 'Withdraw',
}

function withIdentity(body: Body): Body {
  if (body['identityId'] === undefined) throw new Misuse('--identity is missing')
  return body
}
