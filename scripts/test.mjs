// Runs the tests of the kinds that are named, one kind after the other, each straight from TypeScript.
// Extra arguments after `--` go to node --test (for example: -- --test-name-pattern=code).
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

const KINDS = {
  unit: ['src/**/*.test.ts', 'test/architecture/**/*.test.ts'],
  store: ['test/store/**/*.test.ts'],
  protocol: ['test/protocol/**/*.test.ts'],
  process: ['test/process/**/*.test.ts'],
  fuzz: ['test/fuzz/**/*.test.ts'],
  browser: ['test/browser/**/*.test.ts'],
}

const [kinds, extra] = split(process.argv.slice(2))
const unknown = kinds.filter((kind) => !Object.hasOwn(KINDS, kind))
if (kinds.length === 0 || unknown.length > 0) {
  console.error(`usage: test.mjs ${Object.keys(KINDS).join('|')} …`)
  process.exit(64)
}

const files = kinds.flatMap((kind) => KINDS[kind].flatMap((pattern) => globSync(pattern)).sort())
const reporter = process.env.CI === undefined ? 'dot' : 'spec'
const { status } = spawnSync(
  process.execPath,
  ['--test', '--test-concurrency=2', `--test-reporter=${reporter}`, ...extra, ...files],
  { stdio: 'inherit' },
)
process.exit(status ?? 1)

function split(args) {
  const mark = args.indexOf('--')
  return mark < 0 ? [args, []] : [args.slice(0, mark), args.slice(mark + 1)]
}
