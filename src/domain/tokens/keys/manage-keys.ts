/** Signing keys for administrators: lists and rotates them, public parts only. API 3.3, D-23. */
import type { EntityOf } from '../../../entities/field.ts'
import type { SIGNING_KEY } from '../../../entities/signing-key.ts'
import type { Caller } from '../../audit/events.ts'
import { listInMemory } from '../../lists/evaluate.ts'
import type { ListQuery } from '../../lists/list-query.ts'
import type { PageOf } from '../../paging.ts'
import { orNotFound } from '../../refusals.ts'
import type { TokenPorts } from '../ports.ts'
import type { PublishedKey } from './key-schedule.ts'
import { type RotationPorts, revokeOlderKeys, rotateKeys } from './rotate-keys.ts'
import type { SigningAlgorithm } from './signing-key.ts'
import type { NewKeys } from './signing-keys.ts'

export interface SigningKeyDetail extends EntityOf<typeof SIGNING_KEY> {
  readonly algorithm: SigningAlgorithm
}

/** Published keys, oldest first by default. */
export async function listKeys(
  ports: Pick<TokenPorts, 'signingKeys'>,
  query: ListQuery,
): Promise<PageOf<SigningKeyDetail>> {
  return listInMemory(await publishedKeys(ports), query)
}

/** Throws NOT_FOUND. */
export async function findKey(
  ports: Pick<TokenPorts, 'signingKeys'>,
  kid: string,
): Promise<SigningKeyDetail> {
  return orNotFound((await publishedKeys(ports)).find((one) => one.kid === kid))
}

export async function rotateKeysOnDemand(
  ports: RotationPorts,
  revokes: 'nothing' | 'older-keys',
  caller: Caller,
): Promise<NewKeys> {
  const rotate = revokes === 'nothing' ? rotateKeys : revokeOlderKeys
  return rotate(ports, caller)
}

/** Includes keys that another instance has just created. */
async function publishedKeys({
  signingKeys,
}: Pick<TokenPorts, 'signingKeys'>): Promise<readonly SigningKeyDetail[]> {
  await signingKeys.refresh()
  return signingKeys.published().map(detailOf)
}

function detailOf({ key, state, publishedUntil }: PublishedKey): SigningKeyDetail {
  const { kid, purpose, algorithm, createdAt, activeFrom, publicJwk } = key
  const jwk = publicJwk
  return { id: kid, kid, purpose, algorithm, state, createdAt, activeFrom, publishedUntil, jwk }
}
