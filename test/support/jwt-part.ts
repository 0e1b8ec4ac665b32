/** Makes JWTs by hand, for what no library would make. */

/** A header or claims as a part of a JWT. */
export function jwtPart(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
