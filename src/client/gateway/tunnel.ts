/**
 * One TCP connection through a gateway, as an upgrade of an HTTP/1.1 request over its TLS connection. D-420. The same
 * request without the upgrade asks whether it would be allowed.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { formatHostPort } from '../../base/host-port.ts'
import { http } from '../../base/node/http.ts'
import { TCP_PROTOCOL, tcpPath } from '../../protocol/tcp-tunnel.ts'
import { Refused, ServerUnavailable, UnexpectedAnswer } from '../errors.ts'
import type { Session } from '../session.ts'
import { codeOf, refusalIn } from '../wire/answers.ts'
import { readBody, type WireAnswer } from '../wire/https-wire.ts'
import {
  dialGateway,
  type GatewayConnection,
  type GatewayPlace,
  type PresentedCertificate,
} from './dial.ts'

export { isTcpServiceName } from '../../protocol/tcp-tunnel.ts'

/** The gateway answered, and did not open the connection. `code` as in docs/router.md. */
export class GatewayRefused extends Refused {}

export interface GatewayCredential extends PresentedCertificate {
  readonly token: string
  /** The fields of a request, if the token alone is not enough: it may be bound to a key (D-457). */
  readonly authorize?: Session['authorization'] | undefined
}

/** The bytes of the service. */
export interface Tunnel extends Pick<GatewayConnection, 'reset'> {
  readonly stream: Duplex
}

export interface TcpTarget extends GatewayPlace {
  /** The service behind the gateway. */
  readonly name: string
}

/** As long as a gateway waits for its upstream, and a little more. */
const ANSWER_MILLISECONDS = 40_000
const LARGEST_ANSWER = 64 * 1024

/** Throws GatewayRefused, UntrustedServer, ServerUnavailable, UnexpectedAnswer; the reason of the signal. */
export async function openTunnel(
  target: TcpTarget,
  credential: GatewayCredential,
  signal?: AbortSignal,
): Promise<Tunnel> {
  const asked = await ask(target, credential, signal, {
    connection: 'Upgrade',
    upgrade: TCP_PROTOCOL,
  })
  if ('stream' in asked) return asked
  throw refusalOf(asked.answer, target)
}

/** Returns if a connection would be allowed. Throws as `openTunnel`. */
export async function probeTunnel(
  target: TcpTarget,
  credential: GatewayCredential,
  signal?: AbortSignal,
): Promise<void> {
  const asked = await ask(target, credential, signal, { connection: 'close' })
  if ('stream' in asked) asked.reset()
  else if (asked.answer.status !== 426) throw refusalOf(asked.answer, target)
}

async function ask(
  target: TcpTarget,
  credential: GatewayCredential,
  signal: AbortSignal | undefined,
  fields: Readonly<Record<string, string>>,
): Promise<Tunnel | { readonly answer: WireAnswer }> {
  const place = formatHostPort(target.at)
  const path = tcpPath(target.name)
  const own = (await credential.authorize?.({ method: 'GET', url: `https://${place}${path}` })) ?? {
    authorization: `Bearer ${credential.token}`,
  }
  const { socket, reset } = await dialGateway(target, credential, signal)
  const lost = (why: string) =>
    new ServerUnavailable('NO_ANSWER', `${place} did not answer: ${why}`, { mayHaveHappened: true })
  const call = http.request({
    createConnection: () => socket,
    method: 'GET',
    path,
    headers: { host: place, ...own, ...fields },
    maxHeaderSize: LARGEST_ANSWER,
  })
  const giveUp = () => socket.destroy()
  const timer = setTimeout(giveUp, ANSWER_MILLISECONDS)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    const outcome = await outcomeOf(call, place)
    return 'stream' in outcome ? { ...outcome, reset } : outcome
  } catch (error) {
    socket.destroy()
    signal?.throwIfAborted()
    throw error instanceof UnexpectedAnswer ? error : lost((error as Error).message)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}

function outcomeOf(
  call: ClientRequest,
  place: string,
): Promise<{ readonly stream: Duplex } | { readonly answer: WireAnswer }> {
  return new Promise((resolve, reject) => {
    call.on('error', reject)
    call.once('upgrade', (response, stream, head) => {
      if (response.headers.upgrade !== TCP_PROTOCOL) {
        reject(new UnexpectedAnswer(`${place} switched to another protocol`))
        return
      }
      stream.allowHalfOpen = true
      // Until a reader is there, an error must not end the process.
      stream.on('error', () => undefined)
      if (head.length > 0) stream.unshift(head)
      resolve({ stream })
    })
    call.once('response', (response) => {
      readAnswer(response).then((answer) => resolve({ answer }), reject)
    })
    call.end()
  })
}

async function readAnswer(response: IncomingMessage): Promise<WireAnswer> {
  const tooLarge = 'the answer of the gateway is too large'
  const body = await readBody(response, LARGEST_ANSWER, tooLarge)
  response.socket.destroy()
  const headers = new Headers()
  for (const [name, value = ''] of Object.entries(response.headers)) {
    headers.set(name, [value].flat().join(', '))
  }
  return { status: response.statusCode ?? 0, headers, body }
}

function refusalOf(answer: WireAnswer, { at, name }: TcpTarget): Error {
  const place = formatHostPort(at)
  const code = codeOf(answer)
  if (code === undefined || answer.status < 400) {
    return new UnexpectedAnswer(
      `${place} does not answer as a Latchkey gateway with TCP services does (${answer.status})`,
    )
  }
  return new GatewayRefused(code, `${place} refuses ${name} (${code})`, refusalIn(answer))
}
