import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { shellWord } from './shell-word.ts'

test('a path of plain characters stays as people would write it', () => {
  assert.equal(shellWord('/srv/latchkey-2/pki/ca.pem'), '/srv/latchkey-2/pki/ca.pem')
})

test('a shell reads the word back as the very text', { skip: process.platform === 'win32' }, () => {
  const texts = [
    '',
    ' ',
    "it's",
    '$HOME `id` "x"',
    '~',
    '*',
    '[::1]',
    'a\nb',
    '\\',
    "''",
    'é;&|<>#!',
  ]
  const words = texts.map(shellWord).join(' ')
  const read = execFileSync('sh', ['-c', `printf '%s\\0' ${words}`], { encoding: 'utf8' })
  assert.deepEqual(read.split('\0').slice(0, -1), texts)
})
