/** What an administrator does to External JWT Signers. API 3.3, 4.5. */

import { isLoopbackHost } from '../../base/host-port.ts'
import { type ExternalJwtSignerId, newId } from '../../base/ids.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import {
  type HandedInCertificate,
  readLeafCertificate,
} from '../certificates/third-party/prove-ca.ts'
import { changedFields } from '../changes.ts'
import { keepAdministrator } from '../identities/last-administrator.ts'
import { listInMemory } from '../lists/evaluate.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { ChangeRules } from '../policies/change-rules.ts'
import { inUse, invalid, notFound } from '../refusals.ts'
import { isClaimsProperty } from './claim.ts'
import type { ExternalJwtSigner, SignerKeys } from './signer.ts'
import type { KeySetStatus, SignerKeyCache } from './signer-keys.ts'
import type { ExternalJwtSigners } from './stores.ts'
import { keyFromCertificate } from './verification-key.ts'

export type NewExternalJwtSigner = Omit<ExternalJwtSigner, 'id' | 'createdAt' | 'updatedAt'>

export interface SignerDetail {
  readonly signer: ExternalJwtSigner
  /** Of a signer with a certificate. */
  readonly certificate: Omit<HandedInCertificate, 'certPem'> | undefined
  /** Of a signer with an endpoint that was asked already, on this instance. */
  readonly keySet: KeySetStatus | undefined
}

/** An id that nothing has is NOT_FOUND. */
export interface ManageExternalJwtSigners {
  find(id: ExternalJwtSignerId): Promise<SignerDetail>
  /** By name, unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<SignerDetail>>
  create(signer: NewExternalJwtSigner, caller: Caller): Promise<ExternalJwtSignerId>
  /** Makes of the signer what `change` answers. */
  update(
    id: ExternalJwtSignerId,
    change: (current: ExternalJwtSigner) => NewExternalJwtSigner,
    caller: Caller,
  ): Promise<void>
  remove(id: ExternalJwtSignerId, caller: Caller): Promise<void>
}

interface Dependencies {
  readonly externalJwtSigners: Pick<ExternalJwtSigners, 'find' | 'list'>
  readonly signerKeys: Pick<SignerKeyCache, 'status'>
  readonly changeRules: ChangeRules
  readonly clock: Clock
  readonly random: Random
  readonly recordEvent: RecordEvent
  /** Our own: nobody else signs for these. */
  readonly issuers: () => readonly string[]
  /** Plain http to other machines too, where the configuration says so. */
  readonly allowHttp: boolean
}

export function createManageExternalJwtSigners(deps: Dependencies): ManageExternalJwtSigners {
  const { externalJwtSigners, signerKeys, changeRules, clock, random, recordEvent } = deps

  const describe = (signer: ExternalJwtSigner): SignerDetail => ({
    signer,
    certificate: certificateOf(signer),
    keySet: signerKeys.status(signer.id),
  })

  return {
    async find(id) {
      const signer = await externalJwtSigners.find(id)
      if (signer === undefined) throw notFound()
      return describe(signer)
    },

    async list(query) {
      const { rows, totalCount } = listInMemory(await externalJwtSigners.list(), query)
      return { rows: rows.map(describe), totalCount }
    },

    async create(input, caller) {
      const checked = check(input, deps)
      const now = clock.now()
      const id = newId<ExternalJwtSignerId>(random)
      const signer: ExternalJwtSigner = { ...checked, id, createdAt: now, updatedAt: now }
      await changeRules(async (tx) => {
        const outcome = await tx.externalJwtSigners.insert(signer)
        if (outcome === 'name-in-use') throw inUse('name')
        if (outcome === 'issuer-in-use') throw inUse('issuer')
        const details = { id, name: signer.name }
        const created = { type: 'external-jwt-signer.created', details } as const
        await tx.events.insert(recordEvent(caller, created))
      })
      return id
    },

    update: (id, change, caller) =>
      changeRules(async (tx) => {
        const current = await tx.externalJwtSigners.find(id)
        if (current === undefined) throw notFound()
        const chosen = check(change(current), deps)
        const changed = changedFields(current, chosen)
        if (changed.length === 0) return
        const now = clock.now()
        const next = { ...current, ...chosen, updatedAt: now }
        const outcome = await keepAdministrator(tx, undefined, { now, caller }, () =>
          tx.externalJwtSigners.replace(next),
        )
        if (outcome === 'missing') throw notFound()
        if (outcome === 'name-in-use') throw inUse('name')
        if (outcome === 'issuer-in-use') throw inUse('issuer')
        const details = { id, name: next.name, changed }
        const updated = { type: 'external-jwt-signer.updated', details } as const
        await tx.events.insert(recordEvent(caller, updated))
      }),

    remove: (id, caller) =>
      changeRules(async (tx) => {
        const signer = await tx.externalJwtSigners.find(id)
        if (signer === undefined) throw notFound()
        const policies = await tx.authPolicies.list()
        if (policies.some((policy) => refersTo(policy, id))) {
          throw new Failure('CAN_NOT_DELETE_REFERENCED_ENTITY')
        }
        const removed = () => tx.externalJwtSigners.remove(id)
        await keepAdministrator(tx, undefined, { now: clock.now(), caller }, removed)
        const details = { id, name: signer.name }
        const deleted = { type: 'external-jwt-signer.deleted', details } as const
        await tx.events.insert(recordEvent(caller, deleted))
      }),
  }
}

function refersTo({ primary, secondary }: AuthPolicy, id: ExternalJwtSignerId): boolean {
  return primary.extJwt.allowedSigners.includes(id) || secondary.requireExtJwt === id
}

function check(
  signer: NewExternalJwtSigner,
  { issuers, allowHttp }: Pick<Dependencies, 'issuers' | 'allowHttp'>,
): NewExternalJwtSigner {
  const { issuer, claimsProperty, externalAuthUrl } = signer
  if (issuers().includes(issuer)) throw invalid('issuer', 'is an issuer of this service itself')
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

/** API 4.5: https, and http only to this machine or where the configuration allows it. */
function requireUrl(field: string, text: string, allowHttp: boolean): void {
  const url = URL.parse(text)
  if (url === null) throw invalid(field, 'must be a URL')
  if (url.username !== '' || url.password !== '') throw invalid(field, 'must not carry credentials')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isPlain = url.protocol === 'http:' && (allowHttp || isLoopbackHost(host))
  if (url.protocol !== 'https:' && !isPlain) throw invalid(field, 'must be a URL with https')
}

function certificateOf({ keys }: ExternalJwtSigner): SignerDetail['certificate'] {
  const read = keys.kind === 'certificate' ? readLeafCertificate(keys.certPem) : undefined
  return typeof read === 'string' ? undefined : read
}
