/** What a user sees who must set up an authenticator app. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Io } from '../terminal/io.ts'
import { showEnrollment } from './ask-factors.ts'

const URL = 'otpauth://totp/Latchkey:ada?secret=JBSWY3DPEHPK3PXP&issuer=Latchkey'

function shown(columns: number | undefined): string {
  const lines: string[] = []
  const io = { columns, err: (line: string) => void lines.push(line) } as unknown as Io
  showEnrollment('Set up an app.', URL, ['code-1'], io)
  return lines.join('\n')
}

test('a QR code is drawn unless the terminal is known to be too narrow', () => {
  const narrow = /This terminal is too narrow for the QR code/
  const drawing = /[▀▄█]{10}/
  assert.match(shown(20), narrow)
  assert.doesNotMatch(shown(20), drawing)
  for (const columns of [200, undefined]) {
    assert.match(shown(columns), drawing)
    assert.doesNotMatch(shown(columns), narrow)
  }
  for (const columns of [20, 200, undefined]) {
    assert.match(shown(columns), /Or enter this secret: JBSWY3DPEHPK3PXP\n/)
  }
})
