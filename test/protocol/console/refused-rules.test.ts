/** A refused form of a policy, signer or CA: the reason is shown beside its field, and the input is kept. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { codeOf, filledIn, formFields, openConsole, post } from '../../support/login/account.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
type Typed = Readonly<Record<string, string | readonly string[] | undefined>>

test('a refusal is shown beside its field, and the input is kept', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const { browser, page: read } = await openConsole(service)
  const { pem } = await openssl.makeCa()
  const signer = await admin.createSigner({ issuer: 'https://refused.example', name: 'Refused' })
  await admin.createSigner({ issuer: 'https://taken.example', name: 'Taken' })
  const ca = await admin.createCa({ name: 'Refused', certPem: pem })
  const unproven = await admin.createCa({ name: 'Taken', certPem: (await openssl.makeCa()).pem })
  const policy = await admin.createPolicy({ name: 'Refused' })
  await admin.createPolicy({ name: 'Taken' })
  const onePolicy = [`/console/policies/${policy}`, `/console/policies/${policy}/preview`] as const
  const newPolicy = ['/console/policies/new', '/console/policies'] as const
  const oneSigner = [`/console/signers/${signer}`, `/console/signers/${signer}`] as const
  const byHand = ['/console/signers/new?by=hand', '/console/signers/by-hand'] as const
  const newSigner = ['/console/signers/new', '/console/signers'] as const
  const oneCa = [`/console/cas/${ca}`, `/console/cas/${ca}`] as const
  const newCa = ['/console/cas/new', '/console/cas'] as const
  const proof = [`/console/cas/${unproven}`, `/console/cas/${unproven}/verify`] as const
  const none = {
    allowPassword: undefined,
    allowCert: undefined,
    allowExtJwt: undefined,
    allowPasskey: undefined,
  }
  const filled = { name: 'Hand', issuer: 'https://hand.example', audience: 'a' }
  const taken = 'This name is already taken.'
  const cases: readonly (readonly [
    form: readonly [page: string, action: string],
    typed: Typed,
    field: string,
    status: number,
    code: string,
    sentence: string,
  ])[] = [
    [onePolicy, { name: 'Taken' }, 'name', 409, 'ENTITY_NAME_IN_USE', taken],
    [newPolicy, { name: 'Taken' }, 'name', 409, 'ENTITY_NAME_IN_USE', taken],
    [
      onePolicy,
      { maxAttempts: 'x' },
      'maxAttempts',
      400,
      'COULD_NOT_VALIDATE',
      'The number of failures before a lock must be a number.',
    ],
    [
      newPolicy,
      { name: 'New', minPasswordLength: '2' },
      'minPasswordLength',
      400,
      'COULD_NOT_VALIDATE',
      'The length of the shortest password must be',
    ],
    [
      onePolicy,
      none,
      'allowPassword',
      400,
      'COULD_NOT_VALIDATE',
      'The policy must allow at least one method.',
    ],
    [
      onePolicy,
      { allowedSigners: ['nothing'] },
      'allowedSigners',
      400,
      'COULD_NOT_VALIDATE',
      'This signer no longer exists.',
    ],
    [
      onePolicy,
      { requireExtJwt: 'nothing' },
      'requireExtJwt',
      400,
      'COULD_NOT_VALIDATE',
      'This signer no longer exists.',
    ],
    [
      onePolicy,
      { tags: 'nothing' },
      'tags',
      400,
      'COULD_NOT_VALIDATE',
      'The list of tags has a line that is not',
    ],
    [oneSigner, { name: 'Taken' }, 'name', 409, 'ENTITY_NAME_IN_USE', taken],
    [
      oneSigner,
      { issuer: 'https://taken.example' },
      'issuer',
      409,
      'ENTITY_NAME_IN_USE',
      'This issuer is already taken.',
    ],
    [
      oneSigner,
      { certPem: pem },
      'jwksEndpoint',
      400,
      'COULD_NOT_VALIDATE',
      'Enter either the URL of the key set or a certificate.',
    ],
    [
      oneSigner,
      { kid: 'k' },
      'kid',
      400,
      'COULD_NOT_VALIDATE',
      'The ID of the key is only allowed with a certificate',
    ],
    [
      oneSigner,
      { jwksEndpoint: '', certPem: 'x' },
      'certPem',
      400,
      'INVALID_CERT_PEM',
      'This is not one certificate in PEM',
    ],
    [
      oneSigner,
      { claimsProperty: '/~' },
      'claimsProperty',
      400,
      'COULD_NOT_VALIDATE',
      'The claim that names the identity must be',
    ],
    [
      oneSigner,
      { externalAuthUrl: 'ftp://x' },
      'externalAuthUrl',
      400,
      'COULD_NOT_VALIDATE',
      'The sign-in URL must be a URL with https.',
    ],
    [
      byHand,
      { ...filled, jwksEndpoint: 'ftp://x' },
      'jwksEndpoint',
      400,
      'COULD_NOT_VALIDATE',
      'The URL of the key set must be a URL with https.',
    ],
    [
      newSigner,
      { url: 'https://127.0.0.1:1', name: 'New', clientId: 'app' },
      'url',
      400,
      'COULD_NOT_VALIDATE',
      'The URL',
    ],
    [oneCa, { name: 'Taken' }, 'name', 409, 'ENTITY_NAME_IN_USE', taken],
    [
      oneCa,
      { location: 'COMMON_NAME', matcher: 'PREFIX' },
      'matcherCriteria',
      400,
      'COULD_NOT_VALIDATE',
      'Enter the text if only some values count',
    ],
    [
      oneCa,
      { location: 'COMMON_NAME', parserCriteria: ':' },
      'parserCriteria',
      400,
      'COULD_NOT_VALIDATE',
      'Enter a separator if only a part counts',
    ],
    [
      oneCa,
      { location: 'COMMON_NAME', index: '101' },
      'index',
      400,
      'COULD_NOT_VALIDATE',
      'The number of the part must be',
    ],
    [
      oneCa,
      { identityRoles: 'r'.repeat(257) },
      'identityRoles',
      400,
      'COULD_NOT_VALIDATE',
      'Each role must have at most 256 characters.',
    ],
    [
      newCa,
      { name: 'New', certPem: 'x' },
      'certPem',
      400,
      'INVALID_CERT_PEM',
      'This is not one certificate in PEM',
    ],
    [
      newCa,
      { name: 'New', certPem: pem },
      'certPem',
      409,
      'CERT_IN_USE',
      'The certificate is already in use.',
    ],
    [
      newCa,
      { name: 'Taken', certPem: (await openssl.makeCa()).pem },
      'name',
      409,
      'ENTITY_NAME_IN_USE',
      taken,
    ],
    [
      proof,
      { proof: pem },
      'proof',
      400,
      'INVALID_COMMON_NAME',
      'The common name of the certificate is not the verification token',
    ],
  ]
  for (const [[page, action], typed, field, status, code, sentence] of cases) {
    const at = `${action} ${JSON.stringify(typed)}`
    const html = await read(page)
    const form = filledIn(html, action, { tags: 'typed = 1', ...typed })
    const reply = await post(service, browser, action, form)
    const { text } = reply
    assert.equal(await codeOf(service, reply), code, at)
    assert.equal(reply.status, status, at)
    assert.match(text, /<title>Error: /)
    assert.ok(text.includes(`<a href="#${field}">${sentence}`), `${at}: ${text}`)
    assert.ok(text.includes(`id="${field}-fault">${sentence}`), `${at}: ${text}`)
    assert.match(text, new RegExp(` id="${field}"[^>]* aria-describedby="${field}-fault`), at)
    assert.equal(text.match(/class="fault"/g)?.length, 1, at)
    const shown = new Map(formFields(text, action))
    for (const [name, value] of Object.entries(typed)) {
      const isKept = value !== 'nothing' && typeof value === 'string'
      if (isKept) assert.equal(shown.get(name)?.trim(), value.trim(), `${at}: ${name}`)
    }
  }
})
