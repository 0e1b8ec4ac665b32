/**
 * /current-identity/authenticators, on both APIs: a person's own password and certificate. API 3.1, 4.2. Whatever is
 * somebody else's is not there.
 */
import type { z } from 'zod'
import type { AuthenticatorId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Instant } from '../../../base/time/instant.ts'
import {
  type Authenticator,
  ChangedOwn,
  ReplacedOwn,
} from '../../../contract/management/authenticators.ts'
import type * as domain from '../../../domain/identities/authenticator.ts'
import type { AuthenticatorDetail } from '../../../domain/identities/manage-read.ts'
import type { OwnAuthenticators, OwnChange } from '../../../domain/identities/own-authenticators.ts'
import { AUTHENTICATOR_FIELDS } from '../../../domain/lists/fields.ts'
import {
  authenticatorBody,
  chosenFields,
  fixedFields,
  secretOf,
} from '../../management-api/authenticators.ts'
import type { Router } from '../../route.ts'
import { done, found, idIn, listed } from '../answers.ts'
import { patched, withFixed } from '../changed-body.ts'
import { selfLink } from '../links.ts'
import { readBody } from '../read-body.ts'
import { readList } from '../read-list.ts'
import { API_ROUTE } from '../route-defaults.ts'

const PATH = 'current-identity/authenticators'

const READ = { ...API_ROUTE, method: 'GET', replies: [200, 401] } as const
const REPLACE = {
  ...API_ROUTE,
  method: 'PUT',
  reads: ['json'],
  replies: [200, 401, 429],
} as const
const CHANGE = { ...REPLACE, method: 'PATCH' } as const

export function addCurrentIdentityAuthenticators(
  router: Router,
  prefix: string,
  use: { readonly ownAuthenticators: OwnAuthenticators; readonly clock: Pick<Clock, 'now'> },
): void {
  const { ownAuthenticators, clock } = use
  const all = `${prefix}/${PATH}`
  const one = `${all}/:id`

  router.add({ ...READ, url: all }, async ({ query, session }) => {
    const asked = readList(query, AUTHENTICATOR_FIELDS)
    const now = clock.now()
    const details = await ownAuthenticators.list(session, asked)
    return listed(AUTHENTICATOR_FIELDS, asked, details, (detail) => ownBody(detail, now))
  })

  router.add({ ...READ, url: one }, async ({ path, session }) =>
    found(ownBody(await ownAuthenticators.find(session, idIn(path)), clock.now())),
  )

  router.add({ ...REPLACE, url: one }, async ({ path, body, session, caller }) => {
    const replaced = (current: domain.Authenticator) =>
      changeOf(readBody(ReplacedOwn, withFixed(stays(current), body)))
    await ownAuthenticators.update(session, idIn<AuthenticatorId>(path), replaced, caller)
    return done()
  })

  router.add({ ...CHANGE, url: one }, async ({ path, body, session, caller }) => {
    const changed = (current: domain.Authenticator) => {
      const fixed = withFixed(stays(current), body)
      return changeOf(readBody(ChangedOwn, patched(chosenFields(current), fixed)))
    }
    await ownAuthenticators.update(session, idIn<AuthenticatorId>(path), changed, caller)
    return done()
  })
}

/** Whose it is and what it is; and a certificate is renewed, not set. */
function stays(current: domain.Authenticator) {
  const fixed = fixedFields(current)
  return current.method === 'cert' ? { ...fixed, certPem: current.certPem } : fixed
}

function changeOf(given: z.output<typeof ChangedOwn>): OwnChange {
  if (given.method === 'cert') return given
  const { password, currentPassword } = given
  return { ...given, password: secretOf(password), currentPassword: secretOf(currentPassword) }
}

function ownBody(detail: AuthenticatorDetail, now: Instant): Authenticator {
  const body = authenticatorBody(detail, now)
  return { ...body, _links: selfLink(`${PATH}/${body.id}`) }
}
