/** The file in a new home: where it listens, and that what it says about defaults is true. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadFile } from '../../test/support/process/config-home.ts'
import { formatHostPort } from '../base/host-port.ts'
import { defaultConfigFile } from './default-file.ts'
import { DEFAULT_ADDRESS } from './environment.ts'
import { allKeys } from './keys.ts'
import type { LoadedConfig } from './load.ts'
import { ConfigProblems } from './problems.ts'

/** Bind points as `interface → address`. */
const LISTENING: readonly [string, readonly string[]][] = [
  [
    'localhost:1280',
    [
      '127.0.0.1:1280 → localhost:1280',
      '127.0.0.1:1280 → 127.0.0.1:1280',
      '[::1]:1280 → [::1]:1280',
    ],
  ],
  [
    '127.0.0.1:8443',
    [
      '127.0.0.1:8443 → 127.0.0.1:8443',
      '127.0.0.1:8443 → localhost:8443',
      '[::1]:8443 → [::1]:8443',
    ],
  ],
  [
    '127.0.0.9:1280',
    [
      '127.0.0.9:1280 → 127.0.0.9:1280',
      '127.0.0.1:1280 → localhost:1280',
      '127.0.0.1:1280 → 127.0.0.1:1280',
      '[::1]:1280 → [::1]:1280',
    ],
  ],
  [
    '[::1]:1280',
    [
      '[::1]:1280 → [::1]:1280',
      '127.0.0.1:1280 → localhost:1280',
      '127.0.0.1:1280 → 127.0.0.1:1280',
    ],
  ],
  ['ID.example.com:443', ['0.0.0.0:443 → id.example.com:443']],
  ['10.0.0.7:1280', ['0.0.0.0:1280 → 10.0.0.7:1280']],
  ['[2001:db8::7]:1280', ['[::]:1280 → [2001:db8::7]:1280']],
]

for (const [address, expected] of LISTENING) {
  test(`a new file for ${address} loads as it is and listens where it should`, async (t) => {
    const { config, adjustments } = await loadFile(t, defaultConfigFile({ address }))
    assert.deepEqual(adjustments, [])
    const [listener, ...others] = config.listeners
    assert.deepEqual(others, [])
    assert.equal(listener.name, 'default')
    assert.deepEqual(
      listener.bindPoints.map(
        (point) => `${formatHostPort(point.interface)} → ${formatHostPort(point.address)}`,
      ),
      expected,
    )
    assert.deepEqual(
      listener.apis.map(({ binding }) => binding),
      ['edge-client', 'edge-management', 'console', 'edge-oidc'],
    )
  })
}

for (const address of ['', 'localhost', 'https://localhost:1280', '0.0.0.0:1280', '[::]:1280']) {
  test(`the address ${JSON.stringify(address)} is refused with the name of the variable`, () => {
    assert.throws(() => defaultConfigFile({ address }), {
      name: 'ConfigProblems',
      message:
        'LATCHKEY_ADDRESS has one problem:\n' +
        `  ${JSON.stringify(address)} is not an address that clients can connect to; write HOST:PORT, like localhost:1280`,
    })
  })
}

test('a new file mentions every key', () => {
  const text = defaultConfigFile({ address: DEFAULT_ADDRESS })
  for (const { name, path } of allKeys()) {
    assert.match(text, new RegExp(`^[ #-]*${name}:`, 'm'), path)
  }
})

test('uncovering one default changes nothing', async (t) => {
  const text = defaultConfigFile({ address: DEFAULT_ADDRESS })
  const { config } = await loadFile(t, text)
  const withDefault = allKeys().filter(
    (key) => key.usual !== undefined && key.children.length === 0,
  )
  for (const { name, path } of withDefault) {
    const uncovered = text.replace(new RegExp(`^( *)#(?=${name}: )`, 'm'), '$1')
    assert.notEqual(uncovered, text, path)
    const loaded = await loadFile(t, uncovered)
    // Only `settings` says that the file has the key.
    const { settings } = config
    assert.deepEqual({ ...loaded.config, home: '', settings }, at(config, loaded.config.home), path)
  }

  function at(expected: LoadedConfig['config'], home: string): unknown {
    return {
      ...expected,
      home: '',
      db: { kind: 'sqlite', path: join(home, 'latchkey.db') },
      secret: { kind: 'file', path: join(home, 'secret') },
    }
  }
})

test('uncovering the entry of edge-oidc sets its redirect and post-logout URIs', async (t) => {
  const text = defaultConfigFile({ address: DEFAULT_ADDRESS })
  const begin = text.indexOf('#- binding: edge-oidc')
  const end = text.indexOf('\n\n', begin)
  const uncovered =
    text.slice(0, begin) + text.slice(begin, end).replaceAll('#', '') + text.slice(end)
  const { config } = await loadFile(t, uncovered)
  assert.deepEqual(config.listeners[0].apis.at(-1), {
    binding: 'edge-oidc',
    redirectPatterns: [
      { free: 'nothing', uri: 'https://app.example.com/callback' },
      { free: 'port', scheme: 'http:', host: '127.0.0.1', target: '/callback' },
    ],
    postLogoutPatterns: [{ free: 'nothing', uri: 'https://app.example.com/signed-out' }],
  })
})

test('uncovering an identity names its files, which must be there', async (t) => {
  const text = defaultConfigFile({ address: DEFAULT_ADDRESS })
  const uncovered = text.replace(/^#identity:\n(?:#.*\n)+/m, (block) => block.replaceAll('#', ''))
  await assert.rejects(loadFile(t, uncovered), (error) => {
    assert.ok(error instanceof ConfigProblems)
    assert.deepEqual(
      error.problems,
      ['cert', 'key', 'ca'].map((name) => ({
        path: `identity.${name}`,
        message: 'names a file that is not there or not readable',
      })),
    )
    return true
  })
})

test('no line of a new file is longer than 100 columns', () => {
  for (const line of defaultConfigFile({ address: DEFAULT_ADDRESS }).split('\n')) {
    assert.ok(line.length <= 100, line)
  }
})
