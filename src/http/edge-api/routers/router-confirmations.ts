/** POST /router-confirmations, on the client API: a router confirms a mark of its feed. D-381, D-383. */
import type { ApiSessionId } from '../../../base/ids.ts'
import { RouterConfirmation } from '../../../contract/router-checks.ts'
import type { CallPorts } from '../../../domain/calls/ports.ts'
import { authenticateRouter } from '../../../domain/calls/routers/authenticate-router.ts'
import { confirmForRouter } from '../../../domain/calls/routers/confirm.ts'
import { jsonBody } from '../../reading/declared-body.ts'
import type { Api } from '../api.ts'

export function addRouterConfirmations(api: Api, ports: CallPorts): void {
  api.act(
    {
      method: 'POST',
      path: '/router-confirmations',
      access: 'router',
      cors: 'none',
      summary: 'Confirm what was applied of the feed, as an edge router',
      body: jsonBody(RouterConfirmation),
      codes: ['INVALID_AUTH', 'RATE_LIMITED'],
    },
    async ({ input, caller, certificateChain }) => {
      const { run, mark } = input
      const routerId = await authenticateRouter(ports, certificateChain(), caller)
      const sessionIds = input.sessionIds as ApiSessionId[]
      confirmForRouter(ports, routerId, { run, mark, sessionIds })
    },
  )
}
