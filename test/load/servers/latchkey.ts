/**
 * Latchkey as an operator runs it: `latchkey run` in a process of its own, with the settings of a new home. It is the bundle
 * that the package has, of the code in this checkout (D-271).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../support/ports.ts'
import { installAnewIn } from '../../support/process/child-home.ts'
import { childEnvironment } from '../../support/process/program.ts'
import { type Postgres, startOwnPostgres } from '../../support/stores/postgres.ts'
import { type Address, openConnection } from '../generator/connection.ts'
import { expect } from '../generator/login.ts'
import { bundledProgram } from './program.ts'

export const ADMIN_PASSWORD = 'bench administrator 4711'

/** Generous, so that a busy machine does not fail. */
const START_LIMIT_MILLISECONDS = 60_000

export interface Home {
  readonly folder: string
  readonly port: number
  /** Undefined for SQLite. */
  readonly database?: Database | undefined
}

/** A database of its own on a PostgreSQL that others use too. */
export interface Database {
  readonly url: string
  /** Of the server. */
  readonly pid: number
}

export interface Latchkey extends Address {
  readonly pid: number
  readonly home: Home
  /** From the start of the process to the first answer. */
  readonly startMilliseconds: number
  stop(): Promise<void>
}

/** A PostgreSQL for the bench: unlike that of the tests it waits for the disk and cleans up, as one of an operator does. */
export function startDatabaseServer(): Promise<Postgres> {
  return startOwnPostgres({ fsync: 'on', full_page_writes: 'on', autovacuum: 'on' })
}

/** A home that the first start will create; in a new database of `server`, if there is one. */
export async function newHome(parent: string, name: string, server?: Postgres): Promise<Home> {
  const home = { folder: join(parent, name), port: await freePort() }
  if (server?.pid === undefined) return home
  await (await startLatchkey(home)).stop()
  const url = await server.freshDatabase()
  await installAnewIn(home.folder, url)
  return { ...home, database: { url, pid: server.pid } }
}

/** Resolves when it has answered a first request. */
export async function startLatchkey(
  home: Home,
  nodeArguments: readonly string[] = [],
): Promise<Latchkey> {
  const { program, compileCache } = bundledProgram()
  const begun = performance.now()
  const child = spawn(process.execPath, [...nodeArguments, program, 'run', '--home', home.folder], {
    env: childEnvironment({
      NODE_COMPILE_CACHE: compileCache,
      LATCHKEY_ADDRESS: `localhost:${home.port}`,
      LATCHKEY_ADMIN_PASSWORD: ADMIN_PASSWORD,
    }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const errors = keepErrors(child)
  try {
    const ca = await waitForCa(home, begun + START_LIMIT_MILLISECONDS, child)
    const first = await openConnection({ port: home.port, ca })
    await expect(first, 200, { method: 'GET', path: '/version' })
    const startMilliseconds = performance.now() - begun
    first.close()
    return {
      pid: child.pid ?? 0,
      home,
      port: home.port,
      ca,
      startMilliseconds,
      stop: () => stop(child),
    }
  } catch (error) {
    await stop(child)
    throw new Error(`Latchkey does not start: ${errors()}`, { cause: error })
  }
}

/** SIGTERM, then the end of the process. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'exit')
  child.kill('SIGTERM')
  await closed
}

/** The log has a line for each request, which nobody reads here: only its end is kept. */
export function keepErrors(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (more: string) => {
    text = `${text}${more}`.slice(-4000)
  })
  return () => text
}

/** The port is bound before a new home is complete, so both are waited for. */
async function waitForCa(home: Home, deadline: number, child: ChildProcess): Promise<string> {
  const file = join(home.folder, 'pki', 'ca.pem')
  while (!(existsSync(file) && (await isOpen(home.port)))) {
    if (child.exitCode !== null) throw new Error(`exit code ${child.exitCode}`)
    if (performance.now() > deadline) throw new Error('nothing listens')
    await pause(5)
  }
  return readFile(file, 'utf8')
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
