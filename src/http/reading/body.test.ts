/** Bodies into one shape: D-11, D-44, R014, R023. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { Failure } from '../../errors/catalogue.ts'
import { addBodyParsers, type Body, bodyFields } from './body.ts'

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const TEXT_TYPE = 'text/plain'

const EVERY_KIND = ['json', 'form', 'text'] as const

/** What a route that reads these kinds gets, or the code of what was thrown on the way. */
async function read(
  type: string | undefined,
  body: string | Uint8Array,
  reads: readonly ('json' | 'form' | 'text')[] = ['json', 'form'],
): Promise<Body | undefined | string> {
  const app = Fastify()
  addBodyParsers(app)
  let outcome: Body | undefined | string
  app.setErrorHandler((error: { code?: string }) => {
    outcome = error.code
    return ''
  })
  app.post('/', { config: { reads } }, async (request) => {
    outcome = request.body as Body | undefined
    return ''
  })
  const headers = type === undefined ? {} : { 'content-type': type }
  await app.inject({ method: 'POST', url: '/', headers, payload: Buffer.from(body) })
  await app.close()
  return outcome
}

test('JSON, forms and plain text are read into one shape', async () => {
  assert.deepEqual(await read(JSON_TYPE, '{"a":[1]}'), { kind: 'json', value: { a: [1] } })
  const fields = new Map([['a', ['1', 'é']]])
  assert.deepEqual(await read(FORM_TYPE, 'a=1&a=%C3%A9'), { kind: 'form', fields })
  const text = '-----BEGIN é\r\n'
  assert.deepEqual(await read(TEXT_TYPE, text, ['text']), { kind: 'text', text })
})

for (const type of [`${JSON_TYPE}; charset=utf-8`, 'Application/JSON', `${JSON_TYPE};`]) {
  test(`${type} is JSON too`, async () => {
    assert.deepEqual(await read(type, '1'), { kind: 'json', value: 1 })
  })
}

for (const type of [JSON_TYPE, FORM_TYPE, TEXT_TYPE]) {
  test(`D-11: an empty body of type ${type} counts as none`, async () => {
    assert.deepEqual(await read(type, '', EVERY_KIND), { kind: 'none' })
  })

  test(`bytes that are not UTF-8 are no body of type ${type}`, async () => {
    const bytes = Uint8Array.of(...Buffer.from('"a='), 0xff, ...Buffer.from('"'))
    assert.equal(await read(type, bytes, EVERY_KIND), 'COULD_NOT_PARSE_BODY')
  })
}

test('a body without a type, or of another, is refused', async () => {
  const types = [undefined, 'text/html', 'multipart/form-data; boundary=x', 'application/jsonx']
  for (const type of types) {
    assert.equal(
      await read(type, '{}', EVERY_KIND),
      'FST_ERR_CTP_INVALID_MEDIA_TYPE',
      type ?? 'none',
    )
  }
})

test('a type that the route does not read is refused before it is parsed', async () => {
  assert.equal(await read(JSON_TYPE, '{', ['form']), 'UNSUPPORTED_MEDIA_TYPE')
  assert.equal(await read(FORM_TYPE, '%', ['json']), 'UNSUPPORTED_MEDIA_TYPE')
  assert.equal(await read(TEXT_TYPE, '{}'), 'UNSUPPORTED_MEDIA_TYPE')
  assert.equal(await read(JSON_TYPE, '{}', ['text']), 'UNSUPPORTED_MEDIA_TYPE')
  assert.equal(await read(JSON_TYPE, '{}', []), 'UNSUPPORTED_MEDIA_TYPE')
  assert.deepEqual(await read(JSON_TYPE, '', []), { kind: 'none' })
})

test('R023: what cannot be parsed is reported', async () => {
  for (const text of ['{', '{"a":1,"a":2}', '\ufeff{}', "{'a':1}"]) {
    assert.equal(await read(JSON_TYPE, text), 'COULD_NOT_PARSE_BODY', text)
  }
  for (const text of ['a=%', 'a=%FF']) {
    assert.equal(await read(FORM_TYPE, text), 'COULD_NOT_PARSE_BODY', text)
  }
})

test('D-44: JSON may be 32 deep', async () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.notEqual(await read(JSON_TYPE, nested(32)), 'COULD_NOT_PARSE_BODY')
  assert.equal(await read(JSON_TYPE, nested(33)), 'COULD_NOT_PARSE_BODY')
})

test('the fields of a form keep every value', () => {
  const fields = new Map([['a', ['1', '2']]])
  assert.deepEqual(bodyFields({ kind: 'form', fields }), fields)
})

test('the fields of a JSON object have one value each, of any type; null is as good as absent', () => {
  const value = JSON.parse('{"a":"1","b":["1","2"],"c":null,"__proto__":7}')
  assert.deepEqual(
    bodyFields({ kind: 'json', value }),
    new Map<string, unknown[]>([
      ['a', ['1']],
      ['b', [['1', '2']]],
      ['__proto__', [7]],
    ]),
  )
})

test('plain text has no fields, and is refused where fields are read', () => {
  assert.throws(
    () => bodyFields({ kind: 'text', text: 'authRequestId=x' }),
    (error) => error instanceof Failure && error.code === 'UNSUPPORTED_MEDIA_TYPE',
  )
})

test('D-11: no body has no fields', () => {
  assert.deepEqual(bodyFields({ kind: 'none' }), new Map())
})

for (const value of [null, [], ['authRequestId'], 'text', 7, true]) {
  test(`JSON that is ${JSON.stringify(value)} is not an object of fields`, () => {
    assert.throws(
      () => bodyFields({ kind: 'json', value }),
      (error) =>
        error instanceof Failure &&
        error.code === 'COULD_NOT_VALIDATE' &&
        error.field?.reason === 'must be an object',
    )
  })
}
