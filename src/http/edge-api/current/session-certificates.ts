/**
 * /current-api-session/certificates, on the client API: SPEC API Session Certificates; D-40, D-41. Only the
 * certificates of the caller's session exist here; those of another session are 404 (R100).
 */

import { toRfc3339 } from '../../../base/time/instant.ts'
import {
  type CreatedSessionCertificate,
  CreatedSessionCertificateReply,
  CreateSessionCertificate,
  type SessionCertificateDetail,
  SessionCertificateListReply,
  SessionCertificateReply,
} from '../../../contract/session-certificates.ts'
import type { SessionCertificate } from '../../../domain/certificates/session/session-certificate.ts'
import { NO_FIELDS } from '../../../domain/lists/fields.ts'
import type { SessionPorts } from '../../../domain/sessions/ports.ts'
import {
  findSessionCertificate,
  issueSessionCertificate,
  listSessionCertificates,
  removeSessionCertificate,
} from '../../../domain/sessions/session-certificates.ts'
import { jsonBody } from '../../reading/declared-body.ts'
import { found, idIn, listed, made, selfLink } from '../answers.ts'
import type { Api } from '../api.ts'

const ALL = '/current-api-session/certificates'
const ONE = `${ALL}/:id` as const

export function addSessionCertificates(api: Api, ports: SessionPorts): void {
  const summary = ({ id, certificatePem }: SessionCertificate): CreatedSessionCertificate => ({
    _links: selfLink(`${ALL.slice(1)}/${id}`),
    id,
    cas: ports.caBundlePem(),
    certificate: certificatePem,
  })
  const detail = (certificate: SessionCertificate): SessionCertificateDetail => ({
    ...summary(certificate),
    subject: certificate.subject,
    fingerprint: certificate.fingerprint,
    validFrom: toRfc3339(certificate.validFrom),
    validTo: toRfc3339(certificate.validTo),
  })

  api.add(
    {
      method: 'POST',
      path: ALL,
      access: 'session',
      summary: 'Get a certificate for your session',
      description:
        'Only the public key and a few parts of the subject of the request are used; the rest is the profile of an API ' +
        'session certificate. It ends with the session at the latest.',
      body: jsonBody(CreateSessionCertificate),
      answers: { 201: CreatedSessionCertificateReply },
      codes: ['COULD_NOT_PROCESS_CSR', 'TOO_MANY_CERTIFICATES'],
    },
    async ({ session, input: { csr }, caller }) =>
      made(summary(await issueSessionCertificate(ports, session, csr, caller))),
  )

  api.add(
    {
      method: 'GET',
      path: ALL,
      access: 'session',
      summary: 'List the certificates of your session',
      list: NO_FIELDS,
      answers: { 200: SessionCertificateListReply },
    },
    async ({ session, list }) =>
      listed(NO_FIELDS, list, await listSessionCertificates(ports, session, list), detail),
  )

  api.add(
    {
      method: 'GET',
      path: ONE,
      access: 'session',
      summary: 'Read a certificate of your session',
      answers: { 200: SessionCertificateReply },
    },
    async ({ session, path }) =>
      found(detail(await findSessionCertificate(ports, session, idIn(path)))),
  )

  api.act(
    {
      method: 'DELETE',
      path: ONE,
      access: 'session',
      summary: 'Remove a certificate of your session',
      description: 'Edge routers refuse it within a second.',
    },
    ({ session, path, caller }) => removeSessionCertificate(ports, session, idIn(path), caller),
  )
}
