/**
 * /current-api-session/certificates, on the client API: SPEC API Session Certificates; D-40, D-41. Only the own
 * session's are there; what belongs to another is 404 (R100).
 */

import { toRfc3339 } from '../../../base/time/instant.ts'
import {
  type CreatedSessionCertificate,
  CreateSessionCertificate,
  type SessionCertificateDetail,
} from '../../../contract/session-certificates.ts'
import type { ManageSessionCertificates } from '../../../domain/certificates/session/issue.ts'
import type { SessionCertificate } from '../../../domain/certificates/session/session-certificate.ts'
import { NO_FIELDS } from '../../../domain/lists/fields.ts'
import { json } from '../../answer.ts'
import type { Router } from '../../route.ts'
import { done, found, idIn, listed } from '../answers.ts'
import { selfLink } from '../links.ts'
import { readBody } from '../read-body.ts'
import { readList } from '../read-list.ts'
import { API_ROUTE } from '../route-defaults.ts'

const PATH = 'current-api-session/certificates'

export function addSessionCertificates(
  router: Router,
  prefix: string,
  use: { readonly sessionCertificates: ManageSessionCertificates },
): void {
  const { sessionCertificates: manage } = use
  const url = `${prefix}/${PATH}`

  const summary = ({ id, certificatePem }: SessionCertificate): CreatedSessionCertificate => ({
    _links: selfLink(`${PATH}/${id}`),
    id,
    cas: manage.caBundlePem,
    certificate: certificatePem,
  })
  const detail = (certificate: SessionCertificate): SessionCertificateDetail => ({
    ...summary(certificate),
    subject: certificate.subject,
    fingerprint: certificate.fingerprint,
    validFrom: toRfc3339(certificate.validFrom),
    validTo: toRfc3339(certificate.validTo),
  })

  router.add(
    { ...API_ROUTE, method: 'POST', url, reads: ['json'], replies: [201, 401, 409] },
    async ({ session, body, caller }) => {
      const { csr } = readBody(CreateSessionCertificate, body)
      return json(201, { data: summary(await manage.issue(session, csr, caller)), meta: {} })
    },
  )

  router.add(
    { ...API_ROUTE, method: 'GET', url, replies: [200, 401] },
    async ({ session, query }) => {
      const page = readList(query, NO_FIELDS)
      return listed(NO_FIELDS, page, await manage.list(session, page), detail)
    },
  )

  router.add(
    { ...API_ROUTE, method: 'GET', url: `${url}/:id`, replies: [200, 401, 404] },
    async ({ session, path }) => found(detail(await manage.find(session, idIn(path)))),
  )

  router.add(
    { ...API_ROUTE, method: 'DELETE', url: `${url}/:id`, replies: [200, 401, 404] },
    async ({ session, path, caller }) => {
      await manage.remove(session, idIn(path), caller)
      return done()
    },
  )
}
