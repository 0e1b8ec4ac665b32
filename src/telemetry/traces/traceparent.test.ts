/** W3C Trace Context: what is taken from a caller, and what is not. D-139. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTraceparent } from './traceparent.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

for (const field of [
  `00-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-00`,
  `01-${TRACE}-${SPAN}-01`,
  `cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`,
]) {
  test(`${field} names a trace and a span`, () => {
    assert.deepEqual(parseTraceparent(field), { traceId: TRACE, spanId: SPAN })
  })
}

const REFUSED: Readonly<Record<string, string | undefined>> = {
  'no field': undefined,
  'an empty field': '',
  'capital letters': `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  'a trace of zeros': `00-${'0'.repeat(32)}-${SPAN}-01`,
  'a span of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
  'the version ff': `ff-${TRACE}-${SPAN}-01`,
  'more than version 00 has': `00-${TRACE}-${SPAN}-01-more`,
  'less than there must be': `00-${TRACE}-${SPAN}`,
  'two fields': `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  'a line end': `00-${TRACE}-${SPAN}-01\n`,
  'a space before': ` 00-${TRACE}-${SPAN}-01`,
  'a long tail': `cc-${TRACE}-${SPAN}-01-${'a'.repeat(401)}`,
  'a username': 'admin',
}

for (const [what, field] of Object.entries(REFUSED)) {
  test(`${what} names nothing`, () => {
    assert.equal(parseTraceparent(field), undefined)
  })
}
