/**
 * Whatever is sent to the endpoints where strangers enroll, the answer is a refusal in the envelope, never a 500; and
 * whatever is wrong beside a good token, the token is not spent by it. API 3.2; D-45, D-127.
 */
import assert from 'node:assert/strict'
import https from 'node:https'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../src/contract/envelope.ts'
import { makeCsr } from '../support/certificates/csr.ts'
import {
  CLIENT,
  enrollByCsr,
  enrollByPassword,
  inviteNew,
  PASSWORD,
} from '../support/certificates/enrollment.ts'
import { rounds } from '../support/chance/rounds.ts'
import { administrate } from '../support/management.ts'
import { errorsIn, startService } from '../support/service.ts'

// Every run is a call over the wire. Short in CI, long on demand.
const numRuns = rounds(200)

const TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain',
  'application/x-pem-file',
  'application/pkcs10',
  'application/xml',
  'application/json; charset=utf-16',
  '',
]

const oddValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', ' ', '\0', '%', 'a'.repeat(5_000), '__proto__', "' OR 1=1 --", 'a.b.c'),
  fc.constantFrom(null, 7, true, {}, [], ['a', 'b']),
)

test('unusual enrollments', async (t) => {
  const service = await startService(t, {
    config: { edge: { limits: { failuresPerAddress: 0 } } },
  })
  const admin = await administrate(service)
  const certificate = await inviteNew(admin, { ott: true })
  const password = await inviteNew(admin, { updb: 'fuzzed' })
  const { pem } = await makeCsr()
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const { token } = certificate

  /** Never one that is good in all its parts. */
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text)),
    fc.constantFrom('[', '{"a":', '\ufeff{}', 'null', '['.repeat(10_000)).map(Buffer.from),
    fc
      .record({ clientCsr: oddValue, token: oddValue, username: oddValue, password: oddValue })
      .map((fields) => Buffer.from(JSON.stringify({ ...fields, token: fields.token ?? token }))),
    fc
      // The last character of all is a line break, which nobody misses.
      .tuple(fc.nat(pem.length - 3), fc.constantFrom('-', 'A', '\n', '\0', ''))
      .map(([at, other]) => {
        const changed = `${pem.slice(0, at)}${other}${pem.slice(at + 2)}`
        return Buffer.from(changed)
      }),
  )
  const path = fc.constantFrom(
    `/enroll/ott?token=${token}`,
    `/enroll/updb?token=${password.token}`,
    `/enroll?method=ott&token=${token}`,
    `/enroll?method=updb&token=${password.token}`,
    '/enroll?method=ott&token=%00',
    '/enroll?method=toString',
    '/enroll',
    '/enroll?token=%zz',
  )

  await fc.assert(
    fc.asyncProperty(path, fc.constantFrom(...TYPES), body, async (path, type, body) => {
      const headers = { 'content-type': type }
      const reply = await service.call(`${CLIENT}${path}`, { method: 'POST', headers, body, agent })
      assert.ok(reply.status >= 400 && reply.status < 500, `${reply.status} ${reply.text}`)
      assert.deepEqual(ApiError.parse(reply.json()), reply.json())
      assert.equal(reply.text.includes(token), false)
    }),
    { numRuns },
  )

  assert.deepEqual(errorsIn(service), [])
  assert.equal((await enrollByCsr(service, token, pem)).status, 200)
  const credentials = { username: 'fuzzed', password: PASSWORD }
  assert.equal((await enrollByPassword(service, password.token, credentials)).status, 200)
})
