/**
 * What an answer tells the client, in whichever response mode it travels: in the query of a redirect, or in the
 * fields of a page that posts itself. Read strictly and by hand, so that nothing is repaired on the way.
 */
import assert from 'node:assert/strict'
import type { Reply } from '../http-client.ts'

export interface ClientAnswer {
  readonly mode: 'query' | 'form_post'
  /** Where it goes: the redirect URI, in a redirect with everything that was added to it. */
  readonly target: string
  /** No name comes twice. */
  readonly parameters: ReadonlyMap<string, string>
}

export function clientAnswer(reply: Reply): ClientAnswer {
  if (reply.status === 302) {
    const target = reply.headers.location ?? ''
    assert.match(target, /^[!-~]+$/, 'a Location is printable ASCII')
    const query = target.slice(target.indexOf('?') + 1)
    const pairs = query.split('&').filter((pair) => pair !== '')
    const parameters = pairs.map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=')
      return [decodeURIComponent(name), decodeURIComponent(value.join('='))]
    })
    return { mode: 'query', target, parameters: unique(parameters) }
  }
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
  const action = /<form method="post" action="([^"]*)">/.exec(reply.text)?.[1]
  assert.ok(action !== undefined, 'the page has a form that posts')
  const inputs = reply.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  const parameters = [...inputs].map(([, name = '', value = '']): [string, string] => [
    unescapeHtml(name),
    unescapeHtml(value),
  ])
  return { mode: 'form_post', target: unescapeHtml(action), parameters: unique(parameters) }
}

function unique(pairs: readonly [string, string][]): ReadonlyMap<string, string> {
  const parameters = new Map(pairs)
  assert.equal(parameters.size, pairs.length, 'no parameter comes twice')
  return parameters
}

/** The pages write every special character as a number. */
function unescapeHtml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
}
