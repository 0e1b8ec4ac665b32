/** A person at the page of an invitation or a reset, as the protocol sees it. */
import assert from 'node:assert/strict'
import { type CookieBrowser, cookieBrowser } from '../browser/cookie-browser.ts'
import type { Reply } from '../http-client.ts'
import type { Administrator } from '../management.ts'
import type { Service } from '../service.ts'
import { post } from './account.ts'

export interface InvitedVisitor {
  readonly browser: CookieBrowser
  /** POST of a form with the token. */
  send(path: string, fields?: Readonly<Record<string, string>>): Promise<Reply>
}

export function invitedVisitor(service: Service, link: string): InvitedVisitor {
  const browser = cookieBrowser(service)
  const token = tokenOf(link)
  return {
    browser,
    send: (path, fields = {}) => post(service, browser, path, Object.entries({ token, ...fields })),
  }
}

/** What a browser does not send: the part after `#`. */
export function tokenOf(link: string): string {
  const { hash, pathname, search } = new URL(link)
  assert.equal(pathname, '/invite')
  assert.equal(search, '')
  return hash.slice(1)
}

export async function resetLink(
  admin: Administrator,
  method: 'reset-password' | 'reset-mfa',
  identityId: string,
): Promise<string> {
  const made = await admin.call('POST', '/enrollments', { method, identityId })
  assert.equal(made.status, 201, made.text)
  return made.json().data.link
}
