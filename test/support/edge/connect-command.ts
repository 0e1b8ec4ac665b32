/** `latchkey connect` in a process of its own, for a user who is logged in. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { UpstreamSettings } from '../../../src/gateway/settings/settings.ts'
import { upstreamTo } from '../../../src/gateway/settings/upstream-url.ts'
import { eventually } from '../eventually.ts'
import { type Cli, cliFor, loginTo } from '../process/cli.ts'
import { collect, type Finished, programArguments } from '../process/program.ts'
import { programFor } from '../programs/shipped-program.ts'
import { ADMIN, type Service } from '../service.ts'

export const tcpUpstream = (name: string, port: number): UpstreamSettings => ({
  ...upstreamTo({ kind: 'tcp', at: { host: '127.0.0.1', port } }),
  name,
})

/** Logged in as the administrator, with the CA of the gateway in gateway-ca.pem. */
export async function travellingCli(
  t: TestContext,
  service: Pick<Service, 'baseUrl' | 'ca'>,
  gatewayCa: string,
): Promise<Cli> {
  const cli = await cliFor(t, service)
  await writeFile(join(cli.home, 'gateway-ca.pem'), gatewayCa)
  const login = [...loginTo(service), '--username', 'admin']
  await cli.succeed(login, `${ADMIN.password}\n`)
  return cli
}

export interface Connecting {
  readonly process: ChildProcessWithoutNullStreams
  readonly output: { stdout: string; stderr: string }
  readonly finished: Promise<Finished>
}

export function startConnect(t: TestContext, cli: Cli, args: readonly string[]): Connecting {
  const all = ['connect', ...args]
  const child = spawn(process.execPath, [...programArguments(programFor(t, all)), ...all], {
    env: cli.environment,
    cwd: cli.home,
  })
  t.after(() => void child.kill('SIGKILL'))
  child.stdin.on('error', () => undefined)
  return { process: child, ...collect(child) }
}

/** Started with `--listen 127.0.0.1:0`; returns its port. */
export async function listening({ output, process: child }: Connecting): Promise<number> {
  return eventually(() => {
    if (child.exitCode !== null) throw new Error(`it ended: ${output.stderr}`)
    const [, port] = /^Listening on 127\.0\.0\.1:(\d+) → /m.exec(output.stdout) ?? []
    return port === undefined ? undefined : Number(port)
  }, 'the line that says where it listens')
}

export interface LocalConnection {
  readonly socket: Socket
  readonly received: () => string
  /** The code of the error that ended it, or `end`. */
  readonly over: Promise<string>
}

export function connectLocally(t: TestContext, port: number): LocalConnection {
  const socket = connect({ port, host: '127.0.0.1' })
  t.after(() => void socket.destroy())
  let text = ''
  let why = 'end'
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    why = error.code ?? error.message
  })
  const over = new Promise<string>((resolve) => socket.once('close', () => resolve(why)))
  return { socket, received: () => text, over }
}

/** Sends the text, and waits until a service that echoes has sent it back. */
export async function echoLocally(
  { socket, received }: LocalConnection,
  text: string,
): Promise<void> {
  socket.write(text)
  await eventually(() => (received().endsWith(text) ? true : undefined), `the echo of ${text}`)
}
