/** Where plain HTTP at the port of a listener is sent: to a configured address. D-339. */
import type { RawAnswer } from '../../https-server/https-server.ts'
import type { PlainRequest } from '../../https-server/plain-http.ts'
import { answerAtHttps } from '../../https-server/plain-http-answer.ts'
import type { ListenerAddresses } from '../issuers.ts'

export function plainHttpAnswer(request: PlainRequest, addresses: ListenerAddresses): RawAnswer {
  return answerAtHttps(request, addressOf(request.host, addresses))
}

/** The configured address that the request names, else the first one: never the Host field itself (R058). */
function addressOf(
  host: string | undefined,
  { baseUrls, baseUrlOf }: ListenerAddresses,
): string | undefined {
  if (host === undefined) return baseUrls[0]
  try {
    return baseUrlOf({ headers: { host }, rawHeaders: ['host', host] })
  } catch {
    return baseUrls[0]
  }
}
