/**
 * Enrollment, on the client API: by token (D-127), or with a certificate of a third-party CA on the connection (D-131).
 * API 3.2. Anyone may call: the token or the certificate is the credential. The token is in the query or in the body,
 * the CSR is in JSON or plain. Unknown fields of a body are ignored, as in a login (D-4).
 */

import type { FormFields } from '../../../base/form.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import { Ignored } from '../../../contract/authenticate.ts'
import {
  EnrollByAny,
  EnrollByCsr,
  EnrollByPassword,
  EnrollByToken,
  EnrolledCertificateReply,
  EnrolledIdentityReply,
  EnrolledPasswordReply,
  EnrolledReply,
} from '../../../contract/enroll.ts'
import { DoneReply } from '../../../contract/envelope.ts'
import { enrollByCsr, enrollByPassword } from '../../../domain/enrollments/enroll.ts'
import { enrollByCaAlone, enrollByCaAndToken } from '../../../domain/enrollments/enroll-by-ca.ts'
import type { EnrollmentPorts } from '../../../domain/enrollments/ports.ts'
import { invalid } from '../../../domain/refusals.ts'
import { LONGEST_PEM } from '../../../protocol/limits.ts'
import type { Call } from '../../call.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { type Body, bodyFields } from '../../reading/body.ts'
import { fieldsBody } from '../../reading/declared-body.ts'
import { type Fields, passwordCredentials, passwordField, textField } from '../../reading/fields.ts'
import { done, found } from '../answers.ts'
import type { Api } from '../api.ts'

const TOKEN = { token: 'The enrollment token; it may be in the body instead.' }
const CSR = 'A certificate request in PEM; the token is in the query then.'

/** Shared by all enrollment methods. */
const ENROLL_CODES = ['FORBIDDEN', 'RATE_LIMITED'] as const
const TOKEN_CODES = [
  ...ENROLL_CODES,
  'INVALID_ENROLLMENT_TOKEN',
  'ENROLLMENT_EXPIRED',
  'ENROLLMENT_USED',
  'MAX_AUTHENTICATOR_METHODS_REACHED',
] as const

type EnrollCall = Pick<Call, 'query' | 'body' | 'caller' | 'certificateChain'>

export function addEnroll(
  api: Api,
  ports: EnrollmentPorts,
  { counters, compatibility }: Pick<ListenerParts, 'counters' | 'compatibility'>,
): void {
  // D-475: the enrollment has the name, and existing clients leave it out.
  const credentialsOf = compatibility === 'openziti' ? optionallyNamed : passwordCredentials

  /** By their name in `method`. */
  const ways = {
    async ott({ query, body, caller }: EnrollCall) {
      const clientCsr = csrOf(body)
      const token = tokenOf(query, body)
      const identityType = identityTypeOf(body)
      const enrolled = enrollByCsr(ports, { token, clientCsr, identityType }, caller)
      const { certificate } = await counters.countEnrolled(enrolled)
      return found({ cert: certificate.chainPem, ca: certificate.caBundlePem })
    },
    async updb({ query, body, caller }: EnrollCall) {
      const { username, password } = credentialsOf(bodyFields(body))
      const token = tokenOf(query, body)
      return found({
        username: await enrollByPassword(ports, { token, username, password }, caller),
      })
    },
    async ottca({ query, body, caller, certificateChain }: EnrollCall) {
      const token = tokenOf(query, body)
      await enrollByCaAndToken(ports, { token, shown: certificateChain() }, caller)
      return done()
    },
    /** Reads only the certificate. */
    async ca({ caller, certificateChain }: EnrollCall) {
      const shown = certificateChain()
      return found({ id: await enrollByCaAlone(ports, { shown }, caller) })
    },
  }

  api.add(
    {
      method: 'POST',
      path: '/enroll/ott',
      access: 'login',
      summary: 'Exchange a token for a certificate',
      description:
        'The enrollment becomes an authenticator. Only the public key and a few parts of the subject of the request are ' +
        'taken.',
      query: TOKEN,
      body: fieldsBody(EnrollByCsr, { reads: ['json', 'text', 'pem'], text: CSR }),
      answers: { 200: EnrolledCertificateReply },
      codes: [...TOKEN_CODES, 'COULD_NOT_PROCESS_CSR'],
    },
    ways.ott,
  )

  api.add(
    {
      method: 'POST',
      path: '/enroll/updb',
      access: 'login',
      summary: 'Exchange a token for a password of your choice',
      query: TOKEN,
      body: fieldsBody(EnrollByPassword),
      answers: { 200: EnrolledPasswordReply },
      codes: [...TOKEN_CODES, 'ENTITY_NAME_IN_USE', 'SERVER_TOO_BUSY'],
    },
    ways.updb,
  )

  api.add(
    {
      method: 'POST',
      path: '/enroll/ottca',
      access: 'login',
      summary: 'Exchange a token to register a certificate of a third-party CA',
      description: 'With the certificate on the connection.',
      query: TOKEN,
      body: fieldsBody(EnrollByToken),
      answers: { 200: DoneReply },
      codes: [...TOKEN_CODES, 'CERT_FAILED_VALIDATION', 'CERT_IN_USE'],
    },
    ways.ottca,
  )

  api.add(
    {
      method: 'POST',
      path: '/enroll/ca',
      access: 'login',
      summary: 'Enroll with a certificate of a third-party CA that has auto enrollment',
      description: 'With the certificate on the connection. Creates the identity.',
      body: fieldsBody(Ignored),
      answers: { 200: EnrolledIdentityReply },
      codes: [...ENROLL_CODES, 'CERT_FAILED_VALIDATION', 'CERT_IN_USE', 'ENTITY_NAME_IN_USE'],
    },
    ways.ca,
  )

  api.add(
    {
      method: 'POST',
      path: '/enroll',
      access: 'login',
      summary: 'Enroll by the method in the query',
      description: 'The same as the path of that method, which describes what to send.',
      query: { method: '`ott`, `updb`, `ottca` or `ca`. Required.', ...TOKEN },
      body: fieldsBody(EnrollByAny, { reads: ['json', 'form', 'text', 'pem'], text: CSR }),
      answers: { 200: EnrolledReply },
      codes: [
        ...TOKEN_CODES,
        'COULD_NOT_PROCESS_CSR',
        'CERT_FAILED_VALIDATION',
        'CERT_IN_USE',
        'ENTITY_NAME_IN_USE',
        'SERVER_TOO_BUSY',
      ],
    },
    async (call) => {
      const [asked, ...others] = call.query.get('method') ?? []
      const names = Object.keys(ways) as (keyof typeof ways)[]
      const way = names.find((name) => name === asked)
      if (way === undefined || others.length > 0) {
        throw invalid('method', `must be one of ${names.join(', ')}`)
      }
      return ways[way](call)
    },
  )
}

function optionallyNamed(fields: Fields) {
  if (fields.has('username')) return passwordCredentials(fields)
  return { username: undefined, password: passwordField(fields) }
}

/** Longer than any of our tokens or JWTs. */
const LONGEST_TOKEN = 4096

/** D-4: in the query or in the body; if it is in both, they must be equal. */
function tokenOf(query: FormFields, body: Body): Secret {
  const given: Fields = body.kind === 'text' ? new Map() : bodyFields(body)
  const sources = [query, given].filter((fields) => fields.has('token'))
  const [token, other = token] = sources.map((fields) => textField(fields, 'token', LONGEST_TOKEN))
  if (token === undefined) throw invalid('token', 'is missing')
  if (token !== other) throw invalid('token', 'has two different values')
  // Three parts: the caller sent the whole JWT, where we want its content.
  if (token.split('.').length === 3) throw invalid('token', 'is a JWT; send its claim jti')
  return new Secret(token)
}

const LONGEST_TYPE = 64

function identityTypeOf(body: Body): string | undefined {
  if (body.kind === 'text') return undefined
  const fields = bodyFields(body)
  return fields.has('identityType') ? textField(fields, 'identityType', LONGEST_TYPE) : undefined
}

/** The reader of the CSR refuses one that is too large for a CSR. */
function csrOf(body: Body): string {
  if (body.kind === 'text') return body.text
  return textField(bodyFields(body), 'clientCsr', LONGEST_PEM)
}
