/** Lets an administrator manage third-party CAs. API 3.3, 4.6. */

import { base64url } from '../../base/encoding.ts'
import { type CaId, newId } from '../../base/ids.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import { proveCa, readCaCertificate } from '../certificates/third-party/prove-ca.ts'
import { changedFields, changesBetween } from '../changes.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import { changeRules } from '../policies/change-rules.ts'
import { keepAdministrator } from '../policies/last-administrator.ts'
import { invalid, orNotFound, refuseConflict } from '../refusals.ts'
import type { ManagementPorts } from './ports.ts'

type Ours = 'id' | 'fingerprint' | 'isVerified' | 'verificationToken' | 'createdAt' | 'updatedAt'

export type NewCa = Omit<Ca, Ours>

/** Used as the common name of a certificate: at most 64 characters (RFC 5280 appendix A.1); these are 43. */
const VERIFICATION_TOKEN_BYTES = 32

/** Throws NOT_FOUND. */
export async function findCa({ cas }: Pick<ManagementPorts, 'cas'>, id: CaId): Promise<Ca> {
  return orNotFound(await cas.find(id))
}

/** Returns them by name, unless the query asks for another order. */
export async function listCas(
  { cas }: Pick<ManagementPorts, 'cas'>,
  query: ListQuery,
): Promise<PageOf<Ca>> {
  return listInMemory(await cas.list(), query)
}

export async function createCa(
  ports: ManagementPorts,
  input: NewCa,
  caller: Caller,
): Promise<CaId> {
  const { clock, random } = ports
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
  await changeRules(ports, async (tx) => {
    refuseConflict(await tx.cas.insert(ca))
    await record(ports, tx, caller, { type: 'ca.created', details: { id, name: ca.name } })
  })
  return id
}

/** Replaces the CA by what `change` returns; its certificate stays. Throws NOT_FOUND. */
export function updateCa(
  ports: ManagementPorts,
  id: CaId,
  change: (current: Ca) => NewCa,
  caller: Caller,
): Promise<void> {
  return changeRules(ports, async (tx) => {
    const current = orNotFound(await tx.cas.find(id))
    const { certPem, ...chosen } = change(current)
    const read = readCaCertificate(certPem)
    if (typeof read === 'string' || read.fingerprint !== current.fingerprint) {
      throw invalid('certPem', 'is a different certificate, which would be a different CA')
    }
    const changed = changedFields(current, chosen)
    if (changed.length === 0) return
    const now = ports.clock.now()
    const next = { ...current, ...chosen, updatedAt: now }
    const replaced = () => tx.cas.replace(next)
    refuseConflict(await keepAdministrator(tx, undefined, { now, caller }, replaced))
    const changes = changesBetween(current, chosen)
    const details = { id, name: next.name, changed, changes }
    await record(ports, tx, caller, { type: 'ca.updated', details })
  })
}

/** Accepts a certificate that proves possession of the CA's key. Throws NOT_FOUND. */
export async function verifyCa(
  ports: ManagementPorts,
  id: CaId,
  pem: string,
  caller: Caller,
): Promise<void> {
  const { clock } = ports
  const ca = await findCa(ports, id)
  if (ca.isVerified) throw new Failure('CA_ALREADY_VERIFIED')
  const outcome = await proveCa(ca, pem, clock.now())
  if (outcome !== 'proven') throw new Failure(outcome)
  await changeRules(ports, async (tx) => {
    orNotFound(await tx.cas.find(id))
    // Of two concurrent calls one verifies it; the other is told that it is already verified.
    if (!(await tx.cas.markVerified(id, clock.now()))) throw new Failure('CA_ALREADY_VERIFIED')
    await record(ports, tx, caller, { type: 'ca.verified', details: { id } })
  })
}

/** Throws NOT_FOUND. */
export function deleteCa(ports: ManagementPorts, id: CaId, caller: Caller): Promise<void> {
  return changeRules(ports, async (tx) => {
    const ca = orNotFound(await tx.cas.find(id))
    const removed = () => tx.cas.remove(id)
    await keepAdministrator(tx, undefined, { now: ports.clock.now(), caller }, removed)
    await record(ports, tx, caller, { type: 'ca.deleted', details: { id, name: ca.name } })
  })
}
