/** Lets an administrator manage External JWT Signers. API 3.3, 4.5. */

import { type ExternalJwtSignerId, newId } from '../../base/ids.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import {
  type HandedInCertificate,
  readLeafCertificate,
} from '../certificates/third-party/prove-ca.ts'
import { changedFields, changesBetween } from '../changes.ts'
import { isClaimsProperty } from '../ext-jwt/claim.ts'
import { type ExternalJwtSigner, readSignerUrl, type SignerKeys } from '../ext-jwt/signer.ts'
import type { KeySetStatus } from '../ext-jwt/signer-keys.ts'
import { keyFromCertificate } from '../ext-jwt/verification-key.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { changeRules } from '../policies/change-rules.ts'
import { keepAdministrator } from '../policies/last-administrator.ts'
import { invalid, orNotFound, refuseConflict } from '../refusals.ts'
import type { ManagementPorts } from './ports.ts'

export type NewExternalJwtSigner = Omit<ExternalJwtSigner, 'id' | 'createdAt' | 'updatedAt'>

export interface SignerDetail {
  readonly signer: ExternalJwtSigner
  /** For a signer with a certificate. */
  readonly certificate: Omit<HandedInCertificate, 'certPem'> | undefined
  /** For a signer with an endpoint from which this instance has already fetched. */
  readonly keySet: KeySetStatus | undefined
}

type ReadPorts = Pick<ManagementPorts, 'externalJwtSigners' | 'signerKeys'>

/** Throws NOT_FOUND. */
export async function findSigner(
  { externalJwtSigners, signerKeys }: ReadPorts,
  id: ExternalJwtSignerId,
): Promise<SignerDetail> {
  const signer = orNotFound(await externalJwtSigners.find(id))
  return describe(signer, signerKeys)
}

/** Returns them by name, unless the query asks for another order. */
export async function listSigners(
  { externalJwtSigners, signerKeys }: ReadPorts,
  query: ListQuery,
): Promise<PageOf<SignerDetail>> {
  const { rows, totalCount } = listInMemory(await externalJwtSigners.list(), query)
  const described = await Promise.all(rows.map((signer) => describe(signer, signerKeys)))
  return { rows: described, totalCount }
}

async function describe(
  signer: ExternalJwtSigner,
  signerKeys: ReadPorts['signerKeys'],
): Promise<SignerDetail> {
  const { keys } = signer
  const read = keys.kind === 'certificate' ? readLeafCertificate(keys.certPem) : undefined
  const certificate = typeof read === 'string' ? undefined : read
  return { signer, certificate, keySet: await signerKeys.status(signer) }
}

export async function createSigner(
  ports: ManagementPorts,
  input: NewExternalJwtSigner,
  caller: Caller,
): Promise<ExternalJwtSignerId> {
  const { clock, random } = ports
  const checked = check(input, ports)
  const now = clock.now()
  const id = newId<ExternalJwtSignerId>(random)
  const signer: ExternalJwtSigner = { ...checked, id, createdAt: now, updatedAt: now }
  await changeRules(ports, async (tx) => {
    refuseConflict(await tx.externalJwtSigners.insert(signer))
    const details = { id, name: signer.name }
    await record(ports, tx, caller, { type: 'external-jwt-signer.created', details })
  })
  return id
}

/** Replaces the signer by what `change` returns. Throws NOT_FOUND. */
export function updateSigner(
  ports: ManagementPorts,
  id: ExternalJwtSignerId,
  change: (current: ExternalJwtSigner) => NewExternalJwtSigner,
  caller: Caller,
): Promise<void> {
  return changeRules(ports, async (tx) => {
    const current = orNotFound(await tx.externalJwtSigners.find(id))
    const chosen = check(change(current), ports)
    const changed = changedFields(current, chosen)
    if (changed.length === 0) return
    const now = ports.clock.now()
    const next = { ...current, ...chosen, updatedAt: now }
    const replaced = () => tx.externalJwtSigners.replace(next)
    refuseConflict(await keepAdministrator(tx, undefined, { now, caller }, replaced))
    const changes = changesBetween(current, chosen)
    const details = { id, name: next.name, changed, changes }
    await record(ports, tx, caller, { type: 'external-jwt-signer.updated', details })
  })
}

/** Throws NOT_FOUND. */
export function deleteSigner(
  ports: ManagementPorts,
  id: ExternalJwtSignerId,
  caller: Caller,
): Promise<void> {
  return changeRules(ports, async (tx) => {
    const signer = orNotFound(await tx.externalJwtSigners.find(id))
    const policies = await tx.authPolicies.list()
    if (policies.some((policy) => refersTo(policy, id))) {
      throw new Failure('CAN_NOT_DELETE_REFERENCED_ENTITY')
    }
    const removed = () => tx.externalJwtSigners.remove(id)
    await keepAdministrator(tx, undefined, { now: ports.clock.now(), caller }, removed)
    const details = { id, name: signer.name }
    await record(ports, tx, caller, { type: 'external-jwt-signer.deleted', details })
  })
}

function refersTo({ primary, secondary }: AuthPolicy, id: ExternalJwtSignerId): boolean {
  return primary.extJwt.allowedSigners.includes(id) || secondary.requireExtJwt === id
}

function check(
  signer: NewExternalJwtSigner,
  { issuers, allowHttp }: Pick<ManagementPorts, 'issuers' | 'allowHttp'>,
): NewExternalJwtSigner {
  const { issuer, claimsProperty, externalAuthUrl } = signer
  if (issuers().some((own) => own === issuer))
    throw invalid('issuer', 'is an issuer of this service itself')
  if (!isClaimsProperty(claimsProperty)) {
    throw invalid('claimsProperty', 'must be the name of a claim or a JSON pointer')
  }
  const keys = checkKeys(signer.keys, allowHttp)
  if (externalAuthUrl !== undefined) requireUrl('externalAuthUrl', externalAuthUrl, allowHttp)
  return { ...signer, keys }
}

function checkKeys(keys: SignerKeys, allowHttp: boolean): SignerKeys {
  if (keys.kind === 'jwks') {
    requireUrl('jwksEndpoint', keys.jwksEndpoint, allowHttp)
    return keys
  }
  const read = readLeafCertificate(keys.certPem)
  if (typeof read === 'string') throw new Failure(read)
  if (keyFromCertificate(read.certPem) === undefined) {
    const field = { field: 'certPem', reason: 'has a key that cannot verify JWTs' }
    throw new Failure('INVALID_CERT_PEM', { field })
  }
  return { ...keys, certPem: read.certPem }
}

/** Throws COULD_NOT_VALIDATE. */
export function requireUrl(field: string, text: string, allowHttp: boolean): void {
  const url = readSignerUrl(text, allowHttp)
  if (typeof url === 'string') throw invalid(field, url)
}
