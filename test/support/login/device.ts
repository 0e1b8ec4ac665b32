/** A device without a browser, and the user who answers it, as the protocol sees them: RFC 8628. */
import assert from 'node:assert/strict'
import { type CookieBrowser, cookieBrowser } from '../browser/cookie-browser.ts'
import type { Reply } from '../http-client.ts'
import { ADMIN, type Service } from '../service.ts'
import { formTokenOf, post, signIn } from './account.ts'

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export interface Device {
  readonly deviceCode: string
  readonly userCode: string
  readonly verificationUri: string
  readonly verificationUriComplete: string
}

export function askForDevice(
  service: Pick<Service, 'call'>,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Reply> {
  const all = { client_id: 'service', scope: 'openid offline_access', ...changes }
  const form = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return service.call('/oidc/device_authorization', {
    form,
    headers: { 'user-agent': 'a-terminal/1' },
  })
}

/** A device that waits. */
export async function startDevice(service: Pick<Service, 'call'>): Promise<Device> {
  const reply = await askForDevice(service)
  assert.equal(reply.status, 200, reply.text)
  const answer = reply.json()
  return {
    deviceCode: answer.device_code,
    userCode: answer.user_code,
    verificationUri: answer.verification_uri,
    verificationUriComplete: answer.verification_uri_complete,
  }
}

export function poll(
  service: Pick<Service, 'call'>,
  { deviceCode }: Pick<Device, 'deviceCode'>,
  clientId = 'service',
): Promise<Reply> {
  const form = Object.entries({
    grant_type: DEVICE_GRANT,
    client_id: clientId,
    device_code: deviceCode,
  })
  return service.call('/oidc/token', { form })
}

export async function assertPoll(
  service: Pick<Service, 'call'>,
  device: Pick<Device, 'deviceCode'>,
  error: string,
): Promise<void> {
  const reply = await poll(service, device)
  assert.equal(reply.status, 400, reply.text)
  assert.equal(reply.json().error, error)
}

export const confirmPath = ({ userCode }: Pick<Device, 'userCode'>) =>
  `/device/confirm?user_code=${userCode}`

/** Signs in at the page for devices. Returns the browser, before the question. */
export async function signInForDevice(
  service: Service,
  device: Pick<Device, 'userCode'>,
  person: { readonly username: string; readonly password: string } = ADMIN,
): Promise<CookieBrowser> {
  const browser = cookieBrowser(service)
  const reply = await signIn(service, browser, confirmPath(device), person)
  assert.equal(reply.headers.location, confirmPath(device))
  return browser
}

/** Opens the question, and returns what presses one of its buttons. */
export async function openQuestion(
  service: Service,
  browser: CookieBrowser,
  { userCode }: Pick<Device, 'userCode'>,
): Promise<(answer: 'approve' | 'deny') => Promise<Reply>> {
  const page = await browser.get(confirmPath({ userCode }))
  assert.equal(page.status, 200, page.text)
  return (answer) => {
    const action = `/device/${answer}`
    const formToken = formTokenOf(page.text, action)
    return post(service, browser, action, Object.entries({ formToken, user_code: userCode }))
  }
}

/** Opens the question and presses a button. */
export async function answerDevice(
  service: Service,
  browser: CookieBrowser,
  device: Pick<Device, 'userCode'>,
  answer: 'approve' | 'deny',
): Promise<Reply> {
  return (await openQuestion(service, browser, device))(answer)
}

/** The whole way of a user: sign in, read the question, approve. */
export async function approveDevice(
  service: Service,
  device: Pick<Device, 'userCode'>,
  person?: { readonly username: string; readonly password: string },
): Promise<void> {
  const browser = await signInForDevice(service, device, person)
  const reply = await answerDevice(service, browser, device, 'approve')
  assert.equal(reply.status, 303, reply.text)
}
