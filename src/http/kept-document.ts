/**
 * A large document that is the same for every caller: generated at the first request, compressed once, and kept in
 * every form. D-199. Responses that differ by caller are never compressed: their length would reveal their content.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { HeaderFields } from './answer.ts'
import type { RequestHead } from './reading/header-fields.ts'
import { preferencesOf } from './reading/negotiation.ts'

const CODINGS = ['br', 'gzip', 'identity'] as const
type Coding = (typeof CODINGS)[number]

interface Form {
  readonly bytes: Buffer
  /** RFC 9110 §8.8.3: each form has its own validator. */
  readonly etag: string
}

/** Returns the form that the caller accepts. `bytes` is undefined if the caller already has it: a 304. */
export interface ChosenForm {
  readonly bytes: Buffer | undefined
  readonly headers: HeaderFields
}

type Headers = Pick<RequestHead, 'headers'>

export type KeptDocument = (head: Headers) => Promise<ChosenForm>

export function keepDocument(make: () => string): KeptDocument {
  let compressed: Promise<Readonly<Record<Coding, Form>>> | undefined
  return async (head) => {
    compressed ??= compress(make())
    const forms = await compressed
    const coding = wantedCoding(head)
    const { bytes, etag } = forms[coding]
    const headers = {
      etag,
      // Clients revalidate every time, at the cost of a 304, because a new version of the service has another document.
      'cache-control': 'no-cache',
      vary: 'Accept-Encoding, Origin',
    }
    if (isKnown(head.headers['if-none-match'], etag)) return { bytes: undefined, headers }
    return {
      bytes,
      headers: coding === 'identity' ? headers : { ...headers, 'content-encoding': coding },
    }
  }
}

async function compress(text: string): Promise<Readonly<Record<Coding, Form>>> {
  const plain = Buffer.from(text)
  const params = {
    // The highest level takes half a second and saves only a few per cent.
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, { params }),
    promisify(gzip)(plain, { level: 9 }),
  ])
  return { br: formOf(br), gzip: formOf(gz), identity: formOf(plain) }
}

function formOf(bytes: Buffer): Form {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** RFC 9110 §12.5.3: sends the plain form if the field is missing, and also if the caller accepts no form. */
function wantedCoding(head: Headers): Coding {
  if (head.headers['accept-encoding'] === undefined) return 'identity'
  const [best] = preferencesOf(head).encodings([...CODINGS])
  return CODINGS.find((coding) => coding === best) ?? 'identity'
}

/** RFC 9110 §13.1.2: weak comparison. */
function isKnown(field: string | undefined, etag: string): boolean {
  if (field === undefined) return false
  const tags = field.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
