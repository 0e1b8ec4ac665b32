// Runs the tests of the named kinds directly from TypeScript.
// Extra arguments after `--` go to node --test (for example: -- --test-name-pattern=code).
//
// Loading and compiling the same modules in a process for each file would take most of the time, so files share a few
// long-lived processes (shards). A file that needs its own process says so, with the reason, in a comment that begins
// with `// Isolated:`.
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createComplianceRecorder, writeCompliance } from './compliance.ts'
import { createProgress } from './test-progress.mjs'
import { longestSilence, runLanes } from './test-shard.mjs'

/**
 * Shards: how many processes share the files. Tests that wait for child processes leave room for more than two.
 * isInMemory: temporary folders are on a disk in memory, if there is one (D-347).
 * typical: about how many seconds a file takes that test-seconds.json does not name; one, if nothing is said.
 */
const KINDS = {
  unit: {
    patterns: [
      'src/**/*.test.ts',
      'test/architecture/**/*.test.ts',
      'test/load/**/*.test.ts',
      'scripts/*.test.mjs',
    ],
    shards: 2,
    isInMemory: true,
    typical: 0.3,
  },
  store: { patterns: ['test/store/**/*.test.ts'], shards: 2, isInMemory: true, typical: 3 },
  protocol: { patterns: ['test/protocol/**/*.test.ts'], shards: 3, isInMemory: true },
  process: { patterns: ['test/process/**/*.test.ts'], shards: 4 },
  fuzz: { patterns: ['test/fuzz/**/*.test.ts'], shards: 2, isInMemory: true, typical: 3 },
  browser: { patterns: ['test/browser/**/*.test.ts'], shards: 3 },
  // Other toolchains; a test is skipped where its own is missing. Not part of `npm test`.
  clients: { patterns: ['test/clients/**/*.test.ts'], shards: 1 },
  // The long campaign: more than two hundred kills and fifty power cuts (D-305). Some are in an ordinary run, too.
  kills: {
    patterns: ['test/process/{kill,power}*.test.ts', 'test/store/durability.test.ts'],
    shards: 6,
    rounds: 25,
  },
  // What depends most on the runtime: TLS, HTTP, certificates, streams, crypto. For the oldest Node that we support.
  runtime: {
    patterns: [
      'test/protocol/{bearer,cert-login,flow,gateway,libraries,listeners}/**/*.test.ts',
      'test/protocol/{router-feed,session-certificates}/**/*.test.ts',
      // Without its longest file, which is about the databases.
      'test/protocol/errors/!(no-server-errors).test.ts',
      'test/store/sqlite.test.ts',
    ],
    shards: 4,
    isInMemory: true,
  },
}
/** How many of these processes run at a time, of any kind: each waits for a third of its time, and no core should. */
const AT_ONCE = 6
/** Where Linux has a disk in memory. */
const MEMORY = '/dev/shm'
const GIBIBYTE = 1024 ** 3
/** What it must have for the files of the tests, about ten times what they use, and for the databases, too: twice. */
const ROOM = 4 * GIBIBYTE
const ROOM_WITH_DATABASES = 8 * GIBIBYTE
/** About how long files take beside others, if it is more than a few seconds. Nothing but the order depends on it. */
const SECONDS = JSON.parse(readFileSync(new URL('./test-seconds.json', import.meta.url), 'utf8'))

const [names, extra] = split(process.argv.slice(2))
const unknown = names.filter((kind) => !Object.hasOwn(KINDS, kind))
if (names.length === 0 || unknown.length > 0) {
  console.error(`usage: test.mjs ${Object.keys(KINDS).join('|')} …`)
  process.exit(64)
}

const kinds = names.map((kind) => ({
  kind,
  shards: KINDS[kind].shards,
  files: KINDS[kind].patterns.flatMap((pattern) => globSync(pattern)).sort(),
}))
const texts = new Map(
  kinds.flatMap(({ files }) => files).map((file) => [file, readFileSync(file, 'utf8')]),
)
const inMemory = new Set(kinds.flatMap(({ kind, files }) => (KINDS[kind].isInMemory ? files : [])))
const memory = inMemory.size > 0 ? memoryFolder() : undefined
const needsPostgres = [...texts.values()].some((text) =>
  /startPostgres|migratedDatabase/.test(text),
)
// One server for all files: each has its own databases in it, and a server for each would take most of the time.
const postgres = needsPostgres
  ? await (await import('../test/support/stores/postgres.ts')).startPostgres(
      memory !== undefined && hasRoom(ROOM_WITH_DATABASES) ? memory : undefined,
    )
  : undefined
const startsPrograms = [...texts.values()].some((text) => text.includes('/process/'))
const programs = startsPrograms ? await bundle() : undefined
// So that what runs at the exit of this process runs after Ctrl-C, too.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const compliance = createComplianceRecorder()
const progress = recorded(createProgress({ kinds }))
const rounds = Math.max(...names.map((kind) => KINDS[kind].rounds ?? 1))
const env = {
  LATCHKEY_TEST_ROUNDS: String(rounds),
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/tests', import.meta.url)),
  ...(postgres === undefined ? {} : { TEST_POSTGRES_URL: postgres.url }),
  // It has a process of ours, unless somebody gave another server.
  TEST_POSTGRES_IS_TEMPORARY: String(postgres?.pid !== undefined),
  ...(programs === undefined ? {} : { LATCHKEY_TEST_PROGRAMS: programs }),
  ...(programs === undefined ? {} : { LATCHKEY_TEST_STARTED: join(programs, 'started') }),
  ...process.env,
}
const typical = new Map(
  kinds.flatMap(({ kind, files }) => files.map((file) => [file, KINDS[kind].typical ?? 1])),
)
try {
  // The longest first, so that no process is left alone at the end.
  const lanes = sharing(kinds)
    .flatMap(({ files, shards }) => lanesOf(files, shards))
    .toSorted((a, b) => secondsOf(b) - secondsOf(a))
  const silence = longestSilence(Number(env.LATCHKEY_TEST_ROUNDS))
  await runLanes(lanes, { atOnce: AT_ONCE, silence, extra, envOf, progress })
  if (names.includes('process') && extra.length === 0 && programs !== undefined) await checkStarts()
} finally {
  await postgres?.stop()
}
if (!progress.close()) process.exitCode = 1
writeCompliance(compliance.results)
// With a pattern for names, most tests of a file do not run.
const missing = extra.length > 0 ? [] : compliance.missing()
for (const test of missing) {
  console.error(`✖ docs/compliance.md names a test that did not run: ${test}`)
  process.exitCode = 1
}

/** Every outcome is also a result for docs/compliance.md (D-327). */
function recorded(progress) {
  return {
    ...progress,
    add(outcome, suspects) {
      compliance.add(relative(process.cwd(), outcome.file ?? ''), outcome)
      progress.add(outcome, suspects)
    },
    repeat(file) {
      compliance.repeat(file)
      progress.repeat(file)
    },
  }
}

/** Files of all kinds in memory share processes: one that has run some has loaded and compiled what others need. */
function sharing(kinds) {
  const together = kinds.filter(({ kind }) => KINDS[kind].isInMemory)
  const files = together.flatMap((kind) => kind.files)
  const shards = Math.max(0, ...together.map((kind) => kind.shards))
  return [{ files, shards }, ...kinds.filter(({ kind }) => !KINDS[kind].isInMemory)]
}

/** The files of each process, so that those of a kind take about the same time. */
function lanesOf(files, shards) {
  const isIsolated = (file) => /^\/\/ Isolated: \S/m.test(texts.get(file))
  const lanes = Array.from({ length: shards }, () => [])
  for (const file of files.filter((file) => !isIsolated(file)).toSorted(bySeconds)) {
    const [shortest] = lanes.toSorted((a, b) => secondsOf(a) - secondsOf(b))
    shortest.push(file)
  }
  return [
    // In the order in which node --test runs them.
    ...lanes.filter((lane) => lane.length > 0).map((lane) => lane.toSorted()),
    ...files.filter(isIsolated).map((file) => [file]),
  ]
}

function bySeconds(a, b) {
  return secondsOf([b]) - secondsOf([a]) || (a < b ? -1 : 1)
}

function secondsOf(lane) {
  return lane.reduce((sum, file) => sum + (SECONDS[file] ?? typical.get(file)), 0)
}

/** The environment of a process that runs these files, which are all in memory or all on the disk. */
function envOf([file]) {
  return memory !== undefined && inMemory.has(file) ? { ...env, TMPDIR: memory } : env
}

/** Returns a new folder in memory, or undefined if somebody named another or the system has none with enough room. */
function memoryFolder() {
  if (process.env.TMPDIR !== undefined || !hasRoom(ROOM)) return undefined
  try {
    const folder = mkdtempSync(join(MEMORY, 'latchkey-tests-'))
    // PostgreSQL does not run as root: its user needs the way to the folders of its own.
    chmodSync(folder, 0o711)
    process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    return folder
  } catch {
    return undefined
  }
}

function hasRoom(bytes) {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= bytes
  } catch {
    return false
  }
}

/** Undefined in a checkout whose packages are older than its sources. */
async function bundle() {
  try {
    return await (await import('./test-programs.mjs')).bundlePrograms()
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    console.warn('esbuild is missing, so child processes start slowly from the sources: run npm ci')
    return undefined
  }
}

/** Every command was started once as the shipped program (test/support/programs/shipped-program.ts). */
async function checkStarts() {
  const { COMMANDS } = await import('../src/cli/table/commands.ts')
  const started = new Set(readFileSync(env.LATCHKEY_TEST_STARTED, 'utf8').split('\n'))
  const never = COMMANDS.map(({ words }) => words).filter((words) => !started.has(words))
  if (never.length > 0) progress.fail(`no test started as a process: ${never.join(', ')}`)
}

function split(args) {
  const mark = args.indexOf('--')
  return mark < 0 ? [args, []] : [args.slice(0, mark), args.slice(mark + 1)]
}
