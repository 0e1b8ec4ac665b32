/**
 * The W3C header field `traceparent`: the trace that a request belongs to, and the calling span. Only its two ids are
 * used. We decide whether a request is traced (D-139): a caller could otherwise fill the collector.
 */

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
}

/** Versions after 00 may append further fields (W3C Trace Context, section 3.3). */
const FORM = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[!-~]{0,400})?$/

/** Undefined unless there is exactly one well-formed field. */
export function parseTraceparent(field: string | undefined): TraceParent | undefined {
  const match = field === undefined ? null : FORM.exec(field)
  if (match === null) return undefined
  const [, version, traceId = '', spanId = '', more] = match
  if (version === '00' && more !== undefined) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId }
}
