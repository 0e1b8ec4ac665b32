/** GET /version, at the root and on both APIs: the running version and its APIs. API 3.1. */
import type { Clock } from '../../base/time/clock.ts'
import { toRfc3339 } from '../../base/time/instant.ts'
import { VersionReply } from '../../contract/version.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { found } from './answers.ts'
import type { Api } from './api.ts'

export function addVersion(
  api: Api,
  { clock }: { readonly clock: Pick<Clock, 'now'> },
  { version }: Pick<ListenerParts, 'version'>,
): void {
  api.add(
    {
      method: 'GET',
      path: '/version',
      access: 'public',
      tag: 'service',
      summary: 'Read the version of the service and its APIs',
      answers: { 200: VersionReply },
    },
    () => found({ ...version(), time: toRfc3339(clock.now()) }),
  )
}
