/** A policy that changes while people are logged in. */
import type { Administrator } from './management.ts'
import type { Service } from './service.ts'

export function demand(
  _service: Pick<Service, 'config'>,
  admin: Administrator,
  policyId: string,
  secondary: { readonly requireTotp?: boolean; readonly requireExtJwt?: string | undefined },
): Promise<void> {
  const { requireExtJwt = null, ...rest } = secondary
  const asked = 'requireExtJwt' in secondary ? { ...rest, requireExtJwt } : rest
  return admin.act('PATCH', `/auth-policies/${policyId}`, { secondary: asked })
}
