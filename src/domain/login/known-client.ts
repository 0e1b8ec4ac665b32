/** The client ids that logins accept: ours, and those that existing clients have built in (D-314). */
import type { LoginPorts } from './ports.ts'

export function isKnownClient(
  { clientId, otherClientIds }: Pick<LoginPorts, 'clientId' | 'otherClientIds'>,
  given: string | undefined,
): given is string {
  return given !== undefined && (given === clientId || otherClientIds.includes(given))
}
