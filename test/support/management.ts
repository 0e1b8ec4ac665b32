/**
 * What an administrator does over the management API, for tests of anything that needs identities, policies, signers
 * or CAs. The calls that make something answer once it is there; a test of a refusal uses `call`.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { ApiError } from '../../src/contract/envelope.ts'
import type { Reply } from './http-client.ts'
import { logIn, type Tokens } from './login/login.ts'
import {
  ADMIN,
  type Service as RunningService,
  type ServiceOptions,
  startService,
} from './service.ts'

type Service = Pick<RunningService, 'baseUrl' | 'call'>

export const MANAGEMENT = '/edge/management/v1'

type Fields = Readonly<Record<string, unknown>>

export interface NewIdentity extends Fields {
  readonly name?: string
  /** Default: the name. Needs a password. */
  readonly username?: string
  /** With one, the identity gets a password to log in with. */
  readonly password?: string
  /** With one, the identity gets a certificate to log in with. */
  readonly certPem?: string
  /** The id of its policy. */
  readonly policy?: string
}

/** For `logInAs`. A login body takes its username and password alone: `id` there is an auth request (D-4). */
export interface CreatedIdentity {
  readonly id: string
  readonly name: string
  readonly username: string
  readonly password: string
}

export interface Administrator {
  /** His access token. */
  readonly token: string
  /** Any call under the management API; with a value the value is its JSON body. */
  call(method: string, path: string, json?: unknown): Promise<Reply>
  /** The `data` of an answer 200. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape
  get(path: string): Promise<any>
  /** POST that is answered 201; the id of what was made. */
  create(path: string, json: Fields): Promise<string>
  /** Anything that is answered 200 without data. */
  act(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, json?: unknown): Promise<void>
  /** Other members than those of NewIdentity go into the body as they are: isAdmin, externalId, tags. */
  createIdentity(identity?: NewIdentity): Promise<CreatedIdentity>
  /** Every primary method and nothing secondary, but for the changes. */
  createPolicy(changes?: Fields): Promise<string>
  /** Without `certPem` it has an endpoint where nobody answers. */
  createSigner(changes: Fields & { readonly issuer: string }): Promise<string>
  /** Auth-enabled, and not verified yet. */
  createCa(changes: Fields & { readonly certPem: string }): Promise<string>
  /** Posts the certificate that proves possession of the CA's key; its CN is `verificationToken` of the CA. */
  verifyCa(id: string, certPem: string): Promise<Reply>
}

/** Logs the administrator in, the first one unless told otherwise. */
export async function administrate(
  service: Service,
  credentials: { readonly username: string; readonly password: string } = ADMIN,
): Promise<Administrator> {
  const { access_token } = await logInAs(service, credentials)
  return administratorWith(service, access_token)
}

/** A service whose clock stands still, and its administrator. */
export async function startHeld(
  t: Pick<TestContext, 'after'>,
  options: ServiceOptions = {},
): Promise<{ readonly service: RunningService; readonly admin: Administrator }> {
  const service = await startService(t, options)
  service.clock.hold()
  return { service, admin: await administrate(service) }
}

/** An administrator who has a token already. */
export function administratorWith(service: Service, token: string): Administrator {
  const authorization = { authorization: `Bearer ${token}` }
  const call: Administrator['call'] = (method, path, json) =>
    service.call(`${MANAGEMENT}${path}`, {
      method,
      headers: authorization,
      ...(json === undefined ? {} : { json }),
    })
  const create: Administrator['create'] = async (path, json) => {
    const reply = await call('POST', path, json)
    assert.equal(reply.status, 201, reply.text)
    return reply.json().data.id
  }

  return {
    token,
    call,
    create,

    async get(path) {
      const reply = await call('GET', path)
      assert.equal(reply.status, 200, reply.text)
      return reply.json().data
    },

    async act(method, path, json) {
      const reply = await call(method, path, json)
      assert.equal(reply.status, 200, reply.text)
    },

    async createIdentity(identity = {}) {
      const { name = fresh('identity'), password, certPem, policy, ...given } = identity
      const { username = name, ...fields } = given
      const id = await create('/identities', {
        name,
        type: 'Default',
        isAdmin: false,
        ...(policy === undefined ? {} : { authPolicyId: policy }),
        ...fields,
      })
      if (password !== undefined) {
        const updb = { method: 'updb', identityId: id, username, password }
        await create('/authenticators', updb)
      }
      if (certPem !== undefined) {
        await create('/authenticators', { method: 'cert', identityId: id, certPem })
      }
      return { id, name, username, password: password ?? '' }
    },

    createPolicy: (changes = {}) =>
      create('/auth-policies', {
        name: fresh('policy'),
        primary: {
          cert: { allowed: true },
          extJwt: { allowed: true },
          updb: { allowed: true },
        },
        ...changes,
      }),

    createSigner: (changes) =>
      create('/external-jwt-signers', {
        name: fresh('signer'),
        audience: 'latchkey',
        ...('certPem' in changes ? {} : { jwksEndpoint: 'https://127.0.0.1:1/keys' }),
        ...changes,
      }),

    createCa: (changes) => create('/cas', { name: fresh('ca'), isAuthEnabled: true, ...changes }),

    verifyCa: (id, certPem) =>
      service.call(`${MANAGEMENT}/cas/${id}/verify`, {
        method: 'POST',
        headers: { ...authorization, 'content-type': 'text/plain' },
        body: certPem,
      }),
  }
}

/** A whole password login of somebody, where nothing but the password is asked for. */
export function logInAs(
  service: Service,
  credentials: { readonly username: string; readonly password: string },
): Promise<Tokens> {
  return logIn(service, {}, credentials)
}

/** A refusal in the envelope, with its code and, where the cause is a field, which one. API 1, D-45. */
export function assertRefused(reply: Reply, status: number, code: string, field?: string): void {
  assert.equal(reply.status, status, reply.text)
  const body = reply.json()
  assert.deepEqual(ApiError.parse(body), body)
  assert.equal(body.error.code, code, reply.text)
  assert.equal(body.error.cause?.field, field, reply.text)
}

let count = 0

/** A name that nothing else in this process has. */
function fresh(kind: string): string {
  count += 1
  return `${kind}-${count}`
}
