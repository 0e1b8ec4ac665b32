/** /auth-policies of the management API: API 3.3, 4.4. */

import type { z } from 'zod'
import type { AuthPolicyId, ExternalJwtSignerId } from '../../base/ids.ts'
import * as contract from '../../contract/management/auth-policies.ts'
import { AUTH_POLICY_FIELDS } from '../../domain/lists/fields.ts'
import type { AuthPolicy } from '../../domain/policies/auth-policy.ts'
import type { ManageAuthPolicies } from '../../domain/policies/manage.ts'
import { created, done, entity, found, idIn, listed } from '../edge-api/answers.ts'
import { isMembers, patched } from '../edge-api/changed-body.ts'
import { readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Body } from '../reading/body.ts'
import { invalid } from '../reading/fields.ts'
import type { Router } from '../route.ts'
import { CHANGE, CREATE, READ, REMOVE, REPLACE } from './route-defaults.ts'

export function addAuthPolicies(
  router: Router,
  prefix: string,
  { manage }: { readonly manage: ManageAuthPolicies },
): void {
  const all = `${prefix}/auth-policies`
  const one = `${all}/:id`

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    const policy = chosenOf(readBody(contract.NewAuthPolicy, body))
    return created('auth-policies', await manage.create(policy, caller))
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, AUTH_POLICY_FIELDS)
    return listed(AUTH_POLICY_FIELDS, asked, await manage.list(asked), policyBody)
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(policyBody(await manage.find(idIn(path)))),
  )

  router.add({ ...REPLACE, url: one }, async ({ path, body, caller }) => {
    const chosen = () => chosenOf(readBody(contract.NewAuthPolicy, body))
    await manage.update(idIn<AuthPolicyId>(path), chosen, caller)
    return done()
  })

  router.add({ ...CHANGE, url: one }, async ({ path, body, caller }) => {
    const changed = (current: AuthPolicy) =>
      chosenOf(
        readBody(contract.NewAuthPolicy, patched(chosenFields(current), inBothSpellings(body))),
      )
    await manage.update(idIn<AuthPolicyId>(path), changed, caller)
    return done()
  })

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.remove(idIn<AuthPolicyId>(path), caller)
    return done()
  })
}

function chosenOf({
  name,
  primary,
  secondary = {},
  tags,
}: z.output<typeof contract.NewAuthPolicy>) {
  // Two spellings of one thing; that they agree, the contract has seen to.
  const required = secondary.requireExtJwt ?? secondary.requireExtJwtSigner ?? undefined
  return {
    name,
    primary: { ...primary, extJwt: withSigners(primary.extJwt) },
    secondary: {
      requireTotp: secondary.requireTotp,
      requireExtJwt: required as ExternalJwtSignerId | undefined,
    },
    tags,
  }
}

/** As a body that would make it. */
function chosenFields(policy: AuthPolicy): z.input<typeof contract.NewAuthPolicy> {
  const { name, primary, secondary, tags } = policyBody(policy)
  return { name, primary, secondary, tags }
}

/** A patch that names a signer in one spelling means it in both; in two that differ it means nothing. */
function inBothSpellings(body: Body): Body {
  if (body.kind !== 'json' || !isMembers(body.value)) return body
  const { secondary } = body.value
  if (!isMembers(secondary)) return body
  const { requireExtJwt: one, requireExtJwtSigner: other } = secondary
  if (one !== undefined && other !== undefined && one !== other) {
    throw invalid('secondary.requireExtJwtSigner', 'is another value than that of requireExtJwt')
  }
  const required = one === undefined ? other : one
  if (required === undefined) return body
  const both = { ...secondary, requireExtJwt: required, requireExtJwtSigner: required }
  return { kind: 'json', value: { ...body.value, secondary: both } }
}

function withSigners<T extends { allowedSigners?: string[] | undefined }>(part: T | undefined) {
  return (
    part && { ...part, allowedSigners: part.allowedSigners as ExternalJwtSignerId[] | undefined }
  )
}

function policyBody(policy: AuthPolicy): contract.AuthPolicy {
  const { cert, extJwt, updb } = policy.primary
  const { requireTotp, requireExtJwt = null } = policy.secondary
  return {
    ...entity('auth-policies', policy),
    name: policy.name,
    primary: {
      cert,
      extJwt: { allowed: extJwt.allowed, allowedSigners: [...extJwt.allowedSigners] },
      updb,
    },
    secondary: { requireTotp, requireExtJwt, requireExtJwtSigner: requireExtJwt },
  }
}
