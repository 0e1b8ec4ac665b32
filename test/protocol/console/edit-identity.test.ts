/**
 * The form that changes an identity: the same use case, events and refusals as PATCH /identities/{id}, with what another
 * administrator does meanwhile. API 4.1; D-49, D-122, D-355, D-480.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertRefusedPage,
  codeOf,
  formTokenOf,
  openConsole,
  post,
} from '../../support/login/account.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a long enough passphrase'
const FIELDS = ['name', 'authPolicyId', 'externalId', 'roleAttributes', 'hosts', 'tags'] as const
type Form = Record<string, string>

test('an identity is changed in the console', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const second = await admin.createIdentity({ name: 'Second', password: PASSWORD, isAdmin: true })
  const { browser, page } = await openConsole(service, second)
  const policy = await admin.createPolicy({ name: 'Contractors' })
  const pathOf = (id: string) => `/console/identities/${id}/edit`
  const stored = (id: string) => admin.get(`/identities/${id}`)
  const create = (more: object = {}) =>
    admin.createIdentity({ password: PASSWORD, ...more } as Parameters<
      typeof admin.createIdentity
    >[0])

  /** The form as a browser would send it: what the page has in its fields, and what was typed over it. */
  function filled(html: string, id: string, typed: Form): readonly (readonly [string, string])[] {
    const form = { ...valuesIn(html), ...typed }
    const hidden = [...html.matchAll(/name="(seen|agreed)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, unescaped(value)] as const,
    )
    return [['formToken', formTokenOf(html, pathOf(id))], ...hidden, ...Object.entries(form)]
  }
  const send = (html: string, id: string, typed: Form, by = browser) =>
    post(service, by, pathOf(id), filled(html, id, typed) as [string, string][])
  const save = async (id: string, typed: Form) => send(await page(pathOf(id)), id, typed)
  const eventsOf = async (id: string) => {
    const filter = encodeURIComponent(`identityId = "${id}" and actorName = "Second"`)
    return admin.get(`/events?filter=${filter}&sort=at`)
  }

  await t.test('every field is changed, with the event of the management API', async () => {
    const person = await create({
      name: 'Before',
      roleAttributes: ['old'],
      tags: { kept: 3 },
      appData: { theme: 'dark' },
    })
    assert.ok(
      (await page(`/console/identities/${person.id}`)).includes(`href="${pathOf(person.id)}"`),
    )
    const html = await page(pathOf(person.id))
    assert.match(html, /<h1><bdi>Edit Before<\/bdi><\/h1>/)
    assert.doesNotMatch(html, /name="hosts"/, 'hosts are for routers')
    const reply = await send(html, person.id, {
      name: ' After <i> ',
      isAdmin: 'yes',
      authPolicyId: policy,
      externalId: 'after@example.com',
      roleAttributes: 'engineering\r\n  on call \r\n\r\n',
      tags: 'kept = 3\r\nteam = payments',
    })
    assert.equal(reply.status, 303, reply.text)
    assert.equal(reply.headers.location, `/console/identities/${person.id}`)
    assert.match(await page(`/console/identities/${person.id}`), /The identity was changed\./)
    const now = await stored(person.id)
    assert.deepEqual(
      [now.name, now.isAdmin, now.authPolicyId, now.externalId, now.roleAttributes],
      ['After <i>', true, policy, 'after@example.com', ['engineering', 'on call']],
    )
    assert.deepEqual([now.tags, now.appData], [{ kept: 3, team: 'payments' }, { theme: 'dark' }])
    const [event, ...others] = await eventsOf(person.id)
    assert.deepEqual([event.type, others], ['identity.updated', []])
    assert.deepEqual(event.details.changed.toSorted(), [
      'authPolicyId',
      'externalId',
      'isAdmin',
      'name',
      'roleAttributes',
      'tags',
    ])
    assert.deepEqual(event.details.changes.name, { from: 'Before', to: 'After <i>' })
    await admin.call('DELETE', `/identities/${person.id}`)
  })

  await t.test('what is cleared is gone, and saving without a change writes nothing', async () => {
    const person = await create({ externalId: 'x', roleAttributes: [' blank ', 'b'] })
    const same = await save(person.id, {})
    assert.equal(same.status, 303, same.text)
    assert.match(await page(`/console/identities/${person.id}`), /everything is as it was/)
    assert.deepEqual(await eventsOf(person.id), [])
    assert.deepEqual((await stored(person.id)).roleAttributes, [' blank ', 'b'])
    await save(person.id, { externalId: '', roleAttributes: '' })
    const { externalId, roleAttributes } = await stored(person.id)
    assert.deepEqual([externalId, roleAttributes], [null, []])
  })

  await t.test('the hosts of a router are changed too', async () => {
    const router = await create({ type: 'Router', hosts: ['gw1.example.com'], password: undefined })
    const reply = await save(router.id, { hosts: 'gw1.example.com\ngw2.example.com:8443' })
    assert.equal(reply.status, 303, reply.text)
    const { hosts } = await stored(router.id)
    assert.deepEqual(hosts, ['gw1.example.com', 'gw2.example.com:8443'])
    const refused = await save(router.id, { hosts: '*' })
    assert.equal(await codeOf(service, refused), 'COULD_NOT_VALIDATE')
    assert.match(refused.text, /id="hosts-fault">The list of hosts must be HOST or HOST:PORT/)
  })

  await t.test('a refusal is shown beside its field, and the input is kept', async () => {
    const taken = await create({ name: 'Taken', externalId: 'taken@example.com' })
    const person = await create({ name: 'Refused' })
    const typed = { name: 'Renamed', externalId: 'mine@example.com', roleAttributes: 'a\nb' }
    for (const [field, value, status, code, sentence] of [
      ['name', taken.name, 409, 'ENTITY_NAME_IN_USE', 'This name is already taken.'],
      ['name', 'a\u0007b', 400, 'COULD_NOT_VALIDATE', 'The name must be one line of text'],
      ['name', '', 400, 'COULD_NOT_VALIDATE', 'The name must not be empty.'],
      [
        'externalId',
        'taken@example.com',
        409,
        'ENTITY_NAME_IN_USE',
        'This external ID is already taken.',
      ],
      ['authPolicyId', 'gone', 400, 'COULD_NOT_VALIDATE', 'This policy no longer exists.'],
      [
        'roleAttributes',
        'r'.repeat(257),
        400,
        'COULD_NOT_VALIDATE',
        'Each role must have at most 256 characters.',
      ],
      ['tags', 'no value', 400, 'COULD_NOT_VALIDATE', 'The list of tags has a line that is not'],
    ] as const) {
      const reply = await save(person.id, { ...typed, [field]: value })
      assert.equal(reply.status, status, reply.text)
      assert.equal(await codeOf(service, reply), code)
      const { text } = reply
      assert.match(text, /<title>Error: Edit Refused/)
      assert.ok(text.includes(`<a href="#${field}">${sentence}`), 'the alert leads to the field')
      assert.ok(text.includes(`id="${field}-fault">${sentence}`), text)
      assert.match(
        text,
        new RegExp(`<(?:input|select|textarea)[^>]* id="${field}"[^>]* aria-invalid="true"`),
      )
      const shown = valuesIn(text)
      for (const one of ['name', 'externalId', 'roleAttributes'] as const) {
        if (one !== field) assert.equal(shown[one], typed[one], `${field}: ${one} stays`)
      }
    }
    assert.equal((await stored(person.id)).name, 'Refused')
    assert.deepEqual(await eventsOf(person.id), [])
  })

  await t.test('changes that end sessions ask first, and say how many', async () => {
    const person = await create({ name: 'Signed In' })
    await logInAs(service, person)
    await logInAs(service, person)
    const asked = await save(person.id, { authPolicyId: policy, name: 'Still Signed In' })
    assert.equal(asked.status, 200, asked.text)
    assert.match(asked.text, /Nothing is saved yet\./)
    assert.match(asked.text, /Saving ends 2 sessions of <bdi>Signed In<\/bdi>\./)
    assert.equal((await stored(person.id)).name, 'Signed In')
    assert.equal(valuesIn(asked.text)['name'], 'Still Signed In')
    // Agreeing to one change is not agreeing to another.
    const more = await send(asked.text, person.id, { isAdmin: 'yes' })
    assert.equal(more.status, 200, more.text)
    assert.equal((await stored(person.id)).isAdmin, false)
    const saved = await send(asked.text, person.id, {})
    assert.equal(saved.status, 303, saved.text)
    assert.equal((await stored(person.id)).authPolicyId, policy)
    assert.deepEqual(await admin.get(`/identities/${person.id}/api-sessions`), [])
    const types = (await eventsOf(person.id)).map(({ type }: { type: string }) => type)
    assert.deepEqual(types.toSorted(), ['identity.updated', 'session.ended', 'session.ended'])
    // A name is in no token: nothing ends, and nothing is asked.
    await logInAs(service, person)
    assert.equal((await save(person.id, { name: 'Signed In' })).status, 303)
    assert.equal((await admin.get(`/identities/${person.id}/api-sessions`)).length, 1)
  })

  await t.test('what another administrator has changed meanwhile is not overwritten', async () => {
    const person = await create({ name: 'Shared', externalId: 'one', roleAttributes: ['a'] })
    const html = await page(pathOf(person.id))
    await admin.call('PATCH', `/identities/${person.id}`, {
      roleAttributes: ['theirs'],
      externalId: 'two',
    })
    // Different fields: both changes are kept.
    assert.equal((await send(html, person.id, { name: 'Mine' })).status, 303)
    const both = await stored(person.id)
    assert.deepEqual([both.name, both.roleAttributes, both.externalId], ['Mine', ['theirs'], 'two'])
    // The same field: nothing is saved before the administrator has seen the other value.
    const asked = await send(html, person.id, { name: 'Shared', roleAttributes: 'mine' })
    assert.equal(asked.status, 200, asked.text)
    assert.match(asked.text, /Another administrator has changed <bdi>Mine<\/bdi> since you opened/)
    assert.match(asked.text, /id="roleAttributes-fault">[^<]* it is “theirs” now\./)
    const shown = valuesIn(asked.text)
    assert.deepEqual([shown['roleAttributes'], shown['externalId']], ['mine', 'two'])
    assert.deepEqual((await stored(person.id)).roleAttributes, ['theirs'])
    assert.equal((await send(asked.text, person.id, {})).status, 303)
    assert.deepEqual((await stored(person.id)).roleAttributes, ['mine'])
  })

  await t.test('an identity that was deleted meanwhile is a page that leads on', async () => {
    const person = await create()
    const html = await page(pathOf(person.id))
    await admin.call('DELETE', `/identities/${person.id}`)
    const reply = await send(html, person.id, { name: 'Too Late' })
    await assertRefusedPage(service, reply, 404, 'NOT_FOUND')
    const back = /<a href="([^"]+)">Go back/.exec(reply.text)?.[1] ?? ''
    assert.equal((await browser.get(back)).status, 200, back)
    await assertRefusedPage(service, await browser.get(pathOf(person.id)), 404, 'NOT_FOUND')
  })

  await t.test('administrators who give up their own rights are signed out', async () => {
    const leaving = await openConsole(service, second)
    const html = await leaving.page(pathOf(second.id))
    const asked = await send(html, second.id, { isAdmin: '' }, leaving.browser)
    assert.match(asked.text, /which is you\. You will be signed out, and you will not get into/)
    const saved = await send(asked.text, second.id, { isAdmin: '' }, leaving.browser)
    assert.equal(saved.status, 303, saved.text)
    assert.equal((await leaving.browser.get('/console/identities')).status, 302)
    assert.equal((await stored(second.id)).isAdmin, false)
  })

  await t.test('the last administrator stays one', async () => {
    const only = await openConsole(service)
    const { id } = (await admin.get('/identities?filter=name%20%3D%20%22admin%22'))[0]
    const html = await only.page(pathOf(id))
    const asked = await send(html, id, { isAdmin: '' }, only.browser)
    const refused = await send(asked.text, id, { isAdmin: '' }, only.browser)
    assert.equal(refused.status, 409, refused.text)
    assert.equal(await codeOf(service, refused), 'LAST_ADMINISTRATOR')
    assert.match(refused.text, /id="isAdmin-fault">This is the last administrator who can log in\./)
    assert.equal((await stored(id)).isAdmin, true)
  })
})

/** What a browser would have in the fields of the page. */
function valuesIn(html: string): Form {
  const values: Form = {}
  for (const name of FIELDS) {
    const area = new RegExp(`<textarea[^>]* name="${name}"[^>]*>\n([^<]*)<`).exec(html)?.[1]
    const select = new RegExp(`<select[^>]* name="${name}"[^>]*>(.*?)</select>`).exec(html)?.[1]
    const input = new RegExp(`<input[^>]* name="${name}"[^>]* value="([^"]*)"`).exec(html)?.[1]
    const value = area ?? /value="([^"]*)" selected/.exec(select ?? '')?.[1] ?? input
    if (value !== undefined) values[name] = unescaped(value)
  }
  if (/name="isAdmin" value="yes" checked/.test(html)) values['isAdmin'] = 'yes'
  return values
}

function unescaped(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}
