/**
 * A strict reader and a plain writer of DER (X.690 §8 to §11), for X.509 structures only: definite lengths in their
 * shortest form, tags of one byte. It reads untrusted bytes: nothing recurses, and every length is checked against the
 * bytes that are there.
 */

export interface DerValue {
  readonly tag: number
  readonly content: Uint8Array
  /** The value with its tag and length, as it was read. */
  readonly raw: Uint8Array
}

export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
} as const

/** Returns the one value that these bytes encode; undefined if they do not encode exactly one. */
export function readDer(bytes: Uint8Array): DerValue | undefined {
  const value = readValue(bytes, 0)
  return value?.raw.length === bytes.length ? value : undefined
}

/** Returns the values inside a constructed value of this tag, at most `most`; undefined if it is not one. */
export function readChildren(
  value: DerValue | undefined,
  tag: number,
  most = 64,
): readonly DerValue[] | undefined {
  if (value?.tag !== tag) return undefined
  const children: DerValue[] = []
  let at = 0
  while (at < value.content.length) {
    const child = readValue(value.content, at)
    if (child === undefined || children.length === most) return undefined
    children.push(child)
    at += child.raw.length
  }
  return children
}

/** Returns the bytes of a BIT STRING without unused bits; X.509 keys and signatures have none. */
export function readBits(value: DerValue | undefined): Uint8Array | undefined {
  if (value?.tag !== TAG.bitString || value.content[0] !== 0) return undefined
  return value.content.subarray(1)
}

export function der(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(length)]), ...contents])
}

const encodedOids = new Map<string, Uint8Array>()

/** Returns the encoding of an object identifier: `oid('2.5.4.3')`. For constants: each is encoded once and cached. */
export function oid(dotted: string): Uint8Array {
  const known = encodedOids.get(dotted)
  if (known !== undefined) return known
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const content = Buffer.from([first * 40 + second, ...rest.flatMap(base128)])
  const encoded = der(TAG.objectIdentifier, content)
  encodedOids.set(dotted, encoded)
  return encoded
}

export function isOid(value: DerValue | undefined, dotted: string): boolean {
  return value !== undefined && Buffer.from(value.raw).equals(oid(dotted))
}

function readValue(bytes: Uint8Array, start: number): DerValue | undefined {
  const tag = bytes[start]
  const first = bytes[start + 1]
  // 31 in the low bits means a tag of several bytes, 0x80 an indefinite length. DER for X.509 needs neither.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined
  let length = first
  let at = start + 2
  if (first >= 0x80) {
    const count = first & 0x7f
    // Three bytes of length are 16 MiB, far more than anything read here.
    if (count === 0 || count > 3) return undefined
    length = 0
    for (let i = 0; i < count; i++) length = length * 256 + (bytes[at + i] ?? 0)
    // X.690 §10.1: only the shortest form, so that each value has one encoding.
    if (length < 0x80 || length < 256 ** (count - 1)) return undefined
    at += count
  }
  const end = at + length
  if (end > bytes.length) return undefined
  return { tag, content: bytes.subarray(at, end), raw: bytes.subarray(start, end) }
}

function lengthBytes(length: number): readonly number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 | bytes.length, ...bytes]
}

function base128(number: number): readonly number[] {
  const bytes = [number & 0x7f]
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}
