/**
 * The OpenAPI documents are whole and true: valid by a validator that is not ours, every route in them with the statuses
 * that it declares, and an answer that does not fit is noticed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { CATALOGUE } from '../../src/errors/catalogue.ts'
import { APIS, type ApiBinding } from '../../src/http/edge-api/api.ts'
import { codesOf } from '../../src/http/openapi/codes.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import { ALWAYS, isShape } from '../../src/http/route.ts'
import { apiRoutes, checkApiAnswer } from '../support/api-answers.ts'

const BINDINGS = Object.keys(APIS) as readonly ApiBinding[]

for (const binding of BINDINGS) {
  const api = APIS[binding]
  const routes = apiRoutes(binding)

  test(`the document of ${binding} is valid OpenAPI 3.1`, async () => {
    const document = openApiDocument(api, routes, { version: '1.0.0', answers: 'open' })
    const validator = new Validator()
    const result = await validator.validate(JSON.parse(JSON.stringify(document)))
    assert.ok(result.valid, JSON.stringify(result.errors))
    assert.equal(validator.version, '3.1')
  })

  test(`every reference in the document of ${binding} leads somewhere, and no component is idle`, () => {
    const { components, paths } = openApiDocument(api, routes, { version: '1', answers: 'open' })
    const named = new Set(
      [...JSON.stringify({ components, paths }).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
        ([, name = '']) => name,
      ),
    )
    assert.deepEqual([...named].toSorted(), Object.keys(components.schemas))
  })

  test(`every operation of ${binding} has an id of its own`, () => {
    const { paths } = openApiDocument(api, routes, { version: '1', answers: 'open' })
    const ids = Object.values(paths).flatMap((one) =>
      Object.values(one).map(({ operationId }) => operationId),
    )
    assert.equal(new Set(ids).size, ids.length)
  })

  test(`the codes of every operation of ${binding} have the statuses that its route declares`, () => {
    for (const route of routes) {
      const name = `${route.method} ${route.url.slice(api.prefix.length)}`
      const { operation } = route
      assert.ok(operation !== undefined, name)
      const codes = codesOf({ ...route, operation })
      const statuses = codes.map((code): number => CATALOGUE[code].status)
      for (const status of statuses) {
        assert.ok(
          [...route.replies, ...ALWAYS].includes(status),
          `${name}: ${status} is undeclared`,
        )
      }
    }
  })

  test(`every route of ${binding} that reads a body says which, and no other does`, () => {
    for (const route of routes) {
      const name = `${route.method} ${route.url.slice(api.prefix.length)}`
      const { body, answers } = route.operation ?? assert.fail(name)
      const text = body?.kind === 'fields' ? body.text : undefined
      assert.equal(body?.shape !== undefined, route.reads.includes('json'), `${name}: JSON`)
      assert.equal(text !== undefined, route.reads.includes('text'), `${name}: text`)
      const successes = Object.entries(answers).filter(([status]) => status.startsWith('2'))
      assert.equal(successes.length, 1, name)
      for (const [, reply] of successes) assert.ok(isShape(reply) || reply.types.length > 0, name)
    }
  })
}

test('a route of an API without an operation is an error', () => {
  const api = APIS['edge-client']
  const routes = apiRoutes('edge-client')
  const options = { version: '1', answers: 'open' } as const
  const [first] = routes
  assert.ok(first !== undefined)
  const { operation: _, ...undescribed } = first
  const more = [...routes, { ...undescribed, url: `${api.prefix}/elsewhere` }]
  assert.throws(() => openApiDocument(api, more, options), /GET \/elsewhere is not described/)
})

test('an answer that does not fit its document is noticed', () => {
  const url = 'https://localhost/edge/client/v1/version'
  const contentType = 'application/json'
  const check = (status: number, body: unknown) =>
    checkApiAnswer('GET', url, {
      sent: undefined,
      status,
      contentType,
      text: JSON.stringify(body),
    })
  const error = (code: string, next = 'report') => ({
    error: { code, message: 'm', requestId: 'r', next },
    meta: { apiVersion: '1', apiEnrollmentVersion: '1' },
  })
  const version = {
    version: '1',
    revision: 'r',
    buildDate: 'd',
    runtimeVersion: 'v',
    time: '2026-01-02T03:04:05.678Z',
  }
  const whole = { ...version, apiVersions: {}, capabilities: [] }
  check(200, { data: whole, meta: {} })
  assert.throws(() => check(200, { data: version, meta: {} }), /required property 'apiVersions'/)
  assert.throws(() => check(200, { data: { ...whole, more: 1 }, meta: {} }), /additional/)
  assert.throws(() => check(201, { data: whole, meta: {} }), /status is not declared/)
  check(500, error('UNHANDLED'))
  assert.throws(() => check(500, error('UNHANDLED', 'wait')), /no next action wait/)
  assert.throws(() => check(401, error('UNAUTHORIZED')), /code UNAUTHORIZED is not declared/)
  assert.throws(() => check(500, { error: 'server_error' }), /required property 'meta'/)
})
