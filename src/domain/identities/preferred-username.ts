/** What somebody is called where OIDC says `preferred_username` (D-25): the username, or the name where there is none. */
import type { Identity } from './identity.ts'
import type { Authenticators } from './stores.ts'

export async function preferredUsername(
  { id, name }: Pick<Identity, 'id' | 'name'>,
  authenticators: Pick<Authenticators, 'listOf'>,
): Promise<string> {
  const all = await authenticators.listOf(id)
  return all.find((one) => one.method === 'updb')?.username ?? name
}
