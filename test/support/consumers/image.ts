/**
 * Runs the steps of the Containerfile, because tests have no container runtime. The build takes long, so the tests of the
 * image and of the package use the same one.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { childEnvironment } from '../process/program.ts'

const run = promisify(execFile)
export const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))
const CONTAINERFILE = join(CHECKOUT, 'deploy/container/Containerfile')

let assembled: Promise<string> | undefined

interface Instruction {
  readonly word: string
  readonly text: string
}

export interface Copy {
  readonly from: string | undefined
  readonly sources: readonly string[]
  readonly to: string
}

export interface Stage {
  readonly image: string
  readonly name: string | undefined
  readonly instructions: readonly Instruction[]
}

export async function readStages(): Promise<readonly Stage[]> {
  const stages: { image: string; name: string | undefined; instructions: Instruction[] }[] = []
  for (const line of (await readFile(CONTAINERFILE, 'utf8')).split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, word = '', text = ''] = /^([A-Z]+) (.*[^\\])$/.exec(line) ?? assert.fail(line)
    if (word === 'FROM') {
      const [, image = '', name] = /^(\S+)(?: AS (\S+))?$/.exec(text) ?? assert.fail(text)
      stages.push({ image, name, instructions: [] })
    } else stages.at(-1)?.instructions.push({ word, text })
  }
  return stages
}

export function copiesOf({ instructions }: Stage): readonly Copy[] {
  return instructions
    .filter(({ word }) => word === 'COPY')
    .map(({ text }) => {
      const parts = text.split(' ')
      const from = /^--from=(.*)$/.exec(parts[0] ?? '')?.[1]
      if (from !== undefined) parts.shift()
      return { from, sources: parts.slice(0, -1), to: parts.at(-1) ?? '' }
    })
}

export const textsOf = ({ instructions }: Stage, wanted: string) =>
  instructions.filter(({ word }) => word === wanted).map(({ text }) => text)

export async function finalStage(): Promise<Stage> {
  return (await readStages()).at(-1) ?? assert.fail('no stage')
}

/** The folder of each stage: `build`, in which the package is built, `libraries`, and `image`, which the image runs. */
export function assembledStages(): Promise<string> {
  assembled ??= assemble()
  return assembled
}

/** Takes the steps of the Containerfile, with the libraries of the checkout. */
async function assemble(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-image-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const stages = await readStages()
  for (const stage of stages) {
    const here = join(folder, stage.name ?? 'image')
    for (const { from, sources, to } of copiesOf(stage)) {
      if (from !== undefined) continue
      for (const source of sources) {
        const target = to.endsWith('/') ? join(here, to, source) : join(here, to)
        await mkdir(dirname(target), { recursive: true })
        cpSync(join(CHECKOUT, source), target, { recursive: true })
      }
    }
  }
  // In the place of "npm ci": what it would install is here already, and nothing is fetched in a test.
  await symlink(join(CHECKOUT, 'node_modules'), join(folder, 'build/node_modules'))
  await copyShipped(join(folder, 'libraries/node_modules'))
  const [build] = textsOf(stages[1] ?? assert.fail(), 'RUN').slice(-1)
  assert.equal(build, 'node scripts/build.mjs')
  // Unlike in the image, so that the build says from which commit it is.
  const repository = { cwd: join(folder, 'build') }
  await run('git', ['init', '--quiet'], repository)
  const author = ['-c', 'user.name=Builder', '-c', 'user.email=builder@example.com']
  const commit = ['commit', '--quiet', '--allow-empty', '--message=build']
  await run('git', [...author, ...commit], repository)
  const env = childEnvironment({
    npm_config_cache: join(folder, 'npm'),
    npm_config_offline: 'true',
    // For the compiler: collecting garbage less often takes about a sixth less processor time.
    GOGC: '400',
  })
  await run(process.execPath, ['scripts/build.mjs'], { cwd: join(folder, 'build'), env })
  for (const { from, sources, to } of copiesOf(await finalStage())) {
    for (const source of from === undefined ? [] : sources) {
      const made = join(folder, source.replace(/^\/build/, from ?? ''))
      cpSync(made, join(folder, 'image', to), { recursive: true, verbatimSymlinks: true })
    }
  }
  return folder
}

/** Of the installed packages those that `--omit=dev` leaves, without the Node that the image removes. */
async function copyShipped(to: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(CHECKOUT, 'package-lock.json'), 'utf8'))
  const entries = Object.entries<{ dev?: boolean; devOptional?: boolean }>(lock.packages)
  const shipped = entries
    .filter(([path, entry]) => path.startsWith('node_modules/') && entry.dev !== true)
    .map(([path]) => path)
    .filter((path) => !/^node_modules\/node-(linux|bin|darwin|win)/.test(path))
    .filter((path) => existsSync(join(CHECKOUT, path)))
  for (const path of shipped) {
    const [from, copy] = [join(CHECKOUT, path), join(to, path.slice('node_modules/'.length))]
    // What is nested has an entry of its own.
    if (existsSync(join(from, 'node_modules'))) {
      const filter = (source: string) => !source.slice(from.length).includes('/node_modules/')
      cpSync(from, copy, { recursive: true, filter })
    } else cpSync(from, copy, { recursive: true })
  }
}
