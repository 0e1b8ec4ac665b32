/** GET /version, at the root and on both APIs: the running version and its APIs. API 3.1. */
import { VersionReply } from '../../contract/version.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { found } from './answers.ts'
import type { Api } from './api.ts'

export function addVersion(api: Api, { version }: Pick<ListenerParts, 'version'>): void {
  api.add(
    {
      method: 'GET',
      path: '/version',
      access: 'public',
      tag: 'service',
      summary: 'Read the version of the service and its APIs',
      answers: { 200: VersionReply },
    },
    () => found(version()),
  )
}
