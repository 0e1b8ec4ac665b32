/**
 * The logo of the pages: read with the configuration, so that a wrong file stops the start and not a sign-in. D-343. It
 * is shown on every sign-in page, so its size is limited, and an SVG may not contain anything that runs.
 */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { get } from '../checks.ts'
import type { Logo } from '../config.ts'
import type { Problem } from '../problems.ts'

const MOST_BYTES = 100 * 1024
/** In each direction. A small file can decode to a huge picture. */
const MOST_PIXELS = 2048

/** Returns the logo or what is wrong with the file; neither if no logo is configured. */
export async function readLogo(
  tree: unknown,
  home: string,
): Promise<{ readonly logo?: Logo; readonly problems: readonly Problem[] }> {
  const file = get(tree, 'branding', 'logo')
  if (typeof file !== 'string' || file === '') return { problems: [] }
  const refuse = (message: string) => ({ problems: [{ path: 'branding.logo', message }] })
  let bytes: Buffer
  try {
    bytes = await readBeginning(resolve(home, file))
  } catch {
    return refuse('names a file that is not there or not readable')
  }
  if (bytes.length > MOST_BYTES) return refuse(`is larger than ${MOST_BYTES / 1024} KiB`)
  const type = typeOf(bytes)
  if (type === undefined) return refuse('is neither a PNG nor an SVG file')
  const fault = type === 'image/png' ? faultOfPng(bytes) : faultOfSvg(bytes.toString('utf8'))
  if (fault !== undefined) return refuse(fault)
  return { logo: { type, base64: bytes.toString('base64') }, problems: [] }
}

/** One byte more than is allowed, however large the file is. */
async function readBeginning(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES + 1))
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function typeOf(bytes: Buffer): Logo['type'] | undefined {
  if (bytes.subarray(0, PNG_START.length).equals(PNG_START)) return 'image/png'
  const text = bytes.toString('utf8')
  return /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<svg[\s>]/s.test(text)
    ? 'image/svg+xml'
    : undefined
}

/** PNG (ISO/IEC 15948) §11.2.2: width and height are the first two numbers of the first chunk. */
function faultOfPng(bytes: Buffer): string | undefined {
  if (bytes.length < 24) return 'is a PNG file that ends too early'
  const isSmall = [16, 20].every((at) => bytes.readUInt32BE(at) <= MOST_PIXELS)
  return isSmall ? undefined : `is wider or higher than ${MOST_PIXELS} pixels`
}

/** An image runs no scripts, and our answer forbids them too; but such a file was hardly meant to be a logo. */
function faultOfSvg(text: string): string | undefined {
  const found = /<script|<foreignObject|<!ENTITY|<!DOCTYPE|\son\w+\s*=|javascript:/i.exec(text)
  return found === null
    ? undefined
    : `is an SVG file that contains ${JSON.stringify(found[0].trim())}, which is not allowed`
}
