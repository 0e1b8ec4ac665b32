/** /api-sessions and /identities/{id}/api-sessions of the management API: API 3.3, 4.7. Never a token. */

import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { CurrentApiSession } from '../../contract/current-api-session.ts'
import { EndAll } from '../../contract/management/api-sessions.ts'
import { API_SESSION_FIELDS } from '../../domain/lists/fields.ts'
import type { ManageSessions } from '../../domain/sessions/manage-sessions.ts'
import type { SessionDetail } from '../../domain/sessions/session-detail.ts'
import { done, found, idIn, listed } from '../edge-api/answers.ts'
import { sessionBody } from '../edge-api/current/current-api-session.ts'
import { selfLink } from '../edge-api/links.ts'
import { readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { ACT, READ, REMOVE } from './route-defaults.ts'

export function addApiSessions(
  router: Router,
  prefix: string,
  use: { readonly manage: ManageSessions; readonly clock: Clock },
): void {
  const { manage } = use
  const all = `${prefix}/api-sessions`
  const one = `${all}/:id`
  const ofIdentity = `${prefix}/identities/:id/api-sessions`
  const show = (detail: SessionDetail): CurrentApiSession => ({
    ...sessionBody(detail, detail.session.expiresAt, use.clock),
    _links: selfLink(`api-sessions/${detail.session.id}`),
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, API_SESSION_FIELDS)
    return listed(API_SESSION_FIELDS, asked, await manage.list(asked), show)
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(show(await manage.find(idIn<ApiSessionId>(path)))),
  )

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.end(idIn<ApiSessionId>(path), caller)
    return done()
  })

  router.add({ ...ACT, url: `${all}/end-all` }, async ({ body, caller }) => {
    readBody(EndAll, body)
    await manage.endAll(caller)
    return done()
  })

  router.add({ ...READ, url: ofIdentity }, async ({ path, query }) => {
    const asked = readList(query, API_SESSION_FIELDS)
    const own = await manage.listOf(idIn<IdentityId>(path), asked)
    return listed(API_SESSION_FIELDS, asked, own, show)
  })

  router.add({ ...REMOVE, url: ofIdentity }, async ({ path, caller }) => {
    await manage.endAllOf(idIn<IdentityId>(path), caller)
    return done()
  })
}
