/** `latchkey login` with options that make no sense together, or none at all: nobody is asked for anything. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshCli } from '../support/process/cli.ts'

test('a login that makes no sense is exit code 64, and says why', async (t) => {
  const cli = await freshCli(t)
  const url = 'https://localhost:1'
  const cases: readonly (readonly [args: string[], complaint: string])[] = [
    [[], '--url is missing, and context "default" has no earlier login'],
    [['--context', 'new'], '--url is missing, and context "new" has no earlier login'],
    [
      ['--url', 'http://localhost:1'],
      '--url must be https://HOST[:PORT], for example https://auth.example.com',
    ],
    [['--url', url, '--username', 'a', '--identity', 'b'], 'use either --username or --identity'],
    [['--url', url, '--cert', 'a'], '--cert needs --key, and --key needs --cert'],
    [['--url', url, '--key', 'a'], '--cert needs --key, and --key needs --cert'],
    [
      ['--url', url, '--ca', 'a', '--ca-fingerprint', 'b'],
      '--ca and --ca-fingerprint cannot be combined',
    ],
    [
      ['--url', url, '--ca-fingerprint', 'abc'],
      '--ca-fingerprint must be the SHA-256 of a certificate: 64 hexadecimal digits',
    ],
    [['--url', url, '--password', 'a'], 'unknown option --password'],
    [
      ['--url', url, '--context', '../x'],
      'the name of a context must be letters, digits, ".", "_" and "-", at most 64, beginning with a letter or digit',
    ],
  ]
  for (const [args, complaint] of cases) {
    const { code, stdout, stderr } = await cli.run(['login', ...args])
    assert.deepEqual({ code, stdout }, { code: 64, stdout: '' }, stderr)
    assert.equal(stderr.split('\n')[0], `latchkey: ${complaint}`)
  }
  const nobody = await cli.run(['login', '--url', url, '--username', 'a'], 'b\n')
  assert.equal(nobody.code, 69)
})
