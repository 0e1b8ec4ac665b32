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

test('a file that the system refuses is named in plain words, without the system call', () => {
  const told = (error: object) => {
    const lines: string[] = []
    const exit = reportFailure(Object.assign(new Error('EXX: raw text, open'), error), {
      err: (line) => void lines.push(line),
    })
    assert.equal(exit, 1)
    return lines.join('\n')
  }
  const path = '/srv/home/secret'
  const cases: [code: string, why: string][] = [
    ['EACCES', 'this user may not access it'],
    ['EPERM', 'this user may not access it'],
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'the file system is read-only'],
    ['EISDIR', 'it is a folder'],
  ]
  for (const [code, why] of cases) {
    const text = told({ code, path, syscall: 'open' })
    assert.equal(text, `latchkey: /srv/home/secret cannot be used: ${why}`)
  }
  // Nothing better to say.
  assert.equal(told({ code: 'EIO', path, syscall: 'open' }), 'latchkey: EXX: raw text, open')
  assert.equal(told({ code: 'EACCES', syscall: 'listen' }), 'latchkey: EXX: raw text, open')
})
