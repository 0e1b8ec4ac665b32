/** /auth-policies of the management API: API 3.3, 4.4. */

import type { z } from 'zod'
import type { AuthPolicyId, ExternalJwtSignerId } from '../../../base/ids.ts'
import { isJsonObject } from '../../../base/json.ts'
import * as contract from '../../../contract/management/auth-policies.ts'
import { AUTH_POLICY_FIELDS } from '../../../domain/lists/fields.ts'
import {
  createPolicy,
  deletePolicy,
  findPolicy,
  listPolicies,
  type NewAuthPolicy,
  updatePolicy,
} from '../../../domain/management/manage-policies.ts'
import type { AuthPolicy } from '../../../domain/policies/auth-policy.ts'
import type { PolicyPorts } from '../../../domain/policies/ports.ts'
import { invalid } from '../../../domain/refusals.ts'
import { AUTH_POLICY } from '../../../entities/auth-policy.ts'
import { selfLink } from '../../edge-api/answers.ts'
import type { Api } from '../../edge-api/api.ts'
import { patched } from '../../edge-api/changed-body.ts'
import { managedFields } from '../../edge-api/described-body.ts'
import type { FieldNames } from '../../edge-api/field-names.ts'
import type { Body } from '../../reading/body.ts'
import { addRuleRoutes } from './rule-routes.ts'

export function addAuthPolicies(api: Api, ports: PolicyPorts): void {
  addRuleRoutes(api, {
    path: '/auth-policies',
    one: 'an authentication policy',
    many: 'authentication policies',
    fields: AUTH_POLICY_FIELDS,
    shape: contract.NewAuthPolicy,
    replies: { one: contract.AuthPolicyReply, list: contract.AuthPolicyListReply },
    create: {
      summary: 'Create an authentication policy',
      description: 'A method that is omitted is not allowed.',
      codes: ['ENTITY_NAME_IN_USE'],
      run: (input, caller) => createPolicy(ports, chosenOf(input), caller),
    },
    list: (query) => listPolicies(ports, query),
    find: (id: AuthPolicyId) => findPolicy(ports, id),
    show: policyBody,
    fieldNames: spellingIn,
    update: {
      codes: ['ENTITY_NAME_IN_USE', 'LAST_ADMINISTRATOR'],
      bodyOf: chosenFields,
      completed: inBothSpellings,
      run: (id, change, caller) =>
        updatePolicy(ports, id, (current) => chosenOf(change(current)), caller),
    },
    remove: {
      codes: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
      run: (id, caller) => deletePolicy(ports, id, caller),
    },
  })
}

/** Returns the change that the body of a PATCH makes. */
export function patchedPolicy(
  body: Body,
  input: (body: Body) => z.output<typeof contract.NewAuthPolicy>,
): (current: AuthPolicy) => NewAuthPolicy {
  return (current) => chosenOf(input(patched(chosenFields(current), inBothSpellings(body))))
}

export function chosenOf({
  name,
  primary,
  secondary = {},
  tags,
}: z.output<typeof contract.NewAuthPolicy>) {
  // Two spellings of one setting; the contract has already checked that they agree.
  const { requireExtJwt, requireExtJwtSigner, ...factors } = secondary
  const required = requireExtJwt ?? requireExtJwtSigner ?? undefined
  return {
    name,
    primary: { ...primary, extJwt: withSigners(primary.extJwt) },
    secondary: { ...factors, requireExtJwt: required as ExternalJwtSignerId | undefined },
    tags,
  }
}

/** Returns it as a body that would create it. */
function chosenFields(policy: AuthPolicy): z.input<typeof contract.NewAuthPolicy> {
  const { name, primary, secondary, tags } = policyBody(policy)
  return { name, primary, secondary, tags }
}

/** A patch that names a signer in one spelling sets both; two different values are invalid. */
function inBothSpellings(body: Body): Body {
  if (body.kind !== 'json' || !isJsonObject(body.value)) return body
  const { secondary } = body.value
  if (!isJsonObject(secondary)) return body
  const { requireExtJwt: one, requireExtJwtSigner: other } = secondary
  if (one !== undefined && other !== undefined && one !== other) {
    throw invalid('secondary.requireExtJwtSigner', 'must be the same as requireExtJwt')
  }
  const required = one === undefined ? other : one
  if (required === undefined) return body
  const both = { ...secondary, requireExtJwt: required, requireExtJwtSigner: required }
  return { kind: 'json', value: { ...body.value, secondary: both } }
}

/** An error names the spelling that the body used. */
export function spellingIn(body: Body): FieldNames {
  const secondary = body.kind === 'json' && isJsonObject(body.value) && body.value['secondary']
  if (!isJsonObject(secondary)) return {}
  const { requireExtJwt: one, requireExtJwtSigner: other } = secondary
  const isOther = (one ?? undefined) === undefined && other !== undefined
  return isOther ? { 'secondary.requireExtJwt': 'secondary.requireExtJwtSigner' } : {}
}

function withSigners<T extends { allowedSigners?: string[] | undefined }>(part: T | undefined) {
  return (
    part && { ...part, allowedSigners: part.allowedSigners as ExternalJwtSignerId[] | undefined }
  )
}

function policyBody(policy: AuthPolicy): contract.AuthPolicy {
  const { cert, extJwt, updb, passkey } = policy.primary
  const { requireExtJwt = null, ...factors } = policy.secondary
  return {
    ...managedFields(AUTH_POLICY, policy),
    _links: selfLink(`auth-policies/${policy.id}`),
    primary: {
      cert,
      extJwt: { allowed: extJwt.allowed, allowedSigners: [...extJwt.allowedSigners] },
      updb,
      passkey,
    },
    secondary: { ...factors, requireExtJwt, requireExtJwtSigner: requireExtJwt },
  }
}
