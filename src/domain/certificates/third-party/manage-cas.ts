/** What an administrator does to third-party CAs. API 3.3, 4.6. */

import { base64url } from '../../../base/encoding.ts'
import { type CaId, newId } from '../../../base/ids.ts'
import type { Random } from '../../../base/secrets/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { Caller } from '../../audit/events.ts'
import type { RecordEvent } from '../../audit/record.ts'
import { changedFields } from '../../changes.ts'
import { keepAdministrator } from '../../identities/last-administrator.ts'
import { listInMemory } from '../../lists/evaluate.ts'
import type { ListQuery } from '../../lists/list-query.ts'
import type { PageOf } from '../../paging.ts'
import type { ChangeRules } from '../../policies/change-rules.ts'
import { inUse, invalid, notFound } from '../../refusals.ts'
import type { Cas } from '../stores.ts'
import type { Ca } from './ca.ts'
import { proveCa, readCaCertificate } from './prove-ca.ts'

type Ours = 'id' | 'fingerprint' | 'isVerified' | 'verificationToken' | 'createdAt' | 'updatedAt'

export type NewCa = Omit<Ca, Ours>

/** An id that nothing has is NOT_FOUND. */
export interface ManageCas {
  find(id: CaId): Promise<Ca>
  /** By name, unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<Ca>>
  create(ca: NewCa, caller: Caller): Promise<CaId>
  /** Makes of the CA what `change` answers. Its certificate is what it is, and stays. */
  update(id: CaId, change: (current: Ca) => NewCa, caller: Caller): Promise<void>
  /** Takes a certificate that proves that somebody holds the CA's key. */
  verify(id: CaId, pem: string, caller: Caller): Promise<void>
  remove(id: CaId, caller: Caller): Promise<void>
}

/** As the common name of a certificate: 64 characters at most (RFC 5280 appendix A.1), and these are 43. */
const VERIFICATION_TOKEN_BYTES = 32

export function createManageCas(deps: {
  readonly cas: Pick<Cas, 'find' | 'list'>
  readonly changeRules: ChangeRules
  readonly clock: Clock
  readonly random: Random
  readonly recordEvent: RecordEvent
}): ManageCas {
  const { cas, changeRules, clock, random, recordEvent } = deps

  async function find(id: CaId): Promise<Ca> {
    const ca = await cas.find(id)
    if (ca === undefined) throw notFound()
    return ca
  }

  return {
    find,

    list: async (query) => listInMemory(await cas.list(), query),

    async create(input, caller) {
      const read = readCaCertificate(input.certPem)
      if (typeof read === 'string') throw new Failure(read)
      const now = clock.now()
      const id = newId<CaId>(random)
      const { certPem, fingerprint } = read
      const ca: Ca = {
        ...input,
        id,
        certPem,
        fingerprint,
        isVerified: false,
        verificationToken: base64url(random.bytes(VERIFICATION_TOKEN_BYTES)),
        createdAt: now,
        updatedAt: now,
      }
      await changeRules(async (tx) => {
        const outcome = await tx.cas.insert(ca)
        if (outcome === 'name-in-use') throw inUse('name')
        if (outcome === 'certificate-in-use') throw new Failure('CERT_IN_USE')
        const created = { type: 'ca.created', details: { id, name: ca.name } } as const
        await tx.events.insert(recordEvent(caller, created))
      })
      return id
    },

    update: (id, change, caller) =>
      changeRules(async (tx) => {
        const current = await tx.cas.find(id)
        if (current === undefined) throw notFound()
        const { certPem, ...chosen } = change(current)
        const read = readCaCertificate(certPem)
        if (typeof read === 'string' || read.fingerprint !== current.fingerprint) {
          throw invalid('certPem', 'is another certificate, and that is another CA')
        }
        const changed = changedFields(current, chosen)
        if (changed.length === 0) return
        const now = clock.now()
        const next = { ...current, ...chosen, updatedAt: now }
        const outcome = await keepAdministrator(tx, undefined, { now, caller }, () =>
          tx.cas.replace(next),
        )
        if (outcome === 'missing') throw notFound()
        if (outcome === 'name-in-use') throw inUse('name')
        const updated = { type: 'ca.updated', details: { id, name: next.name, changed } } as const
        await tx.events.insert(recordEvent(caller, updated))
      }),

    async verify(id, pem, caller) {
      const ca = await find(id)
      if (ca.isVerified) throw new Failure('CA_ALREADY_VERIFIED')
      const outcome = await proveCa(ca, pem, clock.now())
      if (outcome !== 'proven') throw new Failure(outcome)
      await changeRules(async (tx) => {
        if ((await tx.cas.find(id)) === undefined) throw notFound()
        // Of two at once one verifies it, and the other hears that it is done.
        if (!(await tx.cas.markVerified(id, clock.now()))) throw new Failure('CA_ALREADY_VERIFIED')
        const verified = { type: 'ca.verified', details: { id } } as const
        await tx.events.insert(recordEvent(caller, verified))
      })
    },

    remove: (id, caller) =>
      changeRules(async (tx) => {
        const ca = await tx.cas.find(id)
        if (ca === undefined) throw notFound()
        const removed = () => tx.cas.remove(id)
        await keepAdministrator(tx, undefined, { now: clock.now(), caller }, removed)
        const deleted = { type: 'ca.deleted', details: { id, name: ca.name } } as const
        await tx.events.insert(recordEvent(caller, deleted))
      }),
  }
}
