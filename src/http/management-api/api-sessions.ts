/** /api-sessions and /identities/{id}/api-sessions of the management API: API 3.3, 4.7. Tokens are never returned. */
import type { ApiSessionId } from '../../base/ids.ts'
import type { CurrentApiSession } from '../../contract/current-api-session.ts'
import {
  ApiSessionListReply,
  ApiSessionReply,
  EndAll,
} from '../../contract/management/api-sessions.ts'
import { API_SESSION_FIELDS } from '../../domain/lists/fields.ts'
import {
  endAllSessions,
  endSessionById,
  endSessionsOf,
  findSession,
  listSessions,
  listSessionsOf,
} from '../../domain/management/manage-sessions.ts'
import type { SessionPorts } from '../../domain/sessions/ports.ts'
import type { SessionDetail } from '../../domain/sessions/session-detail.ts'
import { idIn, listed, selfLink } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { sessionBody } from '../edge-api/current/current-api-session.ts'
import { jsonBody } from '../reading/declared-body.ts'
import { addReads } from './entity-reads.ts'

const OF_IDENTITY = '/identities/:id/api-sessions'

export function addApiSessions(api: Api, ports: SessionPorts): void {
  const show = (detail: SessionDetail): CurrentApiSession => ({
    ...sessionBody(detail, detail.session.expiresAt, ports.clock),
    _links: selfLink(`api-sessions/${detail.session.id}`),
  })

  addReads(api, {
    path: '/api-sessions',
    summaries: { list: 'List the sessions of all identities', one: 'Read a session' },
    fields: API_SESSION_FIELDS,
    replies: { one: ApiSessionReply, list: ApiSessionListReply },
    list: (query) => listSessions(ports, undefined, query),
    find: (id: ApiSessionId) => findSession(ports, id),
    show,
  })

  api.act(
    {
      method: 'DELETE',
      path: '/api-sessions/:id',
      access: 'admin',
      summary: 'End a session',
    },
    ({ path, caller }) => endSessionById(ports, idIn(path), caller),
  )

  api.act(
    {
      method: 'POST',
      path: '/api-sessions/end-all',
      access: 'admin',
      summary: 'End the sessions of all identities',
      description: 'Your own, too.',
      body: jsonBody(EndAll),
    },
    ({ caller }) => endAllSessions(ports, caller),
  )

  api.add(
    {
      method: 'GET',
      path: OF_IDENTITY,
      access: 'admin',
      summary: 'List the sessions of an identity',
      list: API_SESSION_FIELDS,
      answers: { 200: ApiSessionListReply },
    },
    async ({ path, list }) => {
      const own = await listSessionsOf(ports, idIn(path), list)
      return listed(API_SESSION_FIELDS, list, own, show)
    },
  )

  api.act(
    {
      method: 'DELETE',
      path: OF_IDENTITY,
      access: 'admin',
      summary: 'End all sessions of an identity',
    },
    ({ path, caller }) => endSessionsOf(ports, idIn(path), caller),
  )
}
