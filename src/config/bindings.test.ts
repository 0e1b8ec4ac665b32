/** The cases of SPEC Authentication 8, sentence by sentence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NonEmpty } from '../base/non-empty.ts'
import { DEFAULT_REDIRECT_PATTERNS, parseRedirectPattern } from '../protocol/redirect-uri.ts'
import { bindApis } from './bindings.ts'
import type { Binding } from './config.ts'

interface Case {
  readonly sentence: string
  readonly disableOidcAutoBinding: boolean
  /** Each listener before and after, one letter an API: client, management, oidc, health checks, metrics (p). */
  readonly listed: readonly string[]
  readonly bound: readonly string[]
}

const CASES: readonly Case[] = [
  {
    sentence: 'edge-oidc is added to the listener that hosts edge-client',
    disableOidcAutoBinding: false,
    listed: ['cm'],
    bound: ['cmo'],
  },
  {
    sentence: 'edge-oidc is added to every listener that hosts edge-client, and to no other',
    disableOidcAutoBinding: false,
    listed: ['c', 'm', 'cm', 'mc'],
    bound: ['co', 'm', 'cmo', 'mco'],
  },
  {
    sentence: 'edge-oidc is added nowhere when no listener hosts edge-client',
    disableOidcAutoBinding: false,
    listed: ['m'],
    bound: ['m'],
  },
  {
    sentence: 'edge-oidc listed on one listener suppresses auto-binding on that listener',
    disableOidcAutoBinding: false,
    listed: ['co'],
    bound: ['co'],
  },
  {
    sentence: 'edge-oidc listed on one listener suppresses auto-binding on every other',
    disableOidcAutoBinding: false,
    listed: ['c', 'cm', 'o'],
    bound: ['c', 'cm', 'o'],
  },
  {
    sentence: 'edge-oidc listed before the listener with edge-client suppresses auto-binding too',
    disableOidcAutoBinding: false,
    listed: ['o', 'cm'],
    bound: ['o', 'cm'],
  },
  {
    sentence: 'edge-oidc listed beside edge-management alone counts as explicit',
    disableOidcAutoBinding: false,
    listed: ['mo', 'c'],
    bound: ['mo', 'c'],
  },
  {
    sentence: 'with disableOidcAutoBinding, OIDC is served only where it is listed',
    disableOidcAutoBinding: true,
    listed: ['cm', 'c'],
    bound: ['cm', 'c'],
  },
  {
    sentence: 'with disableOidcAutoBinding OIDC exists only on listeners that list edge-oidc',
    disableOidcAutoBinding: true,
    listed: ['cm', 'co', 'o'],
    bound: ['cm', 'co', 'o'],
  },
  {
    sentence: 'health-checks and metrics neither attract edge-oidc nor suppress it',
    disableOidcAutoBinding: false,
    listed: ['h', 'p', 'hp', 'chp', 'm'],
    bound: ['h', 'p', 'hp', 'chpo', 'm'],
  },
]

const LETTERS: Readonly<Record<string, Binding>> = {
  c: 'edge-client',
  m: 'edge-management',
  o: 'edge-oidc',
  h: 'health-checks',
  p: 'metrics',
}

for (const { sentence, disableOidcAutoBinding, listed, bound } of CASES) {
  test(sentence, () => {
    const listeners = listed.map((letters) => listing(...bindingsOf(letters)))
    const apis = bindApis(listeners, disableOidcAutoBinding)
    assert.deepEqual(
      apis.map((each) => each.map(({ binding }) => binding)),
      bound.map((letters) => bindingsOf(letters)),
    )
  })
}

const DEFAULTS = {
  redirectPatterns: DEFAULT_REDIRECT_PATTERNS,
  postLogoutPatterns: DEFAULT_REDIRECT_PATTERNS,
}

test('an auto-bound edge-oidc allows the default callbacks', () => {
  const [apis] = bindApis([listing('edge-client')], false)
  assert.deepEqual(apis, [{ binding: 'edge-client' }, { binding: 'edge-oidc', ...DEFAULTS }])
})

test('a listed edge-oidc without redirectURIs allows the default callbacks', () => {
  const [apis] = bindApis([listing('edge-oidc')], true)
  assert.deepEqual(apis, [{ binding: 'edge-oidc', ...DEFAULTS }])
})

for (const option of ['redirectPatterns', 'postLogoutPatterns'] as const) {
  test(`a configured list of ${option} replaces the default, and only its own`, () => {
    // D-8
    const reading = parseRedirectPattern('https://app.example.com/callback')
    assert.ok(reading.ok)
    const configured = { [option]: [reading.pattern] }
    const [apis] = bindApis([[{ binding: 'edge-oidc', ...configured }]], false)
    assert.deepEqual(apis, [{ binding: 'edge-oidc', ...DEFAULTS, ...configured }])
  })
}

function bindingsOf(letters: string): [Binding, ...Binding[]] {
  const [first, ...rest] = [...letters].map((letter) => LETTERS[letter] ?? 'edge-client')
  assert.ok(first)
  return [first, ...rest]
}

function listing(...[first, ...rest]: [Binding, ...Binding[]]): NonEmpty<{ binding: Binding }> {
  return [{ binding: first }, ...rest.map((binding) => ({ binding }))]
}
