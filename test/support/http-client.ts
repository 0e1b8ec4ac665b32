/**
 * A plain HTTPS client that trusts one CA, follows nothing and hides nothing: status, raw header fields, text.
 * `fetch` adapts it for libraries that bring their own idea of a request.
 */
import type { IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { checkApiAnswer } from './api-answers.ts'
import { eventually } from './eventually.ts'

export interface CallOptions {
  readonly method?: string
  /** Several values of one field are several fields on the wire. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
  /** Pairs, so that a field can be repeated. */
  readonly form?: readonly (readonly [string, string])[]
  readonly json?: unknown
  readonly agent?: https.Agent
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape
  json(): any
}

export interface HttpClient {
  call(url: string, options?: CallOptions): Promise<Reply>
  fetch: (url: string | URL, init?: FetchInit) => Promise<Response>
}

/** What libraries hand to the `fetch` that they are given. */
interface FetchInit {
  readonly method?: string | undefined
  readonly headers?: RequestInit['headers']
  readonly body?: unknown
}

/** Every service of a test is on this machine: to ask the system for its address takes another thread. */
const lookup: LookupFunction = (_host, { all }, done) => {
  if (all) done(null, [{ address: '127.0.0.1', family: 4 }])
  else done(null, '127.0.0.1', 4)
}

/** By the text of the CA: the services of most tests have the same one. */
const contexts = new Map<string, SecureContext>()

export function trustIn(ca: string): SecureContext {
  const context = contexts.get(ca) ?? createSecureContext({ ca })
  contexts.set(ca, context)
  return context
}

/** `described`: answers of the APIs fit the OpenAPI documents; those of the compatibility layer do not (D-318). */
export function httpClient(ca: string, answers: 'described' | 'other' = 'described'): HttpClient {
  // A handshake for each call would be most of what a call costs.
  const keptAlive = new https.Agent({ secureContext: trustIn(ca), keepAlive: true, lookup })

  async function call(url: string, options: CallOptions = {}): Promise<Reply> {
    const { form, json } = options
    const headers: Record<string, string | readonly string[]> = { ...options.headers }
    let body = options.body
    if (form !== undefined) {
      body = new URLSearchParams(form.map(([name, value]) => [name, value])).toString()
      headers['content-type'] ??= 'application/x-www-form-urlencoded'
    }
    if (json !== undefined) {
      body = JSON.stringify(json)
      headers['content-type'] ??= 'application/json'
    }
    const method = options.method ?? (body === undefined ? 'GET' : 'POST')
    if (body !== undefined) headers['content-length'] ??= String(Buffer.byteLength(body))
    return new Promise((resolve, reject) => {
      const request = https.request(
        url,
        {
          method,
          headers: headers as Record<string, string>,
          ...(options.agent === undefined ? { agent: keptAlive } : { agent: options.agent, ca }),
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8')
            const status = response.statusCode ?? 0
            const contentType = response.headers['content-type']
            try {
              if (answers === 'described') {
                checkApiAnswer(method, url, { sent: json, status, contentType, text })
              }
            } catch (error) {
              reject(error)
            }
            resolve({
              status,
              headers: response.headers,
              rawHeaders: response.rawHeaders,
              text,
              json: () => JSON.parse(text),
            })
          })
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  }

  return {
    call,
    async fetch(url, init = {}) {
      const headers = Object.fromEntries(new Headers(init.headers))
      const body = init.body === undefined || init.body === null ? undefined : String(init.body)
      const reply = await call(String(url), {
        method: init.method ?? 'GET',
        headers,
        ...(body === undefined ? {} : { body }),
      })
      const kept = new Headers()
      for (let i = 0; i < reply.rawHeaders.length; i += 2) {
        kept.append(reply.rawHeaders[i] ?? '', reply.rawHeaders[i + 1] ?? '')
      }
      const hasBody = ![204, 205, 304].includes(reply.status)
      return new Response(hasBody ? reply.text : null, { status: reply.status, headers: kept })
    },
  }
}

/**
 * Repeats a call that an overloaded instance refused with 503. Many calls at once can take longer than an instance waits
 * for its database, if the machine is busy with something else; tests of what the calls do together are not about that.
 */
export function onceReady(call: () => Promise<Reply>): Promise<Reply> {
  return eventually(async () => {
    const reply = await call()
    return reply.status === 503 ? undefined : reply
  }, 'an instance that is ready')
}
