/** /auth-policies of the management API: API 3.3, 4.4. */

import type { AuthPolicyId, ExternalJwtSignerId } from '../../base/ids.ts'
import * as contract from '../../contract/management/auth-policies.ts'
import { AUTH_POLICY_FIELDS } from '../../domain/lists/fields.ts'
import type { AuthPolicy } from '../../domain/policies/auth-policy.ts'
import type { ManageAuthPolicies } from '../../domain/policies/manage.ts'
import { created, done, entity, found, idIn, listed } from '../edge-api/answers.ts'
import { readBody } from '../edge-api/read-body.ts'
import { readList } from '../edge-api/read-list.ts'
import type { Router } from '../route.ts'
import { CREATE, READ, REMOVE } from './route-defaults.ts'

export function addAuthPolicies(
  router: Router,
  prefix: string,
  { manage }: { readonly manage: ManageAuthPolicies },
): void {
  const all = `${prefix}/auth-policies`
  const one = `${all}/:id`

  router.add({ ...CREATE, url: all }, async ({ body, caller }) => {
    const { name, primary, secondary = {}, tags } = readBody(contract.NewAuthPolicy, body)
    // Two spellings of one thing; that they agree, the contract has seen to.
    const required = secondary.requireExtJwt ?? secondary.requireExtJwtSigner ?? undefined
    const policy = {
      name,
      primary: { ...primary, extJwt: withSigners(primary.extJwt) },
      secondary: {
        requireTotp: secondary.requireTotp,
        requireExtJwt: required as ExternalJwtSignerId | undefined,
      },
      tags,
    }
    return created('auth-policies', await manage.create(policy, caller))
  })

  router.add({ ...READ, url: all }, async ({ query }) => {
    const asked = readList(query, AUTH_POLICY_FIELDS)
    return listed(AUTH_POLICY_FIELDS, asked, await manage.list(asked), policyBody)
  })

  router.add({ ...READ, url: one }, async ({ path }) =>
    found(policyBody(await manage.find(idIn(path)))),
  )

  router.add({ ...REMOVE, url: one }, async ({ path, caller }) => {
    await manage.remove(idIn<AuthPolicyId>(path), caller)
    return done()
  })
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
