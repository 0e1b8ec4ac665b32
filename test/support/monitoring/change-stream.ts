/** The stream of changes of the console, as an open page of it reads it: D-360. */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { TestContext } from 'node:test'
import type { CookieBrowser } from '../browser/cookie-browser.ts'

export interface ChangeStream {
  /** What has come so far. */
  text(): string
  /** Waits until it contains this. */
  until(pattern: RegExp): Promise<void>
}

/** On a connection of its own; closed with the test. */
export async function openChangeStream(
  t: TestContext,
  service: { readonly baseUrl: string; readonly ca: string },
  browser: Pick<CookieBrowser, 'cookies'>,
): Promise<ChangeStream> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const call = request(`${service.baseUrl}/console/stream`, {
    ca: service.ca,
    agent: false,
    headers: { cookie, accept: 'text/event-stream' },
  })
  t.after(() => call.destroy())
  call.end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve)
    call.once('error', reject)
  })
  assert.equal(response.headers['content-type'], 'text/event-stream')
  let text = ''
  response.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  const stream: ChangeStream = {
    text: () => text,
    async until(pattern) {
      while (!pattern.test(text)) await new Promise((resolve) => response.once('data', resolve))
    },
  }
  await stream.until(/retry/)
  return stream
}
