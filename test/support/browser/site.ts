/**
 * A small web site on this machine, for browsers to come from and to go to. Which host it is known by decides what
 * the browser takes for the same site: `localhost` and `127.0.0.1` are two.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { html, type SafeHtml } from '../../../src/web/login/html.ts'
import { listenUntilEnd } from '../ports.ts'

export type SiteHost = '127.0.0.1' | 'localhost' | '[::1]'

/** The content of the page at this address; undefined: there is none. */
export type SitePages = (
  request: IncomingMessage,
  url: URL,
) => SafeHtml | undefined | Promise<SafeHtml | undefined>

/** Answers the origin of the site. It ends with the test. */
export async function startSite(t: TestContext, host: SiteHost, pages: SitePages): Promise<string> {
  const server = createServer((request, response) => {
    answer(request, response, pages).catch((error: unknown) => response.destroy(error as Error))
  })
  return `http://${host}:${await listenAs(t, server, host)}`
}

/** Listens where a browser finds the host. Returns the port. */
export function listenAs(t: TestContext, server: Server, host: SiteHost): Promise<number> {
  return listenUntilEnd(t, server, { host: host === '[::1]' ? '::1' : '127.0.0.1' })
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pages: SitePages,
): Promise<void> {
  const content = await pages(request, new URL(request.url ?? '', 'http://site.invalid'))
  response.writeHead(content === undefined ? 404 : 200, { 'content-type': 'text/html' })
  // An icon of its own, so that the browser asks for none and complains about none.
  const head = html`<!doctype html><html lang="en"><title>A site</title><link rel="icon" href="data:,">`
  response.end(html`${head}${content}`.toString())
}
