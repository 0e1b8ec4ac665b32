/** `latchkey/client` towards a service of a test: same clock, and credentials as tests have them. */
import assert from 'node:assert/strict'
import {
  type Client,
  type ConnectOptions,
  type Credential,
  connect,
} from '../../../src/client/client.ts'
import { ADMIN, type Service } from '../service.ts'
import type { MeddlingProxy } from './meddling-proxy.ts'

export function connectTo(
  { baseUrl: url, ca, clock }: Pick<Service, 'baseUrl' | 'ca' | 'clock'>,
  changes: Partial<ConnectOptions> = {},
): Promise<Client> {
  return connect({ url, ca, clock, ...changes })
}

/** The same, but for what is in between. */
export function connectThrough(
  { url, ca }: Pick<MeddlingProxy, 'url' | 'ca'>,
  { clock }: Pick<Service, 'clock'>,
  changes: Partial<ConnectOptions> = {},
): Promise<Client> {
  return connect({ url, ca, clock, ...changes })
}

export const asAdmin: Credential = { method: 'password', ...ADMIN }

export const withPassword = (person: {
  readonly username: string
  readonly password: string
}): Credential => ({
  method: 'password',
  username: person.username,
  password: person.password,
})

export const CURRENT_IDENTITY = '/edge/client/v1/current-identity'

/** Who the API takes the caller for. */
export async function whoIs({
  call,
}: {
  readonly call: (path: string) => Promise<Response>
}): Promise<string> {
  const response = await call(CURRENT_IDENTITY)
  assert.equal(response.status, 200)
  const { data } = (await response.json()) as { readonly data: { readonly name: string } }
  return data.name
}

/** The error of a promise that is rejected with one of this class. */
export async function failureOf<E extends Error>(
  work: Promise<unknown>,
  // biome-ignore lint/suspicious/noExplicitAny: any constructor
  kind: new (...args: any[]) => E,
): Promise<E> {
  const error = await work.then(
    () => assert.fail('this fails'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof kind, `${kind.name} and not ${error}`)
  return error
}
