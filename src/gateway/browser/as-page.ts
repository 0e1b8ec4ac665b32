/** The gateway's own answers, for users: the same status, and a page that says what to do. D-411. */
import { type Answer, type OwnAnswer, ownAnswer } from '../http/answers.ts'
import { fieldsOf, onlyValue } from '../http/fields.ts'
import type { Arriving } from '../passing/exchange.ts'
import { reasonOf, refusalPage } from './pages.ts'
import { type BrowserAnswer, originOf, safeTarget, type Visit, wantsPage } from './visit.ts'

export function answerAsPage(
  { message, upgrade }: Arriving,
  answer: OwnAnswer & Answer,
): OwnAnswer | undefined {
  const { method = '', url: target = '' } = message
  const fields = fieldsOf(message.rawHeaders)
  // HTTP/2 names the host in `:authority` (RFC 9113 §8.3.1).
  const host = onlyValue(fields, ':authority') ?? onlyValue(fields, 'host')
  const origin = originOf(host ?? '')
  const isUpgrade = upgrade !== undefined
  if (origin === undefined || !wantsPage({ fields, isUpgrade })) return undefined
  const requestId = answer.headers['x-request-id'] ?? ''
  const visit: Visit = { origin, method, target, fields, isUpgrade, requestId }
  const page = refusalPage(visit, answer.status, reasonOf(answer.code), safeTarget(target, origin))
  const length = String(Buffer.byteLength(page.body))
  return {
    status: answer.status,
    headers: { ...answer.headers, ...Object.fromEntries(page.fields), 'content-length': length },
    body: page.body,
  }
}

/** JSON, or a page if a person waits for one: proxies pass the body of a refusal on. */
export function answerWith(visit: Visit, answer: Answer): BrowserAnswer {
  const { status, headers, body } = ownAnswer(answer, visit.requestId)
  const { 'content-length': _, 'x-request-id': __, ...kept } = headers
  const fields = Object.entries(kept)
  if (!wantsPage(visit)) return { status, fields, body, code: answer.code }
  const page = refusalPage(visit, status, reasonOf(answer.code), visit.target)
  const own = new Set(page.fields.map(([name]) => name))
  return {
    ...page,
    fields: [...fields.filter(([name]) => !own.has(name)), ...page.fields],
    code: answer.code,
  }
}
