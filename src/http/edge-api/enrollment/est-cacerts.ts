/**
 * GET /.well-known/est/cacerts, on both APIs and at the root: the CAs of our own PKI and those of configured server
 * certificates. API 3.2, D-312; RFC 7030 §4.1.3. They are public, so no authentication is needed; the client must decide
 * whether to trust them.
 */
import { certsOnly } from '../../../domain/certificates/own/certs-only.ts'
import type { SessionPorts } from '../../../domain/sessions/ports.ts'
import { text } from '../../answer.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import type { Api } from '../api.ts'

export function addEstCaCerts(
  api: Api,
  ports: Pick<SessionPorts, 'caBundlePem'>,
  { serverCasPem }: Pick<ListenerParts, 'serverCasPem'>,
): void {
  api.add(
    {
      method: 'GET',
      path: '/.well-known/est/cacerts',
      access: 'public',
      tag: 'service',
      summary: 'Read the CA bundle of this service',
      answers: {
        200: {
          types: ['application/pkcs7-mime'],
          about: 'PKCS #7 with certificates alone, in base64 (RFC 7030 §4.1.3).',
        },
      },
    },
    () => {
      const pem = [ports.caBundlePem(), ...serverCasPem()].join('\n')
      return text('application/pkcs7-mime', base64Lines(certsOnly(pem)), {
        'content-transfer-encoding': 'base64',
      })
    },
  )
}

/** RFC 2045 §6.8: at most 76 characters per line. */
function base64Lines(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,76}/g)
  return `${(lines ?? []).join('\r\n')}\r\n`
}
