/**
 * kill -9 while people enroll, then a start: a token is either unused or has become an authenticator, and a certificate
 * that was answered logs in. R114.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { logInByCertificate, presenting } from '../support/certificates/certificate-login.ts'
import { type MadeCsr, makeCsr } from '../support/certificates/csr.ts'
import {
  enrollByCsr,
  enrolledCertificate,
  type Invited,
  inviteNew,
} from '../support/certificates/enrollment.ts'
import type { MadeCertificate } from '../support/certificates/openssl.ts'
import { rounds } from '../support/chance/rounds.ts'
import { moveToPostgres } from '../support/homes/postgres-home.ts'
import { administrate } from '../support/management.ts'
import { fixPort, useWorkers } from '../support/process/child-home.ts'
import { type ChildService, startChild, waitFor } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { startPostgres } from '../support/stores/postgres.ts'

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
  await killRounds(t, async () => {})
})

test('an enrollment survives a kill -9 whole or not at all, on PostgreSQL', async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  await killRounds(t, async (home) => void (await moveToPostgres(home)))
})

async function killRounds(t: TestContext, prepare: (home: string) => Promise<void>): Promise<void> {
  const home = await preparedHome(t)
  await prepare(home)
  await fixPort(home)
  const csr = await makeCsr()

  await useWorkers(home, 2)
  let service = await startChild(t, { home })
  for (let round = 1; round <= rounds(1); round++) {
    const people = await enrollUntilKilled(service, csr)
    service = await startChild(t, { home })
    await checkAll(service, people, csr)
  }
  assert.equal((await service.stop()).code, 0)
}

async function enrollUntilKilled(service: ChildService, csr: MadeCsr): Promise<readonly Person[]> {
  const admin = await administrate(service)
  const people: Person[] = []
  for (let i = 0; i < INVITED; i++) {
    people.push({ invited: await inviteNew(admin, { ott: true }) })
  }
  const waiting = [...people]
  let isKilled = false
  const workers = Array.from({ length: WORKERS }, async () => {
    while (!isKilled) {
      const person = waiting.shift()
      if (person === undefined) return
      person.isSent = true
      try {
        person.certificate = await enrolledCertificate(service, person.invited.token, csr)
      } catch (error) {
        // Any other failure than that of the connection is one of the service.
        if (!isKilled || error instanceof assert.AssertionError) throw error
        if (!(error as NodeJS.ErrnoException).code?.startsWith('E')) throw error
      }
    }
  })
  await waitFor(
    () => people.filter(({ certificate }) => certificate !== undefined).length >= ENROLLED,
    () => `${ENROLLED} enrollments`,
    service,
  )
  isKilled = true
  service.process.kill('SIGKILL')
  await Promise.all(workers)
  assert.equal((await service.finished).signal, 'SIGKILL')
  return people
}

async function checkAll(
  service: ChildService,
  people: readonly Person[],
  csr: MadeCsr,
): Promise<void> {
  const admin = await administrate(service)
  for (const { invited, isSent, certificate } of people) {
    const { id, identityId, token } = invited
    const [authenticator, ...more] = await admin.get(`/identities/${identityId}/authenticators`)
    assert.deepEqual(more, [])
    const { usedAt } = await admin.get(`/enrollments/${id}`)
    assert.equal(usedAt !== null, authenticator !== undefined, 'used and enrolled, or neither')
    if (isSent !== true) assert.equal(usedAt, null, 'nobody has shown this token')
    if (certificate !== undefined) {
      assert.equal(authenticator?.fingerprint, certificate.fingerprint)
      await logInByCertificate(presenting(service, certificate))
    }
    const again = await enrollByCsr(service, token, csr.pem)
    if (usedAt === null) assert.equal(again.status, 200, again.text)
    else assert.equal(again.json().error.code, 'ENROLLMENT_USED')
  }
}
