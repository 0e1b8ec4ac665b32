/** Starts node-oidc-provider, whose refresh is the unit of the table. */
import { spawn } from 'node:child_process'
import { on } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../support/ports.ts'
import { childEnvironment } from '../../support/process/program.ts'
import type { Address } from '../generator/connection.ts'
import { keepErrors, stop } from './latchkey.ts'
import { selfSigned } from './people.ts'
import type { ProviderSettings } from './provider-server.ts'

const SERVER = fileURLToPath(new URL('./provider-server.ts', import.meta.url))

export interface OtherProvider extends Address {
  readonly pid: number
  readonly refreshTokens: readonly string[]
  stop(): Promise<void>
}

export async function startProvider(sessions: number): Promise<OtherProvider> {
  const port = await freePort()
  const pair = await selfSigned('localhost')
  const settings: ProviderSettings = { port, sessions, ...pair }
  const child = spawn(process.execPath, [SERVER, JSON.stringify(settings)], {
    // As it is deployed; otherwise it prints warnings for developers.
    env: childEnvironment({ NODE_ENV: 'production' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = keepErrors(child)
  const lines = createInterface(child.stdout)
  for await (const [line] of on(lines, 'line', { close: ['close'] })) {
    if (!line.startsWith('[')) continue
    const refreshTokens: readonly string[] = JSON.parse(line)
    const pid = child.pid ?? 0
    return { pid, port, ca: pair.certPem, refreshTokens, stop: () => stop(child) }
  }
  throw new Error(`node-oidc-provider does not start: ${errors()}`)
}
