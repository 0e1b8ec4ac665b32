/** A route is declared once: the handler is typed by the declaration, and everything else is derived from it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { IDENTITY_FIELDS } from '../../domain/lists/fields.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import { deferredBody, fieldsBody, jsonBody } from '../reading/declared-body.ts'
import type { Route } from '../route.ts'
import type { Router } from '../router.ts'
import { done, found } from './answers.ts'
import { type Api, apiAt } from './api.ts'

const Named = z.strictObject({ name: z.string() })
const NamedReply = z.object({ data: Named, meta: z.object({}) })
const DoneReply = z.object({ data: z.strictObject({}), meta: z.strictObject({}) })

interface Added {
  readonly route: Route
  handle(call: Partial<Call>): Promise<Answer> | Answer
}

function collect(add: (api: Api) => void): Added {
  const added: Added[] = []
  const router = {
    table: [],
    add: (route: Route, handle: Added['handle']) => void added.push({ route, handle }),
  }
  add(apiAt(router as unknown as Router, '/api'))
  const [first] = added
  assert.ok(first !== undefined)
  return first
}

test('statuses and content types are derived from access, body and codes', () => {
  const { route } = collect((api) =>
    api.add(
      {
        method: 'POST',
        path: '/things/:id',
        access: 'admin',
        summary: 'Change a thing',
        body: fieldsBody(Named),
        answers: { 200: DoneReply },
        codes: ['ENTITY_NAME_IN_USE'],
      },
      () => done(),
    ),
  )
  assert.equal(route.url, '/api/things/:id')
  assert.deepEqual(route.reads, ['json', 'form'])
  assert.deepEqual(
    route.replies.toSorted((a, b) => a - b),
    [200, 400, 401, 403, 404, 409, 413, 415, 503],
  )
  assert.equal(route.cors, 'listed')
})

test('a JSON body is checked before the handler runs', async () => {
  let calls = 0
  const { handle } = collect((api) =>
    api.add(
      {
        method: 'POST',
        path: '/things',
        access: 'public',
        summary: 'Name a thing',
        body: jsonBody(Named),
        answers: { 200: NamedReply },
      },
      ({ input }) => {
        calls += 1
        return found({ name: input.name })
      },
    ),
  )
  const query = new Map()
  const refusal = { code: 'COULD_NOT_VALIDATE', field: { field: 'name', reason: 'is missing' } }
  assert.throws(
    () => handle({ query, body: { kind: 'json', value: {} } }),
    (error) =>
      error instanceof Failure &&
      assert.deepEqual({ code: error.code, field: error.field }, refusal) === undefined,
  )
  assert.equal(calls, 0)
  const answer = await handle({ query, body: { kind: 'json', value: { name: 'n' } } })
  assert.deepEqual(answer.content, { kind: 'json', value: { data: { name: 'n' }, meta: {} } })
})

test('a deferred body is checked when the handler asks for it, against what it is merged with', async () => {
  const { handle } = collect((api) =>
    api.add(
      {
        method: 'PATCH',
        path: '/things/:id',
        access: 'public',
        summary: 'Change a thing',
        body: deferredBody(Named),
        answers: { 200: NamedReply },
      },
      ({ path, input }) => found(input({ kind: 'json', value: { name: path.id } })),
    ),
  )
  const answer = await handle({ query: new Map(), path: { id: 'x' }, body: { kind: 'none' } })
  assert.deepEqual(answer.content, { kind: 'json', value: { data: { name: 'x' }, meta: {} } })
})

test('the query of a list is checked before the handler runs', () => {
  const { handle } = collect((api) =>
    api.add(
      {
        method: 'GET',
        path: '/things',
        access: 'public',
        summary: 'List things',
        list: IDENTITY_FIELDS,
        answers: { 200: NamedReply },
      },
      ({ list }) => found({ name: String(list.limit) }),
    ),
  )
  const query = new Map([['limit', ['0']]])
  assert.throws(() => handle({ query }), { code: 'INVALID_PAGINATION' })
})

/** Never called: the compiler must refuse each of these. */
export function notAccepted(api: Api): void {
  const route = {
    method: 'GET',
    path: '/things/:id',
    access: 'public',
    summary: 'Read a thing',
    query: { since: 'A time.' },
    answers: { 200: NamedReply },
  } as const
  // @ts-expect-error a status that is not declared
  api.add(route, () => ({ status: 201 as const }))
  // @ts-expect-error JSON of another shape
  api.add(route, () => found({ title: 'x' }))
  // @ts-expect-error a parameter that the path does not have
  api.add(route, ({ path }) => found({ name: path.name }))
  // @ts-expect-error a parameter of the query that is not declared
  api.add(route, ({ query }) => found({ name: query.get('until')?.[0] ?? '' }))
  // @ts-expect-error a public route has no session
  api.add(route, ({ session }) => found({ name: session.identityId }))
  // @ts-expect-error nothing is read
  api.add(route, ({ input }) => found({ name: input.name }))
  // @ts-expect-error every route of an API has a summary
  api.add({ ...route, summary: undefined }, () => found({ name: '' }))
}
