/** Asks the user for further factors of a login: SPEC Authentication 3 to 5. */
import { stripVTControlCharacters } from 'node:util'
import type { CodeRefused, Factors } from '../../client/client.ts'
import { qrCodeLines } from '../../web/login/qr-code.ts'
import { InputEnded, type Io } from '../terminal/io.ts'
import { plain } from '../terminal/output.ts'

/** Enrolls only on a terminal: secret and recovery codes would otherwise end up in a file. */
export function askFactors(io: Io): Factors {
  return {
    totp: ({ refused }) =>
      refused === undefined
        ? askCode('Code from the app, or a recovery code: ', io)
        : askAgain(refused, io),
    enrollTotp: io.isInteractive
      ? ({ attempt, provisioningUrl, recoveryCodes }) => {
          if (attempt > 1) return askCode('Wrong code. Try again: ', io)
          showEnrollment(DEMANDED, provisioningUrl, recoveryCodes, io)
          return askCode('First code of the app: ', io)
        }
      : undefined,
    secondaryJwt: async ({ issuer }) => (await io.askSecret(`JWT of ${plain(issuer)}: `)).trim(),
  }
}

const DEMANDED = 'This login requires an authenticator app. Scan the QR code:'

/** A script has only one code. If it is wrong, the error must say so, and not that a line is missing. */
async function askAgain(refused: CodeRefused, io: Io): Promise<string> {
  try {
    return await askCode('Wrong code. Try again: ', io)
  } catch (error) {
    throw error instanceof InputEnded ? refused : error
  }
}

export async function askCode(question: string, io: Io): Promise<string> {
  return (await io.ask(question)).replaceAll(' ', '')
}

export function showEnrollment(
  why: string,
  url: string,
  recoveryCodes: readonly string[],
  io: Io,
): void {
  io.err(why)
  const lines = qrCodeLines(url) ?? []
  const width = stripVTControlCharacters(lines[0] ?? '').length
  // The width is unknown if standard output is redirected; this goes to standard error.
  if (io.columns === undefined || width <= io.columns) for (const line of lines) io.err(line)
  else io.err('(This terminal is too narrow for the QR code.)')
  const secret = URL.parse(url)?.searchParams.get('secret')
  io.err(`Or enter this secret: ${plain(secret ?? url)}`)
  io.err('Each of these recovery codes works once in place of the app. Keep them in a safe place:')
  for (const code of recoveryCodes) io.err(`  ${plain(code)}`)
}
