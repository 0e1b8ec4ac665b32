/** Base32 of RFC 4648 §6: the alphabet that authenticator apps expect and that is easy to read out. */

/** 32 characters: five bits each, without 0, 1, 8 and 9, which look like letters. */
export const BASE32_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Without padding. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += BASE32_ALPHABET.charAt((held >>> bits) & 31)
    }
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + BASE32_ALPHABET.charAt((held << (5 - bits)) & 31)
}

/** The bytes of unpadded base32 in upper case; undefined for any other text. */
export function fromBase32(text: string): Uint8Array | undefined {
  const bytes: number[] = []
  let bits = 0
  let held = 0
  for (const character of text) {
    const value = BASE32_ALPHABET.indexOf(character)
    if (value < 0) return undefined
    held = (held << 5) | value
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push((held >>> bits) & 255)
      held &= (1 << bits) - 1
    }
  }
  const read = Uint8Array.from(bytes)
  // Some lengths encode no whole bytes, and left-over bits must be zero: only accept text that encodes back to itself.
  return base32(read) === text ? read : undefined
}
