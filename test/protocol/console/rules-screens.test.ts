/**
 * The screens about the installation as a whole, without a browser: every page renders, a change goes through the use case
 * of the API with its event and actor, and what anyone can name is never markup. D-365 to D-372, R071.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { startLoginIdp } from '../../support/idp/login-idp.ts'
import { formFields, openConsole, post } from '../../support/login/account.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const EVIL = `<img src=x onerror=alert(1)>"'&`

test('screens of the installation as a whole', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const policy = await admin.createPolicy({ name: `strict ${EVIL}` })
  const password = 'a password of somebody'
  await admin.createIdentity({ name: `Ann ${EVIL}`, username: 'ann', password, policy })
  const signer = await admin.createSigner({
    issuer: `https://idp.example/${EVIL}`,
    name: `Partner ${EVIL}`,
    audience: EVIL,
    claimsProperty: EVIL,
  })
  const leaf = await openssl.makeLeaf(await openssl.makeCa())
  await admin.createIdentity({ name: `Laptop ${EVIL}`, certPem: leaf.pem })
  await admin.createIdentity({ name: `Router ${EVIL}`, type: 'Router' })
  const factory = await openssl.makeCa()
  const ca = await admin.createCa({ name: `Factory ${EVIL}`, certPem: factory.pem })
  const { browser } = await openConsole(service, undefined, '/console')
  const newest = async (type: string) => {
    const filter = encodeURIComponent(`type = "${type}"`)
    return (await admin.get(`/events?filter=${filter}&limit=1`))[0]
  }
  const send = async (
    page: string,
    action: string,
    fields: readonly (readonly [string, string])[],
  ) => {
    const { text } = await browser.get(page)
    return post(service, browser, action, [...ownFields(text, action), ...fields])
  }

  await t.test('every screen renders, and names are text', async () => {
    for (const path of [
      '',
      '/policies',
      '/policies/new',
      `/policies/${policy}`,
      '/signers',
      '/signers/new',
      `/signers/${signer}`,
      '/cas',
      '/cas/new',
      `/cas/${ca}`,
      '/expiry',
      '/expiry?kind=enrolled-certificate',
      `/expiry?kind=${encodeURIComponent(EVIL)}`,
      '/routers',
      '/configuration',
    ]) {
      const { status, text } = await browser.get(`/console${path}`)
      assert.equal(status, 200, `${path}: ${text}`)
      assert.doesNotMatch(text, /<img/, path)
      assert.doesNotMatch(text, / style=| on\w+="|<style|<script>|javascript:/, path)
    }
    for (const path of ['/policies/nothing', '/signers/nothing', '/cas/nothing']) {
      assert.equal((await browser.get(`/console${path}`)).status, 404, path)
    }
  })

  const FORM: readonly (readonly [string, string])[] = [
    ['name', 'renamed'],
    ['allowCert', 'yes'],
    ['minPasswordLength', '12'],
    ['maxAttempts', '5'],
    ['lockoutDurationMinutes', '15'],
    ['requirePasskey', 'yes'],
    ['requireExtJwt', ''],
    ['tags', 'team = payments'],
  ]

  await t.test('a preview saves nothing, and saving leaves the event of the API', async () => {
    const page = `/console/policies/${policy}`
    const shown = await send(page, `${page}/preview`, FORM)
    assert.equal(shown.status, 200, shown.text)
    assert.match(shown.text, /1 identity could no longer sign in/)
    assert.match(shown.text, /password: The policy no longer allows the method of the login\./)
    assert.equal((await admin.get(`/auth-policies/${policy}`)).primary.updb.allowed, true)
    const saved = await post(service, browser, page, [...ownFields(shown.text, page), ...FORM])
    assert.equal(saved.status, 303, saved.text)
    const { name, primary, secondary, tags } = await admin.get(`/auth-policies/${policy}`)
    assert.deepEqual([secondary.requirePasskey, secondary.requireTotpOrPasskey], [true, false])
    assert.deepEqual([name, primary.updb.allowed, primary.cert.allowed], ['renamed', false, true])
    assert.deepEqual(tags, { team: 'payments' })
    const event = await newest('policy.updated')
    assert.deepEqual(event.details.changed.toSorted(), ['name', 'primary', 'secondary', 'tags'])
    assert.ok(event.actorId !== null)
  })

  await t.test('a policy that is not valid is shown again, as it was filled in', async () => {
    const page = `/console/policies/${policy}`
    const none = FORM.filter(([name]) => name !== 'allowCert')
    const refused = await send(page, `${page}/preview`, none)
    assert.match(refused.text, /The policy must allow at least one method\./)
    assert.match(refused.text, /value="12"/)
    const text = [...FORM.filter(([name]) => name !== 'maxAttempts'), ['maxAttempts', 'x'] as const]
    assert.match(
      (await send(page, `${page}/preview`, text)).text,
      /The number of failures before a lock must be a number\./,
    )
    const last = '/console/policies/default'
    const locked = await send(last, `${last}/preview`, [...FORM.slice(1), ['name', 'default']])
    assert.match(locked.text, /This cannot be saved/)
    assert.doesNotMatch(locked.text, /Save the change/)
  })

  await t.test('a policy is created and deleted', async () => {
    const made = await send(
      '/console/policies/new',
      '/console/policies',
      FORM.with(0, ['name', 'new one']),
    )
    assert.equal(made.status, 303, made.text)
    const path = made.headers.location ?? ''
    assert.match((await browser.get(path)).text, /<h1><bdi>new one<\/bdi><\/h1>/)
    assert.equal((await send(path, `${path}/delete`, [])).headers.location, '/console/policies')
    assert.equal((await browser.get(path)).status, 404)
  })

  await t.test('a signer is made of its discovery document in one step', async (t) => {
    const idp = await startLoginIdp(t, service)
    const fields = [
      ['url', idp.issuer],
      ['name', 'Found'],
      ['clientId', 'app'],
      ['audience', ''],
    ] as const
    const made = await send('/console/signers/new', '/console/signers', fields)
    assert.equal(made.status, 303, made.text)
    const id = (made.headers.location ?? '').split('/').at(-1)
    const { issuer, audience, targetToken, externalAuthUrl } = await admin.get(
      `/external-jwt-signers/${id}`,
    )
    assert.deepEqual(
      [issuer, audience, targetToken, externalAuthUrl],
      [idp.issuer, 'app', 'ID', idp.issuer],
    )
    const again = await send('/console/signers/new', '/console/signers', fields)
    assert.match(again.text, /This name is already taken\./)
  })

  await t.test('a signer is checked, changed, disabled, enabled and deleted', async () => {
    const page = `/console/signers/${signer}`
    const checked = await send(page, `${page}/check`, [['jwt', EVIL]])
    assert.match(checked.text, /A login with this token would be refused/)
    assert.doesNotMatch(checked.text, /<img/)
    assert.equal((await send(page, page, SIGNER)).status, 303)
    const changed = await admin.get(`/external-jwt-signers/${signer}`)
    const { id: _, _links, createdAt, updatedAt, keys, lastFetchedAt, lastError, ...rest } = changed
    assert.deepEqual(rest, {
      name: 'Other',
      issuer: 'https://other.example',
      audience: 'a',
      jwksEndpoint: 'https://other.example/keys',
      certPem: null,
      kid: null,
      claimsProperty: '/email',
      useExternalId: false,
      externalAuthUrl: 'https://other.example',
      clientId: 'app',
      scopes: ['openid', 'email'],
      targetToken: 'ID',
      enabled: true,
      tags: { team: EVIL, level: 3 },
      fingerprint: null,
      commonName: null,
      notBefore: null,
      notAfter: null,
    })
    // What the page shows is what it sends: saving it unchanged changes nothing.
    const { text } = await browser.get(page)
    assert.equal((await send(page, page, typedFields(text, page))).status, 303)
    const { updatedAt: _again, ...same } = await admin.get(`/external-jwt-signers/${signer}`)
    const { updatedAt: _before, ...before } = changed
    assert.deepEqual(same, before)
    const both = [...SIGNER, ['certPem', factory.pem] as const]
    const twoKeys = await send(page, page, both)
    assert.match(twoKeys.text, /Enter either the URL of the key set or a certificate\./)
    assert.match(twoKeys.text, /BEGIN CERTIFICATE/)
    const noTag = SIGNER.with(-1, ['tags', 'nothing'])
    assert.match((await send(page, page, noTag)).text, /The list of tags has a line that is not/)
    await send(page, `${page}/disable`, [])
    assert.equal((await admin.get(`/external-jwt-signers/${signer}`)).enabled, false)
    await send(page, `${page}/enable`, [])
    assert.equal((await admin.get(`/external-jwt-signers/${signer}`)).enabled, true)
    assert.equal((await send(page, `${page}/delete`, [])).status, 303)
    assert.equal((await newest('external-jwt-signer.deleted')).details.id, signer)
  })

  await t.test('a signer with a certificate is entered by hand', async () => {
    const page = '/console/signers/new?by=hand'
    const fields = SIGNER.map(([name, value]): readonly [string, string] => {
      if (name === 'jwksEndpoint') return ['certPem', factory.pem]
      if (name === 'issuer') return ['issuer', 'https://by-hand.example']
      return name === 'name' ? ['name', 'By hand'] : [name, value]
    })
    const made = await send(page, '/console/signers/by-hand', [...fields, ['kid', 'key-1']])
    assert.equal(made.status, 303, made.text)
    const id = (made.headers.location ?? '').split('/').at(-1)
    const { certPem, kid, jwksEndpoint } = await admin.get(`/external-jwt-signers/${id}`)
    assert.deepEqual([certPem, kid, jwksEndpoint], [factory.pem, 'key-1', null])
    const again = await send(page, '/console/signers/by-hand', fields)
    assert.match(again.text, /This name is already taken\./)
    assert.match(again.text, /value="By hand"/)
  })

  await t.test('a CA is added, verified, changed and deleted', async () => {
    const page = `/console/cas/${ca}`
    const { verificationToken } = await admin.get(`/cas/${ca}`)
    assert.ok((await browser.get(page)).text.includes(verificationToken))
    const wrong = await openssl.makeLeaf(factory, { subject: '/CN=wrong' })
    const refused = await send(page, `${page}/verify`, [['proof', wrong.pem]])
    assert.match(refused.text, /common name of the certificate is not the verification token/)
    const proof = await openssl.makeLeaf(factory, { subject: `/CN=${verificationToken}` })
    assert.equal((await send(page, `${page}/verify`, [['proof', proof.pem]])).status, 303)
    assert.equal((await send(page, page, CA)).status, 303)
    const changed = await admin.get(`/cas/${ca}`)
    const { name, isVerified, isAuthEnabled, isOttCaEnrollmentEnabled } = changed
    assert.deepEqual(
      [name, isVerified, isAuthEnabled, isOttCaEnrollmentEnabled],
      ['Works', true, false, true],
    )
    assert.deepEqual(
      [changed.identityRoles, changed.identityNameFormat, changed.tags],
      [['devices', 'berlin'], '[commonName]', { site: 'Berlin' }],
    )
    assert.deepEqual(changed.externalIdClaim, {
      location: 'SAN_URI',
      matcher: 'PREFIX',
      matcherCriteria: 'urn:device:',
      parser: 'SPLIT',
      parserCriteria: ':',
      index: 1,
    })
    assert.equal(
      (await send(page, page, typedFields((await browser.get(page)).text, page))).status,
      303,
    )
    assert.deepEqual(
      (await admin.get(`/cas/${ca}`)).externalIdClaim,
      changed.externalIdClaim,
      'what the page shows is what it sends',
    )
    const wrongClaim = CA.map(([name, value]): readonly [string, string] =>
      name === 'matcher' ? [name, 'ALL'] : [name, value],
    )
    assert.match(
      (await send(page, page, wrongClaim)).text,
      /Enter the text if only some values count/,
    )
    const none = CA.map(([name, value]): readonly [string, string] =>
      name === 'location' ? [name, ''] : [name, value],
    )
    assert.equal((await send(page, page, none)).status, 303)
    assert.equal((await admin.get(`/cas/${ca}`)).externalIdClaim, null)
    const other = await openssl.makeCa()
    const made = await send('/console/cas/new', '/console/cas', [
      ['name', 'Second'],
      ['certPem', other.pem],
    ])
    assert.match(made.headers.location ?? '', /^\/console\/cas\/\w+/)
    const bad = await send('/console/cas/new', '/console/cas', [
      ['name', 'Third'],
      ['certPem', EVIL],
    ])
    assert.match(bad.text, /not one certificate in PEM/)
    assert.equal((await send(page, `${page}/delete`, [])).headers.location, '/console/cas')
  })
})

const SIGNER: readonly (readonly [string, string])[] = [
  ['name', 'Other'],
  ['issuer', 'https://other.example'],
  ['audience', 'a'],
  ['jwksEndpoint', 'https://other.example/keys'],
  ['claimsProperty', '/email'],
  ['externalAuthUrl', 'https://other.example'],
  ['clientId', 'app'],
  ['scopes', ' openid  email '],
  ['targetToken', 'ID'],
  ['tags', `team = ${EVIL}\r\nlevel = 3`],
]

const CA: readonly (readonly [string, string])[] = [
  ['name', 'Works'],
  ['isOttCaEnrollmentEnabled', 'yes'],
  ['identityRoles', 'devices\r\n\r\n berlin '],
  ['identityNameFormat', '[commonName]'],
  ['location', 'SAN_URI'],
  ['matcher', 'PREFIX'],
  ['matcherCriteria', 'urn:device:'],
  ['parser', 'SPLIT'],
  ['parserCriteria', ':'],
  ['index', '1'],
  ['tags', 'site = Berlin'],
]

/** What our page writes into a form, and what is filled in. */
const isOwn = ([name]: readonly [string, string]) => name === 'formToken' || name === 'seen'
const ownFields = (text: string, action: string) => formFields(text, action).filter(isOwn)
const typedFields = (text: string, action: string) =>
  formFields(text, action).filter((pair) => !isOwn(pair))
