/** Signing keys as an administrator sees and rotates them: public parts alone. API 3.3, D-23. */
import type { Instant } from '../../../base/time/instant.ts'
import type { Caller } from '../../audit/events.ts'
import { listInMemory } from '../../lists/evaluate.ts'
import type { ListQuery } from '../../lists/list-query.ts'
import type { PageOf } from '../../paging.ts'
import { notFound } from '../../refusals.ts'
import type { KeyState, PublishedKey } from './key-schedule.ts'
import type { RotateKeys } from './rotate-keys.ts'
import type { SigningAlgorithm } from './signing-key.ts'
import type { SigningKeys } from './signing-keys.ts'

/** Members have the names of the list's fields. */
export interface SigningKeyDetail {
  /** The kid: there is no other name for a key. */
  readonly id: string
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly state: KeyState
  readonly createdAt: Instant
  readonly activeFrom: Instant
  readonly publishedUntil: Instant | undefined
  readonly jwk: Readonly<Record<string, string>>
}

export interface ManageKeys {
  /** Published ones, oldest first unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<SigningKeyDetail>>
  /** Thrown: NOT_FOUND. */
  find(kid: string): Promise<SigningKeyDetail>
  /** Answers the kid of the new key. */
  rotate(revokes: 'nothing' | 'older-keys', caller: Caller): Promise<string>
}

export function createManageKeys(deps: {
  readonly signingKeys: Pick<SigningKeys, 'refresh' | 'published'>
  readonly rotateKeys: RotateKeys
}): ManageKeys {
  const { signingKeys, rotateKeys } = deps

  /** What another instance has done a moment ago is seen too. */
  async function known(): Promise<readonly SigningKeyDetail[]> {
    await signingKeys.refresh()
    return signingKeys.published().map(detailOf)
  }

  return {
    list: async (query) => listInMemory(await known(), query),

    async find(kid) {
      const key = (await known()).find((one) => one.kid === kid)
      if (key === undefined) throw notFound()
      return key
    },

    async rotate(revokes, caller) {
      const make = revokes === 'nothing' ? rotateKeys.next : rotateKeys.revokeOlder
      return (await make(caller)).kid
    },
  }
}

function detailOf({ key, state, publishedUntil }: PublishedKey): SigningKeyDetail {
  const { kid, algorithm, createdAt, activeFrom, publicJwk } = key
  const jwk = publicJwk
  return { id: kid, kid, algorithm, state, createdAt, activeFrom, publishedUntil, jwk }
}
