/** The keys as data, the page made from them, and the suggestions for unknown ones. D-43, D-46. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { configurationPage, PAGE } from '../../scripts/write-docs.ts'
import { allKeys, formatPath, keyAt, suggestKey } from './keys.ts'

test('docs/configuration.md is what npm run docs writes', () => {
  assert.equal(readFileSync(PAGE, 'utf8'), configurationPage())
})

test('every key has a type, a rule that is a sentence, and a default, an example or a duty', () => {
  for (const { path, facts, usual, mayBeLeftOut, children } of allKeys()) {
    assert.notEqual(facts.type, '', path)
    assert.match(facts.rule, /^[A-Z`].*\.$/, path)
    const isShown = !mayBeLeftOut || usual !== undefined || facts.example !== undefined
    assert.ok(isShown || children.length > 0, path)
  }
})

test('the keys are those of D-46 whose features exist', () => {
  const leaves = allKeys().filter(({ children }) => children.length === 0)
  assert.deepEqual(
    leaves.map(({ path }) => path),
    [
      'v',
      'db',
      'workers',
      'trustDomain',
      'secret.file',
      'secret.environment',
      'identity.cert',
      'identity.key',
      'identity.ca',
      'web[].name',
      'web[].bindPoints[].interface',
      'web[].bindPoints[].address',
      'web[].identity.cert',
      'web[].identity.key',
      'web[].identity.ca',
      'web[].options.minTLSVersion',
      'web[].options.maxTLSVersion',
      'web[].options.strictTransportSecurity',
      'web[].options.timeouts.header',
      'web[].options.timeouts.request',
      'web[].options.timeouts.idle',
      'web[].options.timeouts.write',
      'web[].proxyProtocol.trustedSources',
      'web[].apis[].binding',
      'web[].apis[].options.redirectURIs',
      'web[].apis[].options.postLogoutURIs',
      'edge.brand',
      'edge.compatibility',
      'edge.api.address',
      'edge.api.disableOidcAutoBinding',
      'edge.api.corsOrigins',
      'edge.api.sessionTimeout',
      'edge.api.sessionCertificateDuration',
      'edge.oidc.accessTokenDuration',
      'edge.oidc.idTokenDuration',
      'edge.oidc.refreshTokenDuration',
      'edge.oidc.refreshRetryWindow',
      'edge.oidc.maxSessionDuration',
      'edge.oidc.signingAlgorithm',
      'edge.oidc.idTokenAlgorithm',
      'edge.oidc.keyRotation',
      'edge.totp.hostname',
      'edge.enrollment.duration',
      'edge.enrollment.certificateDuration',
      'edge.passwords.hashing',
      'edge.passwords.queue',
      'edge.passwords.rejectCommon',
      'edge.limits.failuresPerAddress',
      'edge.limits.trustedProxies',
      'edge.externalJwtSigners.fetch.allowHttp',
      'edge.externalJwtSigners.fetch.blockPrivateAddresses',
      'edge.externalJwtSigners.fetch.allowed',
      'edge.externalJwtSigners.fetch.denied',
      'edge.audit.retention',
      'edge.audit.output',
      'sso.duration',
      'branding.name',
      'branding.logo',
      'branding.colors.accent',
      'branding.colors.accentDark',
      'branding.support',
      'log.level',
      'log.format',
      'notifications.webhook.url',
      'notifications.webhook.secret',
      'telemetry.traces.endpoint',
      'telemetry.traces.headers',
      'telemetry.traces.sampleRatio',
    ],
  )
})

test('a key is found by its path, list positions passed over', () => {
  assert.equal(keyAt(['web', 3, 'apis', 0, 'binding'])?.path, 'web[].apis[].binding')
  assert.equal(keyAt(['web', 'nothing']), undefined)
  assert.equal(keyAt([]), undefined)
})

const SUGGESTIONS: readonly [readonly PropertyKey[], string][] = [
  [['edge', 'oidc', 'acessTokenDuration'], 'did you mean edge.oidc.accessTokenDuration?'],
  [['edge', 'oidc', 'ACCESSTOKENDURATION'], 'did you mean edge.oidc.accessTokenDuration?'],
  [['web', 1, 'bindpoint'], 'did you mean web[1].bindPoints?'],
  [['edge', 'accessTokenDuration'], 'did you mean edge.oidc.accessTokenDuration?'],
  [['brand'], 'did you mean edge.brand?'],
  [['Web'], 'did you mean web?'],
  [['log', 'colour'], 'known here: level, format'],
  [['log', ''], 'known here: level, format'],
  [['log', 'x'.repeat(10_000)], 'known here: level, format'],
]

for (const [path, suggestion] of SUGGESTIONS) {
  test(`for ${formatPath(path).slice(0, 40)} the suggestion is: ${suggestion}`, () => {
    assert.equal(suggestKey(path), suggestion)
  })
}

test('a path quotes and shortens unknown names', () => {
  // Attack: a key with terminal escapes or line breaks would rewrite what the operator sees.
  assert.equal(formatPath(['edge', 'a\n\u001b[2J']), 'edge."a\\n\\u001b[2J"')
  assert.equal(formatPath(['x'.repeat(10_000)]), 'x'.repeat(64))
})
