/**
 * A login whose credential was withdrawn adds no second factor: an app or a passkey that a thief sets up would outlive
 * the credential, and a passkey may open the account alone. D-489; R047.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { presenting, submitCertificate } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { enrolledPerson } from '../../support/certificates/renewal.ts'
import type { Reply } from '../../support/http-client.ts'
import { authenticatorApp, PASSWORD } from '../../support/login/authenticator-app.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { type Administrator, administrate, assertRefused } from '../../support/management.ts'
import { softAuthenticator } from '../../support/passkeys/authenticator.ts'
import {
  passkeyPerson,
  provePasskey,
  startPasskey,
  verifyPasskey,
} from '../../support/passkeys/passkey-login.ts'
import { type Service, startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

interface Stolen {
  readonly identityId: string
  /** Proves it in a login. */
  submit(authRequestId: string): Promise<Reply>
  withdraw(): Promise<unknown>
}

interface Ports {
  readonly service: Service
  readonly admin: Administrator
  readonly policy: string
}

async function stolenPassword({ service, admin, policy }: Ports): Promise<Stolen & { id: string }> {
  const person = await admin.createIdentity({ password: PASSWORD, policy })
  const { username } = person
  const [{ id }] = await admin.get(`/identities/${person.id}/authenticators`)
  return {
    id,
    identityId: person.id,
    submit: (authRequestId) =>
      submitPassword(service, authRequestId, { username, password: PASSWORD }),
    withdraw: () => admin.act('DELETE', `/authenticators/${id}`),
  }
}

async function stolenCertificate({ service, admin, policy }: Ports) {
  const { identityId, authenticatorId, certificate } = await enrolledPerson(
    service,
    admin,
    openssl,
    { policy },
  )
  return {
    id: authenticatorId,
    identityId,
    submit: (authRequestId: string) =>
      submitCertificate(presenting(service, certificate), authRequestId),
  }
}

const STOLEN: Readonly<Record<string, (ports: Ports) => Promise<Stolen>>> = {
  'a password that is deleted': stolenPassword,
  async 'a password that is enrolled again'(ports) {
    const stolen = await stolenPassword(ports)
    return {
      ...stolen,
      withdraw: () => ports.admin.create(`/authenticators/${stolen.id}/re-enroll`, {}),
    }
  },
  async 'a certificate that is deleted'(ports) {
    const stolen = await stolenCertificate(ports)
    return { ...stolen, withdraw: () => ports.admin.act('DELETE', `/authenticators/${stolen.id}`) }
  },
  async 'a certificate that is replaced'(ports) {
    const stolen = await stolenCertificate(ports)
    const { pem: certPem } = await openssl.makeLeaf(await openssl.makeCa())
    return {
      ...stolen,
      withdraw: () => ports.admin.act('PATCH', `/authenticators/${stolen.id}`, { certPem }),
    }
  },
  async 'a passkey that is deleted'({ service, admin, policy }) {
    const { id: identityId, key } = await passkeyPerson(service, admin)
    await admin.act('PATCH', `/identities/${identityId}`, { authPolicyId: policy })
    const [{ id }] = await admin.get(`/identities/${identityId}/passkeys`)
    return {
      identityId,
      submit: (authRequestId) => provePasskey(service, authRequestId, key),
      withdraw: () => admin.act('DELETE', `/identities/${identityId}/passkeys/${id}`),
    }
  },
}

/** Begins to set a factor up in a login. Returns what finishes it. */
const FACTORS: Readonly<
  Record<string, (service: Service, authRequestId: string) => Promise<() => Promise<Reply>>>
> = {
  async totp(service, authRequestId) {
    const started = await service.call('/oidc/login/totp/enroll', { json: { authRequestId } })
    assert.equal(started.status, 201, started.text)
    const app = authenticatorApp(started.json().provisioningUrl, service.clock)
    return () =>
      service.call('/oidc/login/totp/enroll/verify', {
        json: { authRequestId, code: app.code() },
      })
  },
  async passkey(service, authRequestId) {
    const { publicKey } = await startPasskey(service, authRequestId)
    const credential = softAuthenticator().create(publicKey, service.baseUrl)
    return () => verifyPasskey(service, authRequestId, credential)
  },
}

test('D-489: a login adds no factor after its credential was withdrawn', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const policy = await admin.createPolicy({
    primary: {
      updb: { allowed: true },
      cert: { allowed: true },
      passkey: { allowed: true },
    },
    secondary: { requireTotp: true, requirePasskey: true },
  })
  const enrollments = async ({ identityId }: Stolen) => {
    const filter = encodeURIComponent(`type="mfa.enrolled" and identityId="${identityId}"`)
    return (await admin.get(`/events?filter=${filter}`)).length
  }
  for (const [what, steal] of Object.entries(STOLEN)) {
    for (const [factor, start] of Object.entries(FACTORS)) {
      if (factor === 'passkey' && what.startsWith('a passkey')) continue
      await t.test(`${what}; ${factor}`, async () => {
        const stolen = await steal({ service, admin, policy })
        const { authRequestId } = await beginLogin(service)
        const waiting = await stolen.submit(authRequestId)
        assert.equal(waiting.status, 200, waiting.text)
        const finish = await start(service, authRequestId)
        const before = await enrollments(stolen)
        await stolen.withdraw()
        assertRefused(await finish(), 400, 'INVALID_AUTH_REQUEST')
        const again = await service.call(`/oidc/login/${factor}/enroll`, {
          json: { authRequestId },
        })
        assertRefused(again, 400, 'INVALID_AUTH_REQUEST')
        assert.equal(await enrollments(stolen), before)
      })
    }
  }
})
