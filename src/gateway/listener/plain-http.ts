/**
 * Where plain HTTP at the port of the gateway is sent. A gateway has no configured address; its certificate says which
 * hosts it is. D-477.
 */
import type { X509Certificate } from 'node:crypto'
import { formatHostPort, parseHostPort } from '../../base/host-port.ts'
import type { RawAnswer } from '../../https-server/https-server.ts'
import type { PlainRequest } from '../../https-server/plain-http.ts'
import { answerAtHttps } from '../../https-server/plain-http-answer.ts'
import { isCertificateFor } from './listener-problems.ts'

const HTTPS_PORT = 443

export function plainHttpAnswer(request: PlainRequest, leaf: X509Certificate): RawAnswer {
  const named = parseHostPort(request.host ?? '', HTTPS_PORT)
  if (named === undefined || !isCertificateFor(leaf, named.host)) {
    return answerAtHttps(request, undefined)
  }
  // The port is the one that reached us, also where another program maps it to that of the listener.
  const address = formatHostPort(named)
  return answerAtHttps(request, `https://${address.replace(/:443$/, '')}`)
}
