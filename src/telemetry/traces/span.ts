/** A span, and its form for a collector: OTLP over HTTP, as JSON (OpenTelemetry protocol 1.x). */

export type Attributes = Readonly<Record<string, string | number | undefined>>

const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const
export type SpanKind = keyof typeof SPAN_KINDS

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: SpanKind
  /** Nanoseconds since 1970. */
  readonly begin: bigint
  readonly end: bigint
  readonly attributes: Attributes
  readonly hasFailed: boolean
}

export interface Resource {
  readonly version: string
  readonly instanceId: string
}

/** STATUS_CODE_ERROR; a span without a status is unset. */
const FAILED = 2

export function exportRequest(spans: readonly Span[], resource: Resource): object {
  const { version, instanceId } = resource
  return {
    resourceSpans: [
      {
        resource: {
          attributes: shown({
            'service.name': 'latchkey',
            'service.version': version,
            'service.instance.id': instanceId,
          }),
        },
        scopeSpans: [{ scope: { name: 'latchkey', version }, spans: spans.map(showSpan) }],
      },
    ],
  }
}

function showSpan(span: Span): object {
  const { traceId, spanId, parentSpanId, name, begin, end, attributes } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: SPAN_KINDS[span.kind],
    // In the JSON of protocol buffers, 64-bit numbers are strings.
    startTimeUnixNano: String(begin),
    endTimeUnixNano: String(end),
    attributes: shown(attributes),
    status: span.hasFailed ? { code: FAILED } : {},
  }
}

function shown(attributes: Attributes): readonly object[] {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({
      key,
      value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
    }))
}
