/** /signing-keys of the management API: which keys sign and verify, and the next one. API 3.3, D-23. */
import { toRfc3339 } from '../../base/time/instant.ts'
import { NewSigningKey, type SigningKey } from '../../contract/management/signing-keys.ts'
import { SIGNING_KEY_FIELDS } from '../../domain/lists/fields.ts'
import type { ManageKeys, SigningKeyDetail } from '../../domain/tokens/keys/manage-keys.ts'
import { created, found, idIn, listed, timeOrNull } from '../edge-api/answers.ts'
import { selfLink } from '../edge-api/links.ts'
import { readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { CREATE, READ } from './route-defaults.ts'

export function addSigningKeys(
  router: Router,
  prefix: string,
  { manage }: { readonly manage: ManageKeys },
): void {
  const all = `${prefix}/signing-keys`

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, SIGNING_KEY_FIELDS)
    return listed(SIGNING_KEY_FIELDS, asked, await manage.list(asked), show)
  })

  router.add({ ...READ, url: `${all}/:id` }, async ({ path }) =>
    found(show(await manage.find(idIn(path)))),
  )

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    const { revokeNow } = readBody(NewSigningKey, body)
    const kid = await manage.rotate(revokeNow ? 'older-keys' : 'nothing', caller)
    return created('signing-keys', kid)
  })
}

function show(key: SigningKeyDetail): SigningKey {
  const { id, kid, algorithm, state, jwk } = key
  return {
    id,
    kid,
    algorithm,
    state,
    createdAt: toRfc3339(key.createdAt),
    activeFrom: toRfc3339(key.activeFrom),
    publishedUntil: timeOrNull(key.publishedUntil),
    jwk,
    _links: selfLink(`signing-keys/${kid}`),
  }
}
