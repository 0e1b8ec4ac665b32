/**
 * A policy that changes while people are logged in. No call changes one yet: the database is written to, and an
 * unrelated policy that is made afterwards makes the instance read all of them again.
 */
import type { Administrator } from './management.ts'
import type { Service } from './service.ts'
import { sql } from './sql.ts'

export async function demand(
  service: Pick<Service, 'config'>,
  admin: Administrator,
  policyId: string,
  secondary: { readonly requireTotp?: boolean; readonly requireExtJwt?: string | undefined },
): Promise<void> {
  const [row] = await sql(service, `select body from auth_policies where id = '${policyId}'`)
  const body = JSON.parse(String(row?.['body']))
  const changed = JSON.stringify({ ...body, secondary: { ...body.secondary, ...secondary } })
  await sql(service, `update auth_policies set body = '${changed}' where id = '${policyId}'`)
  await admin.createPolicy()
}
