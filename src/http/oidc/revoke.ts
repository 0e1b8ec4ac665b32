/**
 * POST /oidc/revoke: RFC 7009, D-31. The response is the same for a revoked token, for one that never existed and for
 * one of another client; its header names what has ended (D-363).
 */

import { Secret } from '../../base/secrets/secret.ts'
import { isKnownClient } from '../../domain/login/known-client.ts'
import type { TokenPorts } from '../../domain/tokens/ports.ts'
import { revokeToken } from '../../domain/tokens/revoke.ts'
import { Failure } from '../../errors/catalogue.ts'
import { json } from '../answer.ts'
import { withEnding } from '../own-site/ending-proof.ts'
import type { Router } from '../router.ts'
import { PATHS } from './paths.ts'
import { readClientId, required, singleFields } from './token.ts'

export function addRevoke(router: Router, ports: TokenPorts): void {
  router.add(
    {
      method: 'POST',
      url: PATHS.revoke,
      access: 'login',
      face: { json: 'oauth', pages: false },
      cors: 'listed',
      reads: ['form'],
      replies: [200, 401],
    },
    async (call) => {
      const one = singleFields(call.body)
      const clientId = readClientId(call, one('client_id'), one('client_secret'))
      if (!isKnownClient(ports, clientId)) throw new Failure('INVALID_CLIENT')
      const token = new Secret(required(one, 'token'))
      const { ended } = await ports.collectedEndings.collect(() =>
        revokeToken(ports, { token, clientId, caller: call.caller }),
      )
      return withEnding(ports, json(200, {}), ended)
    },
  )
}
