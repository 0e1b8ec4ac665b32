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
import { made, selfLink } from '../edge-api/answers.ts'
import type { Api } from '../edge-api/api.ts'
import { managedFields } from '../edge-api/described-body.ts'
import { jsonBody } from '../reading/declared-body.ts'
import { addReads } from './entity-reads.ts'

export function addSigningKeys(api: Api, ports: TokenPorts): void {
  addReads(api, {
    path: '/signing-keys',
    summaries: { list: 'List the keys that sign tokens', one: 'Read a signing key' },
    fields: SIGNING_KEY_FIELDS,
    replies: { one: SigningKeyReply, list: SigningKeyListReply },
    list: (query) => listKeys(ports, query),
    find: (id: string) => findKey(ports, id),
    show,
  })

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
