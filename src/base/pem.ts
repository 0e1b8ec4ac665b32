/** PEM, RFC 7468: base64 between two lines that name the type. */

/** Returns one block, with lines of 64 characters and a final line end. */
export function pem(label: 'CERTIFICATE' | 'CERTIFICATE REQUEST', bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,64}/g)
  return [`-----BEGIN ${label}-----`, ...(lines ?? []), `-----END ${label}-----`, ''].join('\n')
}
