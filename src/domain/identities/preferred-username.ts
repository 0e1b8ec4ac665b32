/** Returns the OIDC `preferred_username` (D-25): the username, or the name if there is no username. */
import type { Authenticator } from './authenticator.ts'
import type { Identity } from './identity.ts'
import type { Authenticators } from './stores.ts'

export async function preferredUsername(
  identity: Pick<Identity, 'id' | 'name'>,
  authenticators: Pick<Authenticators, 'listOf'>,
): Promise<string> {
  return usernameAmong(identity, await authenticators.listOf(identity.id))
}

/** The same, for a caller that has already read all authenticators of the identity. */
export function usernameAmong(
  { name }: Pick<Identity, 'name'>,
  authenticators: readonly Authenticator[],
): string {
  return authenticators.find((one) => one.method === 'updb')?.username ?? name
}
