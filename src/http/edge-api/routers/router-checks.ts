/** POST /router-checks, on the client API: D-42. For routers alone, which keep the answer for a second at most. */
import { toRfc3339 } from '../../../base/time/instant.ts'
import { RouterCheck, type RouterCheckAnswer } from '../../../contract/router-checks.ts'
import type {
  CheckedSession,
  CheckForRouter,
} from '../../../domain/sessions/routers/check-for-router.ts'
import type { Router } from '../../route.ts'
import { found } from '../answers.ts'
import { readBody } from '../read-body.ts'
import { API_ROUTE } from '../route-defaults.ts'

export function addRouterChecks(
  router: Router,
  prefix: string,
  use: { readonly checkForRouter: CheckForRouter },
): void {
  router.add(
    {
      ...API_ROUTE,
      access: 'router',
      cors: 'none',
      method: 'POST',
      url: `${prefix}/router-checks`,
      reads: ['json'],
      replies: [200, 401, 403],
    },
    async ({ body }) => {
      const { ztSession } = readBody(RouterCheck, body)
      return found(answerOf(await use.checkForRouter(ztSession)))
    },
  )
}

function answerOf(checked: CheckedSession | undefined): RouterCheckAnswer {
  if (checked === undefined) return { isActive: false }
  const { session, externalId, proof } = checked
  return {
    isActive: true,
    sessionId: session.sessionId,
    identityId: session.identityId,
    externalId: externalId ?? null,
    isAdmin: session.isAdmin,
    expiresAt: toRfc3339(session.expiresAt),
    authPolicyId: session.authPolicyId,
    amr: [...proof.amr],
    externalJwtSignerId: proof.signerId ?? null,
    caId: proof.caId ?? null,
  }
}
