/** GET /oidc/keys: the public keys that verify our tokens. D-32; RFC 7517. */
import { inSeconds } from '../../base/time/duration.ts'
import { KEY_SET_MAX_AGE } from '../../domain/tokens/keys/key-schedule.ts'
import type { TokenPorts } from '../../domain/tokens/ports.ts'
import { json } from '../answer.ts'
import type { Router } from '../router.ts'
import { PATHS } from './paths.ts'

export function addKeys(router: Router, { signingKeys }: Pick<TokenPorts, 'signingKeys'>): void {
  router.add(
    {
      method: 'GET',
      url: PATHS.keys,
      access: 'public',
      face: { json: 'oauth', pages: false },
      cors: 'open',
      replies: [200],
    },
    () => {
      const maxAge = inSeconds(KEY_SET_MAX_AGE)
      const headers = { 'cache-control': `public, max-age=${maxAge}` }
      return json(200, signingKeys.keySet(), headers)
    },
  )
}
