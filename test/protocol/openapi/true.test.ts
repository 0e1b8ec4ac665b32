/** What the OpenAPI documents say about requests is what the service does with them. D-309. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { administrate, MANAGEMENT } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

interface Parameter {
  readonly name: string
  readonly schema: { readonly examples?: readonly string[] }
}

type Schema = {
  readonly type?: string
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Operation {
  readonly parameters: readonly Parameter[]
  readonly requestBody: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } }
  }
}

async function readPaths(
  service: Service,
  prefix = MANAGEMENT,
): Promise<Readonly<Record<string, Readonly<Record<string, Operation>>>>> {
  return (await service.call(`${prefix}/openapi.json`)).json().paths
}

test('a list accepts the example of its sort, and one without fields describes none', async (t) => {
  const service = await startService(t)
  const { token } = await administrate(service)
  for (const prefix of ['/edge/client/v1', MANAGEMENT]) {
    const call = (path: string) =>
      service.call(`${prefix}${path}`, { headers: { authorization: `Bearer ${token}` } })
    for (const [path, { get }] of Object.entries(await readPaths(service, prefix))) {
      const parameters = get?.parameters ?? []
      if (path.includes('{') || !parameters.some(({ name }) => name === 'limit')) continue
      await t.test(`${prefix}${path}`, async () => {
        const { filterableFields } = (await call(path)).json().meta
        const sort = parameters.find(({ name }) => name === 'sort')
        assert.equal(sort !== undefined, filterableFields.length > 0)
        for (const example of sort?.schema.examples ?? []) {
          const reply = await call(`${path}?sort=${encodeURIComponent(example)}`)
          assert.equal(reply.status, 200, example)
        }
      })
    }
  }
})

test('a PATCH allows null for what it clears, and for nothing that stays', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const paths = await readPaths(service)
  const { properties = {} } =
    paths['/identities/{id}']?.['patch']?.requestBody.content['application/json'].schema ?? {}
  assert.ok(Object.keys(properties).length > 5)
  for (const [name, { type, anyOf = [] }] of Object.entries(properties)) {
    await t.test(name, async () => {
      const { id } = await admin.createIdentity()
      const reply = await admin.call('PATCH', `/identities/${id}`, { [name]: null })
      const isAllowed = type === 'null' || anyOf.some((one) => one.type === 'null')
      assert.equal(reply.status, isAllowed ? 200 : 400)
      if (isAllowed) return
      assert.equal(reply.json().error.code, 'COULD_NOT_VALIDATE')
      assert.deepEqual(reply.json().error.cause, { field: name, reason: 'is missing' })
    })
  }
})

test('a call that ignores its body allows any', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const paths = await readPaths(service)
  const path = '/current-identity/mfa'
  const schema = paths[path]?.['post']?.requestBody.content['application/json'].schema
  assert.deepEqual(schema, { description: 'Ignored.' })
  const reply = await admin.call('POST', path, [-5])
  assert.equal(reply.status, 201)
})
