/** What a failure tells the user to do next. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UntrustedServer } from '../../client/errors.ts'
import { reportFailure } from './failures.ts'

test('a server that is not trusted is explained by what is wrong with its certificate', () => {
  const advice = (code: string) => {
    const lines: string[] = []
    const err = (line: string) => void lines.push(line)
    const exit = reportFailure(new UntrustedServer(code, `a.example is not trusted (${code})`), {
      err,
    })
    assert.equal(exit, 76)
    return lines.join('\n')
  }
  assert.match(
    advice('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
    /; see "latchkey login --help" for --ca$/,
  )
  // Another CA would not help.
  for (const code of ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']) {
    assert.match(advice(code), /, or the clock of this machine is wrong$/)
  }
  assert.match(advice('ERR_TLS_CERT_ALTNAME_INVALID'), /use one of them as the host of --url$/)
})
