/**
 * What an administrator hands over after inviting an identity or resetting a credential: the link first, which needs no
 * program, then token and JWT for those who have one. API 4.3: all of it is shown once.
 */
import { stripVTControlCharacters } from 'node:util'
import { qrCodeLines } from '../../web/login/qr-code.ts'
import type { Io } from '../terminal/io.ts'
import { printFields } from '../terminal/output.ts'
import { detailsOf, type Row } from './entities/columns.ts'

export interface InvitationValues {
  readonly qr?: boolean
}

/** Prints nothing if the answer is not an invitation. */
export function showInvitation(
  io: Pick<Io, 'out' | 'err' | 'columns'>,
  answer: Row,
  { qr }: InvitationValues,
): void {
  const nested = answer['enrollment'] as Row | undefined
  const { token, jwt, link, expiresAt } = nested ?? answer
  if (typeof token !== 'string') return
  if (typeof link !== 'string') {
    io.out('Give the token or the JWT to the user or machine that enrolls. Neither is shown again.')
    printFields(io, detailsOf({ token, jwt, expiresAt }))
    return
  }
  io.out('Give this link to the person. It works once, and is not shown again.')
  io.out('')
  io.out(link)
  io.out('')
  if (qr === true) showQrCode(io, link)
  // A reset has no JWT: only the page can use it.
  if (typeof jwt === 'string') io.out('For a program, such as `latchkey enroll`:')
  printFields(io, detailsOf(typeof jwt === 'string' ? { token, jwt, expiresAt } : { expiresAt }))
}

function showQrCode(io: Pick<Io, 'out' | 'err' | 'columns'>, link: string): void {
  const lines = qrCodeLines(link) ?? []
  const width = stripVTControlCharacters(lines[0] ?? '').length
  if (io.columns !== undefined && io.columns < width) {
    io.err('(This terminal is too narrow for the QR code.)')
    return
  }
  for (const line of lines) io.out(line)
  io.out('')
}
