/**
 * A browser with a cookie jar and a user in front of it: follows redirects between the service and an application, and
 * fills in the login page. It reads no HTML, so it posts the form that every login page has.
 */
import assert from 'node:assert/strict'
import type { Service } from '../service.ts'

export interface Seen {
  readonly url: string
  readonly status: number
  readonly text: string
}

export interface Browser {
  /** Logs in at this address of the service, and returns where it is sent back to, which nobody has to listen at. */
  visit(url: string): Promise<string>
  /** Follows redirects through the login to the page of an application. */
  open(url: string): Promise<Seen>
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A browser gives up then too. */
const MOST_REDIRECTS = 20

export function browserOf(
  service: Pick<Service, 'baseUrl' | 'client'>,
  user: { readonly username: string; readonly password: string },
): Browser {
  const jar = new Map<string, string>()

  async function request(url: URL, form?: URLSearchParams): Promise<Response> {
    const cookies = [...jar].filter(([key]) => key.startsWith(`${url.host} `))
    const headers = {
      accept: 'text/html',
      ...(cookies.length === 0 ? {} : { cookie: cookies.map(([, pair]) => pair).join('; ') }),
      ...(form === undefined ? {} : { origin: url.origin, ...FORM }),
    }
    const send = url.href.startsWith(service.baseUrl) ? service.client.fetch : fetch
    const reply = await send(url.href, {
      headers,
      redirect: 'manual',
      ...(form === undefined ? {} : { method: 'POST', body: form.toString() }),
    })
    for (const cookie of reply.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      jar.set(`${url.host} ${pair.split('=')[0]}`, pair)
    }
    return reply
  }

  async function walk(start: string, isEnd: (url: URL) => boolean): Promise<Seen> {
    let url = new URL(start)
    for (let hops = 0; hops < MOST_REDIRECTS; hops++) {
      if (isEnd(url)) return { url: url.href, status: 0, text: '' }
      let reply = await request(url)
      const isLoginPage = url.href.startsWith(`${service.baseUrl}/oidc/login/`)
      if (reply.status === 200 && isLoginPage) {
        await reply.body?.cancel()
        reply = await request(url, new URLSearchParams({ ...user }))
      }
      const location = reply.headers.get('location')
      if (location === null)
        return { url: url.href, status: reply.status, text: await reply.text() }
      await reply.body?.cancel()
      url = new URL(location, url)
    }
    return assert.fail(`${start} redirects in a circle`)
  }

  return {
    async visit(url) {
      const isAway = (there: URL) => !there.href.startsWith(service.baseUrl)
      const end = await walk(url, isAway)
      assert.equal(end.status, 0, `the login ended with ${end.status} at ${end.url}: ${end.text}`)
      return end.url
    },
    open: (url) => walk(url, () => false),
  }
}
