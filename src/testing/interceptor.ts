/**
 * What a scenario does to single answers of the real service: replaces, loses, cuts or delays them. It sees requests
 * before the service does; everything that it lets through is answered by the code that is shipped.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from '../https-server/https-server.ts'

export interface SeenRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** Of the token endpoint; undefined elsewhere. */
  readonly grantType: string | undefined
}

/** `lost`: the service acts, and its answer never arrives. `cut`: half of the answer arrives. */
export type Fate =
  | { readonly what: 'answered'; readonly answer: GivenAnswer }
  | { readonly what: 'lost' | 'cut' }
  | { readonly what: 'delayed'; readonly milliseconds: number }

export interface GivenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Interceptor {
  /** Wraps the handler of each listener. */
  readonly intercept: (handler: Handler) => Handler
  /** The next request that `isMeant` accepts gets this fate, once. */
  once(isMeant: (request: SeenRequest) => boolean, fate: Fate): void
  /** Called with every request and the status of its answer, lost ones included. */
  onAnswer(listener: (request: SeenRequest, status: number) => void): void
}

const TOKEN_PATH = '/oidc/token'

/** `seen` is called with every request when it arrives. */
export function createInterceptor(seen: (request: SeenRequest) => void): Interceptor {
  const armed: { isMeant: (request: SeenRequest) => boolean; fate: Fate }[] = []
  const listeners: ((request: SeenRequest, status: number) => void)[] = []

  function take(request: SeenRequest): Fate | undefined {
    const index = armed.findIndex(({ isMeant }) => isMeant(request))
    return index < 0 ? undefined : armed.splice(index, 1)[0]?.fate
  }

  return {
    intercept: (handler) => (message, response) => {
      void seenRequest(message).then((request) => {
        seen(request)
        response.once('close', () => {
          for (const listener of listeners) listener(request, response.statusCode)
        })
        meet(take(request), handler, message, response)
      })
    },
    once: (isMeant, fate) => void armed.push({ isMeant, fate }),
    onAnswer: (listener) => void listeners.push(listener),
  }
}

function meet(
  fate: Fate | undefined,
  handler: Handler,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  switch (fate?.what) {
    case undefined:
      handler(message, response)
      return
    case 'answered': {
      const { status, headers, body } = fate.answer
      // The body of the request is not read: close, so that its bytes are not parsed as the next request.
      response.writeHead(status, { ...headers, connection: 'close' })
      response.end(body)
      return
    }
    case 'delayed':
      setTimeout(() => handler(message, response), fate.milliseconds)
      return
    case 'lost':
      response.write = () => true
      response.end = () => {
        message.socket.destroy()
        return response
      }
      handler(message, response)
      return
    case 'cut':
      response.end = ((chunk: unknown) => {
        const bytes = Buffer.from((chunk ?? '') as string | Uint8Array)
        const half = bytes.subarray(0, Math.floor(bytes.length / 2))
        response.flushHeaders()
        const cut = () => message.socket.destroy()
        if (half.length === 0) cut()
        else response.write(half, cut)
        return response
      }) as ServerResponse['end']
      handler(message, response)
      return
  }
}

/** Peeks at the form of the token endpoint, and puts it back for the service. */
async function seenRequest(message: IncomingMessage): Promise<SeenRequest> {
  const method = message.method ?? ''
  const path = (message.url ?? '').split('?')[0] ?? ''
  if (method !== 'POST' || path !== TOKEN_PATH) return { method, path, grantType: undefined }
  await new Promise<void>((resolve) => {
    message.once('readable', resolve)
    message.once('close', resolve)
  })
  const chunk: Buffer | null = message.read()
  if (chunk === null) return { method, path, grantType: undefined }
  message.unshift(chunk)
  const grantType = new URLSearchParams(chunk.toString('utf8')).get('grant_type') ?? undefined
  return { method, path, grantType }
}
