/** /signing-keys of the management API: which keys sign and verify, and the next one. API 3.3, D-23. */
import { toRfc3339 } from '../../base/time/instant.ts'
import {
  NewSigningKey,
  RotatedReply,
  type SigningKey,
  SigningKeyListReply,
  SigningKeyReply,
} from '../../contract/management/signing-keys.ts'
import { SIGNING_KEY_FIELDS } from '../../domain/lists/fields.ts'
import {
  findKey,
  listKeys,
  rotateKeysOnDemand,
  type SigningKeyDetail,
} from '../../domain/tokens/keys/manage-keys.ts'
import type { NewKeys } from '../../domain/tokens/keys/signing-keys.ts'
import type { TokenPorts } from '../../domain/tokens/ports.ts'
import { SIGNING_KEY } from '../../entities/signing-key.ts'
import { found, idIn, listed, made, selfLink } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { managedFields } from '../edge-api/described-body.ts'
import { jsonBody } from '../reading/declared-body.ts'

export function addSigningKeys(api: Api, ports: TokenPorts): void {
  api.add(
    {
      method: 'GET',
      path: '/signing-keys',
      access: 'admin',
      summary: 'List the keys that sign tokens',
      list: SIGNING_KEY_FIELDS,
      answers: { 200: SigningKeyListReply },
    },
    async ({ list }) => listed(SIGNING_KEY_FIELDS, list, await listKeys(ports, list), show),
  )

  api.add(
    {
      method: 'GET',
      path: '/signing-keys/:id',
      access: 'admin',
      summary: 'Read a signing key',
      answers: { 200: SigningKeyReply },
    },
    async ({ path }) => found(show(await findKey(ports, idIn(path)))),
  )

  api.add(
    {
      method: 'POST',
      path: '/signing-keys',
      access: 'admin',
      summary: 'Rotate the signing keys',
      description:
        'Creates a key for access tokens and one for ID tokens. They are published before they sign. With `revokeNow`, ' +
        'after a leak, they sign at once, and tokens that older keys signed are refused.',
      body: jsonBody(NewSigningKey),
      answers: { 201: RotatedReply },
    },
    async ({ input: { revokeNow }, caller }) => {
      const keys = await rotateKeysOnDemand(ports, revokeNow ? 'older-keys' : 'nothing', caller)
      return rotated(keys)
    },
  )
}

function rotated({ access, id }: NewKeys) {
  const keys = [access, id].map(({ kid, purpose, algorithm, activeFrom }) => {
    return { kid, purpose, algorithm, activeFrom: toRfc3339(activeFrom) }
  })
  return made({ id: access.kid, keys, _links: selfLink(`signing-keys/${access.kid}`) })
}

function show(key: SigningKeyDetail): SigningKey {
  const { kid, algorithm } = key
  return {
    ...managedFields(SIGNING_KEY, key),
    algorithm,
    _links: selfLink(`signing-keys/${kid}`),
  }
}
