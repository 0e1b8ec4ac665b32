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
import { inUse, invalid, notFound, orNotFound } from '../refusals.ts'
import type { ManagementPorts } from './ports.ts'

type Ours = 'id' | 'fingerprint' | 'isVerified' | 'verificationToken' | 'createdAt' | 'updatedAt'

export type NewCa = Omit<Ca, Ours>

type Ports = Pick<
  ManagementPorts,
  'clock' | 'random' | 'foldRepeats' | 'transaction' | 'rules' | 'cas'
>

/** Used as the common name of a certificate: at most 64 characters (RFC 5280 appendix A.1); these are 43. */
const VERIFICATION_TOKEN_BYTES = 32

/** Throws NOT_FOUND. */
export async function findCa({ cas }: Pick<Ports, 'cas'>, id: CaId): Promise<Ca> {
  return orNotFound(await cas.find(id))
}

/** Returns them by name, unless the query asks for another order. */
export async function listCas({ cas }: Pick<Ports, 'cas'>, query: ListQuery): Promise<PageOf<Ca>> {
  return listInMemory(await cas.list(), query)
}

export async function createCa(ports: Ports, input: NewCa, caller: Caller): Promise<CaId> {
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
    const outcome = await tx.cas.insert(ca)
    if (outcome === 'name-in-use') throw inUse('name')
    if (outcome === 'certificate-in-use') throw new Failure('CERT_IN_USE')
    await record(ports, tx, caller, { type: 'ca.created', details: { id, name: ca.name } })
  })
  return id
}

/** Replaces the CA by what `change` returns; its certificate stays. Throws NOT_FOUND. */
export function updateCa(
  ports: Ports,
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
    const outcome = await keepAdministrator(tx, undefined, { now, caller }, () =>
      tx.cas.replace(next),
    )
    if (outcome === 'missing') throw notFound()
    if (outcome === 'name-in-use') throw inUse('name')
    const changes = changesBetween(current, chosen)
    const details = { id, name: next.name, changed, changes }
    await record(ports, tx, caller, { type: 'ca.updated', details })
  })
}

/** Accepts a certificate that proves possession of the CA's key. Throws NOT_FOUND. */
export async function verifyCa(ports: Ports, id: CaId, pem: string, caller: Caller): Promise<void> {
  const { clock } = ports
  const ca = await findCa(ports, id)
  if (ca.isVerified) throw new Failure('CA_ALREADY_VERIFIED')
  const outcome = await proveCa(ca, pem, clock.now())
  if (outcome !== 'proven') throw new Failure(outcome)
  await changeRules(ports, async (tx) => {
    if ((await tx.cas.find(id)) === undefined) throw notFound()
    // Of two concurrent calls one verifies it; the other is told that it is already verified.
    if (!(await tx.cas.markVerified(id, clock.now()))) throw new Failure('CA_ALREADY_VERIFIED')
    await record(ports, tx, caller, { type: 'ca.verified', details: { id } })
  })
}

/** Throws NOT_FOUND. */
export function deleteCa(ports: Ports, id: CaId, caller: Caller): Promise<void> {
  return changeRules(ports, async (tx) => {
    const ca = orNotFound(await tx.cas.find(id))
    const removed = () => tx.cas.remove(id)
    await keepAdministrator(tx, undefined, { now: ports.clock.now(), caller }, removed)
    await record(ports, tx, caller, { type: 'ca.deleted', details: { id, name: ca.name } })
  })
}
