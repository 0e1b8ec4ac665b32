// Runs the tests of the kinds that are named, one kind after the other, each straight from TypeScript.
// Extra arguments after `--` go to node --test (for example: -- --test-name-pattern=code).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const KINDS = {
  unit: ['src/**/*.test.ts', 'test/architecture/**/*.test.ts'],
  store: ['test/store/**/*.test.ts'],
  protocol: ['test/protocol/**/*.test.ts'],
  process: ['test/process/**/*.test.ts'],
  fuzz: ['test/fuzz/**/*.test.ts'],
  browser: ['test/browser/**/*.test.ts'],
  // What rests on the runtime most: TLS, HTTP, certificates, streams, crypto. For the oldest Node that we promise.
  runtime: [
    'test/protocol/{bearer,cert-login,errors,flow,gateway,libraries,listeners}/**/*.test.ts',
    'test/protocol/{router-feed,session-certificates}/**/*.test.ts',
    'test/store/sqlite.test.ts',
  ],
}

const [kinds, extra] = split(process.argv.slice(2))
const unknown = kinds.filter((kind) => !Object.hasOwn(KINDS, kind))
if (kinds.length === 0 || unknown.length > 0) {
  console.error(`usage: test.mjs ${Object.keys(KINDS).join('|')} …`)
  process.exit(64)
}

const files = kinds.flatMap((kind) => KINDS[kind].flatMap((pattern) => globSync(pattern)).sort())
const reporter = process.env.CI === undefined ? 'dot' : 'spec'
const needsPostgres = files.some((file) => readFileSync(file, 'utf8').includes('startPostgres'))
// One server for all files: each has databases of its own in it, and a server for each would take most of the time.
const postgres = needsPostgres
  ? await (await import('../test/support/stores/postgres.ts')).startPostgres()
  : undefined
try {
  process.exitCode = await runTests()
} finally {
  await postgres?.stop()
}

async function runTests() {
  const tests = spawn(
    process.execPath,
    // Many tests wait for something – a lock, a clock, a browser – so that four files share two cores well.
    ['--test', '--test-concurrency=4', `--test-reporter=${reporter}`, ...extra, ...files],
    {
      stdio: 'inherit',
      env: {
        // Every file is a process of its own; what it loads is compiled once for all of them.
        NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/tests', import.meta.url)),
        ...(postgres === undefined ? {} : { TEST_POSTGRES_URL: postgres.url }),
        ...process.env,
      },
    },
  )
  const [status] = await once(tests, 'exit')
  return status ?? 1
}

function split(args) {
  const mark = args.indexOf('--')
  return mark < 0 ? [args, []] : [args.slice(0, mark), args.slice(mark + 1)]
}
