/** A collector of traces, as small as one can be: takes OTLP over HTTP, as JSON, and remembers every span. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { eventually } from '../eventually.ts'
import { listenUntilEnd } from '../ports.ts'

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number }
  readonly attributes: readonly {
    readonly key: string
    readonly value: { readonly stringValue?: string; readonly intValue?: string }
  }[]
}

export interface Collector {
  readonly endpoint: string
  /** The bodies, as they came. */
  readonly bodies: string[]
  readonly authorizations: (string | undefined)[]
  spans(): readonly CollectedSpan[]
  /** The spans of the request with this id, once its own has come; the server's first. */
  traceOf(requestId: unknown): Promise<readonly CollectedSpan[]>
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export async function startCollector(
  t: TestContext,
  answer: Answer = (_request, response) => response.writeHead(200).end('{}'),
): Promise<Collector> {
  const bodies: string[] = []
  const authorizations: (string | undefined)[] = []
  const server = createServer(async (request, response) => {
    assert.equal(request.headers['content-type'], 'application/json')
    authorizations.push(request.headers.authorization)
    bodies.push(await text(request))
    answer(request, response)
  })
  const port = await listenUntilEnd(t, server)
  const spans = () =>
    bodies.flatMap((body) =>
      JSON.parse(body).resourceSpans.flatMap(
        (resource: { scopeSpans: { spans: CollectedSpan[] }[] }) =>
          resource.scopeSpans.flatMap((scope) => scope.spans),
      ),
    )
  return {
    endpoint: `http://127.0.0.1:${port}/v1/traces`,
    bodies,
    authorizations,
    spans,
    async traceOf(requestId) {
      const root = await eventually(
        () => spans().find((span) => attributeOf(span, 'latchkey.request_id') === requestId),
        'the span of the request',
      )
      const below = (parent: CollectedSpan): readonly CollectedSpan[] => [
        parent,
        ...spans()
          .filter((span) => span.parentSpanId === parent.spanId)
          .flatMap(below),
      ]
      return below(root)
    },
  }
}

export function attributeOf(span: CollectedSpan, key: string): string | undefined {
  const value = span.attributes.find((attribute) => attribute.key === key)?.value
  return value?.stringValue ?? value?.intValue
}
