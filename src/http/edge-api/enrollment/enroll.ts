/**
 * Enrolling by token, on the client API: API 3.2; D-127. Anybody may call: the token is the credential. It comes in the
 * query or in the body, the CSR in JSON or as it is. Bodies ignore fields that they do not know, like those of a login
 * (D-4).
 */

import type { FormFields } from '../../../base/form.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import type { Enroll } from '../../../domain/enrollments/enroll.ts'
import { LONGEST_PEM } from '../../../protocol/limits.ts'
import type { Answer } from '../../answer.ts'
import { type Body, bodyFields } from '../../reading/body.ts'
import { type Fields, invalid, textField } from '../../reading/fields.ts'
import { passwordCredentials } from '../../reading/password-fields.ts'
import type { Call, Route, Router } from '../../route.ts'
import { found } from '../answers.ts'
import { API_ROUTE } from '../route-defaults.ts'

type Way = (call: Pick<Call<'login'>, 'request' | 'query' | 'body' | 'caller'>) => Promise<Answer>

/** By what `method` calls them. */
export type EnrollWays = Readonly<Record<string, Way>>

/** What every way of enrolling declares. */
export const ENROLL_ROUTE = {
  ...API_ROUTE,
  access: 'login',
  method: 'POST',
  replies: [200, 403, 409, 429],
} as const satisfies Partial<Route>

export function addEnroll(
  router: Router,
  prefix: string,
  use: { readonly enroll: Enroll; readonly otherWays: EnrollWays },
): void {
  const url = `${prefix}/enroll`
  const ways: EnrollWays & Record<'ott' | 'updb', Way> = {
    ott: async ({ query, body, caller }) => {
      const clientCsr = csrOf(body)
      const token = tokenOf(query, body)
      const certificate = await use.enroll.byCsr({ token, clientCsr }, caller)
      return found({ cert: certificate.chainPem, ca: certificate.caBundlePem })
    },
    updb: async ({ query, body, caller }) => {
      const { username, password } = passwordCredentials(bodyFields(body))
      const token = tokenOf(query, body)
      return found({ username: await use.enroll.byPassword({ token, username, password }, caller) })
    },
    ...use.otherWays,
  }

  router.add({ ...ENROLL_ROUTE, url: `${url}/ott`, reads: ['json', 'text', 'pem'] }, (call) =>
    ways.ott(call),
  )
  router.add({ ...ENROLL_ROUTE, url: `${url}/updb`, reads: ['json', 'form'] }, (call) =>
    ways.updb(call),
  )
  router.add({ ...ENROLL_ROUTE, url, reads: ['json', 'form', 'text', 'pem'] }, (call) => {
    const [method = '', ...others] = call.query.get('method') ?? []
    const way = Object.hasOwn(ways, method) ? ways[method] : undefined
    if (way === undefined || others.length > 0) {
      throw invalid('method', `must be one of ${Object.keys(ways).join(', ')}`)
    }
    return way(call)
  })
}

/** Longer than any token or JWT of ours. */
const LONGEST_TOKEN = 4096

/** D-4: in the query or in the body, and where in both, the same. */
export function tokenOf(query: FormFields, body: Body): Secret {
  const given: Fields = body.kind === 'text' ? new Map() : bodyFields(body)
  const sources = [query, given].filter((fields) => fields.has('token'))
  const [token, other = token] = sources.map((fields) => textField(fields, 'token', LONGEST_TOKEN))
  if (token === undefined) throw invalid('token', 'is missing')
  if (token !== other) throw invalid('token', 'has two different values')
  // Three parts: the whole JWT where its content is wanted.
  if (token.split('.').length === 3) throw invalid('token', 'is a JWT; send its claim jti')
  return new Secret(token)
}

/** The reader of the CSR refuses one that is too large for a CSR. */
function csrOf(body: Body): string {
  if (body.kind === 'text') return body.text
  return textField(bodyFields(body), 'clientCsr', LONGEST_PEM)
}
