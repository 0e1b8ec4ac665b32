/** A policy that changes while people are logged in. */
import type { Administrator } from './management.ts'

export function demand(
  admin: Administrator,
  policyId: string,
  secondary: { readonly requireTotp?: boolean; readonly requireExtJwt?: string | null },
): Promise<void> {
  return admin.act('PATCH', `/auth-policies/${policyId}`, { secondary })
}
