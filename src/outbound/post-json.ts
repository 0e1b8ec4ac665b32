/**
 * Posts JSON to an address that the operator configured, for example a collector of traces (D-139). Only the status of
 * the response is read; redirects are not followed.
 */
import type { IncomingMessage, Agent as PlainAgent } from 'node:http'
import { Agent, request as requestHttps } from 'node:https'
import { http } from '../base/node/http.ts'
import { onUpgrade } from '../base/node/on-upgrade.ts'
import type { Secret } from '../base/secrets/secret.ts'
import { type Duration, formatDuration } from '../base/time/duration.ts'
import { Refusal, reasonOf } from './refusal.ts'
import { verifying } from './verifying.ts'

/** Rejects with an Error whose message may be shown. */
export type PostJson = (value: object, timeLimit: Duration) => Promise<void>

/** The same for JSON that is text already, with header fields that depend on it, such as its signature. */
export type PostJsonText = (
  text: string,
  headers: Readonly<Record<string, string>>,
  timeLimit: Duration,
) => Promise<void>

export interface PostTarget {
  readonly endpoint: URL
  readonly headers: Readonly<Record<string, Secret>>
  /** Authorities that are trusted in addition to the default ones. PEM. */
  readonly authorities?: readonly string[]
}

export function createPostJson(target: PostTarget): PostJson {
  const post = createPostJsonText(target)
  return (value, timeLimit) => post(JSON.stringify(value), {}, timeLimit)
}

export function createPostJsonText(target: PostTarget): PostJsonText {
  const { endpoint, headers, authorities = [] } = target
  const fields = Object.entries(headers).map(([name, value]) => [name, value.reveal()] as const)
  const isPlain = endpoint.protocol === 'http:'
  let agent: PlainAgent | undefined

  return async (text, more, timeLimit) => {
    agent ??= isPlain
      ? new http.Agent({ keepAlive: true })
      : new Agent({ keepAlive: true, ...verifying(authorities) })
    const body = Buffer.from(text)
    // A timer, not the clock: it only ends the request.
    const signal = AbortSignal.timeout(timeLimit)
    const request = (isPlain ? http.request : requestHttps)(endpoint, {
      method: 'POST',
      agent,
      signal,
      headers: {
        ...Object.fromEntries(fields),
        ...more,
        'content-type': 'application/json',
        'content-length': body.length,
        'user-agent': 'latchkey',
      },
    })
    try {
      const status = await new Promise<number>((resolve, reject) => {
        request.on('response', (response: IncomingMessage) => {
          response.on('error', reject)
          response.on('end', () => resolve(response.statusCode ?? 0))
          response.resume()
        })
        request.on('error', reject)
        onUpgrade(request, () =>
          reject(new Refusal('the host switched protocols without a request')),
        )
        request.end(body)
      })
      if (status < 200 || status > 299) throw new Refusal(`the answer has the status ${status}`)
    } catch (error) {
      request.destroy()
      if (signal.aborted) throw new Error(`it took longer than ${formatDuration(timeLimit)}`)
      throw new Error(reasonOf(error))
    }
  }
}
