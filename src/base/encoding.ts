/** Bytes and text: the encodings that the protocols use, and SHA-256. */
import { hash } from 'node:crypto'
import { attempt } from './node/attempt.ts'

// Both keep no state between calls, and making one costs more than using it.
const ENCODER = new TextEncoder()
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/** Returns the bytes of canonical, unpadded base64url; undefined for any other text. */
export function fromBase64url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Buffer skips unknown characters, so only accept text that encodes back to itself.
  return bytes.toString('base64url') === text ? new Uint8Array(bytes) : undefined
}

export function utf8(text: string): Uint8Array {
  return ENCODER.encode(text)
}

/** Returns the text of valid UTF-8; undefined for any other bytes. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  return attempt(() => DECODER.decode(bytes))
}

export function sha256(data: Uint8Array | string): Uint8Array {
  return hash('sha256', data, 'buffer')
}
