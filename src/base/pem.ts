/** PEM, RFC 7468: bytes between two lines that say what they are. */

/** Returns one block, with lines of 64 characters and a line end behind it. */
export function pem(label: 'CERTIFICATE' | 'CERTIFICATE REQUEST', bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,64}/g)
  return [`-----BEGIN ${label}-----`, ...(lines ?? []), `-----END ${label}-----`, ''].join('\n')
}
