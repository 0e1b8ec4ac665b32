/**
 * POST /enroll/ottca and POST /enroll/ca, on the client API: with a certificate of a third-party CA on the connection.
 * API 3.2; D-131. Both are also ways of POST /enroll?method=.
 */
import type { EnrollByCa } from '../../../domain/enrollments/enroll-by-ca.ts'
import { presentedChain } from '../../reading/peer-certificate.ts'
import type { Router } from '../../route.ts'
import { done, found } from '../answers.ts'
import { ENROLL_ROUTE, type EnrollWays, tokenOf } from './enroll.ts'

interface Use {
  readonly enrollByCa: EnrollByCa
}

export function waysByCa({ enrollByCa }: Use) {
  return {
    ottca: async ({ request, query, body, caller }) => {
      const token = tokenOf(query, body)
      await enrollByCa.withToken({ token, shown: presentedChain(request) }, caller)
      return done()
    },
    // Nothing is read but the certificate.
    ca: async ({ request, caller }) =>
      found({ id: await enrollByCa.withoutToken({ shown: presentedChain(request) }, caller) }),
  } satisfies EnrollWays
}

export function addEnrollByCa(router: Router, prefix: string, use: Use): void {
  const { ottca, ca } = waysByCa(use)
  const url = `${prefix}/enroll`
  router.add({ ...ENROLL_ROUTE, url: `${url}/ottca`, reads: ['json', 'form'] }, ottca)
  router.add({ ...ENROLL_ROUTE, url: `${url}/ca`, reads: ['json', 'form'] }, ca)
}
