/** Says in plain words whose clock is off, for `explain` and the console: the `clock` of an event (D-325). */

type Clock = { readonly of: string; readonly aheadSeconds: number }

/** Undefined if the value is not such a detail; a newer server may send other kinds. */
export function clockSentence(value: unknown): string | undefined {
  if (!isClock(value)) return undefined
  const { of, aheadSeconds } = value
  const seconds = `${Math.abs(aheadSeconds)} seconds`
  const isAhead = aheadSeconds > 0
  switch (of) {
    case 'totp':
      return `the clock of the authenticator app is about ${seconds} ${isAhead ? 'ahead of' : 'behind'} the server's, or the code is that old`
    case 'iat':
    case 'nbf':
      return `by the server's clock, ${of} of the token is ${seconds} in the future: the clock of its issuer is ahead, or the server's is behind`
    case 'exp':
      return `by the server's clock, the token expired ${seconds} ago: the client kept it too long, or one of the clocks is off`
    case 'notBefore':
      return `by the server's clock, the certificate becomes valid in ${seconds}: the clock of its issuer is ahead, or the server's is behind`
    case 'notAfter':
      return `by the server's clock, the certificate expired ${seconds} ago`
    default:
      return `${of} is ${seconds} ${isAhead ? 'ahead of' : 'behind'} the server's clock`
  }
}

function isClock(value: unknown): value is Clock {
  if (typeof value !== 'object' || value === null) return false
  const { of, aheadSeconds } = value as Partial<Record<keyof Clock, unknown>>
  return typeof of === 'string' && typeof aheadSeconds === 'number'
}
