/** POST /router-checks, on the client API: D-42. Only for routers, which cache the response for at most one second. */
import { toRfc3339 } from '../../../base/time/instant.ts'
import {
  RouterCheck,
  type RouterCheckAnswer,
  RouterCheckReply,
} from '../../../contract/router-checks.ts'
import type { CallPorts } from '../../../domain/calls/ports.ts'
import {
  type CheckedSession,
  checkForRouter,
} from '../../../domain/calls/routers/check-for-router.ts'
import { jsonBody } from '../../reading/declared-body.ts'
import { found } from '../answers.ts'
import type { Api } from '../api.ts'

export function addRouterChecks(api: Api, ports: CallPorts): void {
  api.add(
    {
      method: 'POST',
      path: '/router-checks',
      access: 'router',
      cors: 'none',
      summary: 'Check a zt-session, as an edge router',
      body: jsonBody(RouterCheck),
      answers: { 200: RouterCheckReply },
      codes: ['INVALID_AUTH'],
    },
    async ({ input: { ztSession } }) => found(answerOf(await checkForRouter(ports, ztSession))),
  )
}

function answerOf(checked: CheckedSession | undefined): RouterCheckAnswer {
  if (checked === undefined) return { isActive: false }
  const { session, identity, authenticatedAt, proof } = checked
  return {
    isActive: true,
    sessionId: session.sessionId,
    identityId: session.identityId,
    externalId: identity.externalId ?? null,
    isAdmin: session.isAdmin,
    expiresAt: toRfc3339(session.expiresAt),
    authPolicyId: session.authPolicyId,
    amr: [...proof.amr],
    externalJwtSignerId: proof.signerId ?? null,
    caId: proof.caId ?? null,
    authenticatedAt: toRfc3339(authenticatedAt),
    roleAttributes: [...identity.roleAttributes],
    roleVersion: identity.roleVersion,
  }
}
