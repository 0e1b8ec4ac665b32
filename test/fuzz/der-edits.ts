/** Broken DER, made of good DER. */
import fc from 'fast-check'

/** Changes of single bytes, of lengths, cuts and insertions: what breaks readers of DER. */
const edit = fc.record({
  at: fc.nat(),
  what: fc.oneof(
    fc.record({ put: fc.integer({ min: 0, max: 255 }) }),
    fc.record({ flip: fc.integer({ min: 0, max: 7 }) }),
    fc.record({ cut: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ insert: fc.uint8Array({ minLength: 1, maxLength: 20 }) }),
  ),
})
export const edits = fc.array(edit, { minLength: 1, maxLength: 6 })
type Edits = typeof edits extends fc.Arbitrary<infer T> ? T : never

/** Returns the bytes after all edits. */
export function mutate(der: Uint8Array, all: Edits): Buffer {
  let bytes = Buffer.from(der)
  for (const { at, what } of all) {
    const i = at % Math.max(1, bytes.length)
    if ('put' in what) bytes[i] = what.put
    else if ('flip' in what) bytes[i] = (bytes[i] ?? 0) ^ (1 << what.flip)
    else if ('cut' in what) {
      bytes = Buffer.concat([bytes.subarray(0, i), bytes.subarray(i + what.cut)])
    } else bytes = Buffer.concat([bytes.subarray(0, i), what.insert, bytes.subarray(i)])
  }
  return bytes
}
