/**
 * kill -9 while people enroll, then a start: a token is either unused or has become an authenticator, and a certificate
 * that was answered logs in. R114.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logInByCertificate, presenting } from '../support/certificates/certificate-login.ts'
import { type MadeCsr, makeCsr } from '../support/certificates/csr.ts'
import {
  enrollByCsr,
  enrolledCertificate,
  type Invited,
  inviteNew,
} from '../support/certificates/enrollment.ts'
import type { MadeCertificate } from '../support/certificates/openssl.ts'
import { onceReady } from '../support/http-client.ts'
import {
  killOnPostgres,
  killOnSqlite,
  patiently,
  type Rounds,
  refusing,
  workUntilKilled,
} from '../support/kills/rounds.ts'
import { administrate } from '../support/management.ts'
import type { ChildService } from '../support/process/child-service.ts'

const INVITED = 40
const WORKERS = 6
/** The kill comes when this many have their certificate; the workers are then anywhere. */
const ENROLLED = 10

interface Person {
  readonly invited: Invited
  isSent?: boolean
  certificate?: MadeCertificate
}

test('an enrollment survives a kill -9 whole or not at all, on SQLite', async (t) => {
  await killOnSqlite(t, await enrollments())
})

test('an enrollment survives a kill -9 whole or not at all, on PostgreSQL', async (t) => {
  await killOnPostgres(t, await enrollments())
})

async function enrollments(): Promise<Rounds<readonly Person[]>> {
  const csr = await makeCsr()
  return {
    kills: { sqlite: 1, postgres: 1 },
    work: (service) => enrollUntilKilled(service, csr),
    check: (service, people) => checkAll(service, people, csr),
  }
}

async function enrollUntilKilled(service: ChildService, csr: MadeCsr): Promise<readonly Person[]> {
  const busy = refusing(service)
  const admin = await patiently(() => administrate(busy))
  const people: Person[] = []
  for (let i = 0; i < INVITED; i++) {
    // Each attempt has a name of its own: one that a busy instance refused may have happened nevertheless (D-250).
    people.push({ invited: await patiently(() => inviteNew(admin, { ott: true })) })
  }
  const waiting = [...people]
  let count = 0
  await workUntilKilled(service, WORKERS, async (mortal, _, kill) => {
    const person = waiting.shift()
    assert.ok(person, 'the kill comes before all are enrolled')
    person.isSent = true
    person.certificate = await enrolledCertificate(mortal, person.invited.token, csr)
    count += 1
    if (count === ENROLLED) kill()
  })
  return people
}

async function checkAll(
  service: ChildService,
  people: readonly Person[],
  csr: MadeCsr,
): Promise<void> {
  const busy = refusing(service)
  const admin = await patiently(() => administrate(busy))
  const read = (path: string) => patiently(() => admin.get(path))
  for (const { invited, isSent, certificate } of people) {
    const { id, identityId, token } = invited
    const [authenticator, ...more] = await read(`/identities/${identityId}/authenticators`)
    assert.deepEqual(more, [])
    const { usedAt } = await read(`/enrollments/${id}`)
    assert.equal(usedAt !== null, authenticator !== undefined, 'used and enrolled, or neither')
    if (isSent !== true) assert.equal(usedAt, null, 'nobody has shown this token')
    if (certificate !== undefined) {
      assert.equal(authenticator?.fingerprint, certificate.fingerprint)
      await patiently(() => logInByCertificate(presenting(busy, certificate)))
    }
    let isDoubtful = false
    const again = await onceReady(async () => {
      const one = await enrollByCsr(service, token, csr.pem)
      // Of a busy instance (D-250): the token may be used nevertheless.
      isDoubtful ||= one.status === 503
      return one
    })
    const isRefused = usedAt !== null || (isDoubtful && again.status !== 200)
    if (isRefused) assert.equal(again.json().error.code, 'ENROLLMENT_USED')
    else assert.equal(again.status, 200, again.text)
  }
}
