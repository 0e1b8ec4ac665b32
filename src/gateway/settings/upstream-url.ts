/** An upstream as operators write it: `http://HOST[:PORT]` or `tcp://HOST:PORT`, on the command line with its name. */
import { formatHostPort, withoutBrackets } from '../../base/host-port.ts'
import type { UpstreamSettings, UpstreamTarget } from './settings.ts'

const HTTP_PORT = 80

export const UPSTREAM_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

/** Undefined unless the text is exactly that. */
export function parseUpstreamUrl(text: string): UpstreamTarget | undefined {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return undefined
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') return undefined
  const host = withoutBrackets(url.hostname)
  if (host === '') return undefined
  if (url.protocol === 'http:') {
    return { kind: 'http', at: { host, port: url.port === '' ? HTTP_PORT : Number(url.port) } }
  }
  if (url.protocol !== 'tcp:' || url.port === '') return undefined
  return { kind: 'tcp', at: { host, port: Number(url.port) } }
}

export function formatUpstreamUrl({ kind, at }: UpstreamTarget): string {
  return `${kind}://${formatHostPort(at)}`
}

/** `NAME=URL` or `URL`, as a member of the list in the file. */
export function parseUpstreamOption(
  text: string,
): { readonly name?: string; readonly url: string } | undefined {
  const [, name, url = text] = /^([^=:/]*)=(.*)$/.exec(text) ?? []
  if (parseUpstreamUrl(url) === undefined) return undefined
  if (name === undefined) return { url }
  return UPSTREAM_NAME.test(name) ? { name, url } : undefined
}

/** The name of an upstream that has none: its host, with a hyphen for whatever cannot be in a name. */
export function nameOf({ at }: UpstreamTarget): string {
  const name = at.host.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')
  return name.slice(0, 63).replace(/-$/, '') || 'upstream'
}

/** An upstream with every default. */
export function upstreamTo(to: UpstreamTarget): UpstreamSettings {
  return { name: nameOf(to), to, hosts: [], path: '/', require: {}, signIn: true }
}
