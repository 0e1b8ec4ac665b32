/**
 * The package as it is published: built, packed, installed into a project of somebody else, and run without its sources.
 * That project keeps its own Node (D-100), and the libraries work there on every Node that the docs promise (D-335).
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { assembledStages, CHECKOUT, finalStage, textsOf } from '../support/consumers/image.ts'
import {
  bytesBelow,
  installPackage,
  OTHER_NODES,
  writeEntries,
} from '../support/consumers/install-package.ts'
import { enrollRouter } from '../support/edge/feed-client.ts'
import { bearer, logIn } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { missingHome } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { childEnvironment } from '../support/process/program.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN } from '../support/service.ts'

const run = promisify(execFile)
const MEBIBYTE = 1024 * 1024

test('the published package', async (t) => {
  const consumer = await installPackage(t)
  const { installed: folder } = consumer
  const program = join(folder, 'bin', 'latchkey.js')

  await t.test('has what it runs and what users read, and neither sources nor tests', async () => {
    for (const name of ['bin', 'dist', 'docs', 'LICENSE', 'README.md', 'CHANGELOG.md']) {
      assert.ok(existsSync(join(folder, name)), name)
    }
    const files = await readdir(folder, { recursive: true })
    const ours = files.filter((name) => !name.startsWith('node_modules'))
    assert.deepEqual(
      ours.filter((name) => /\.test\.|(?<!\.d)\.ts$|\.map$|^test/.test(name)),
      [],
    )
  })

  await t.test('D-271: runs a bundle, with the licenses of the libraries in it', async () => {
    const names = await readdir(join(folder, 'dist', 'program'))
    assert.ok(names.includes('main.js') && names.includes('worker-process.js'))
    const licenses = await readFile(join(folder, 'dist', 'program', 'LICENSES.txt'), 'utf8')
    for (const name of ['jose', 'kysely', 'yaml', 'zod'])
      assert.match(licenses, RegExp(`^${name} \\d`, 'm'))
    // What the bundle has is not there a second time, unless a library of the package needs it.
    assert.ok(!existsSync(join(folder, 'dist', 'cli', 'run.js')))
    assert.ok(existsSync(join(folder, 'dist', 'app', 'instance.js')))
  })

  await t.test('R117: says what it brings along', async () => {
    const bom = JSON.parse(await readFile(join(folder, 'dist', 'sbom.json'), 'utf8'))
    assert.equal(bom.bomFormat, 'CycloneDX')
    const names = bom.components.map(({ name }: { name: string }) => name)
    assert.ok(names.includes('fastify'), 'a dependency')
    assert.ok(!names.includes('typescript'), 'no tool of ours')
  })

  await t.test('knows its version', async () => {
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const { code, stdout, stderr } = await runLatchkey(t, ['--version'], { program, cwd: folder })
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${version}\n`, stderr: '' })
  })

  await t.test('has the router library as an entry of its own', async () => {
    const script =
      "const { startRouter } = await import('latchkey/router'); console.log(typeof startRouter)"
    const args = ['--input-type=module', '-e', script]
    const { stdout } = await run(process.execPath, args, { cwd: folder })
    assert.equal(stdout, 'function\n')
  })

  await t.test('has a fake server for tests of clients as an entry of its own', async () => {
    const script =
      "const { SCENARIO_NAMES } = await import('latchkey/testing'); console.log(SCENARIO_NAMES[0])"
    const args = ['--input-type=module', '-e', script]
    const { stdout } = await run(process.execPath, args, { cwd: folder })
    assert.equal(stdout, 'lost-refresh\n')
    assert.ok(existsSync(join(folder, 'dist', 'testing', 'testing.d.ts')))
  })

  const service = await startChild(t, { program, cwd: folder, home: await missingHome(t) })

  await t.test('has the client library as an entry of its own, and it logs in', async () => {
    const script = `
      const { connect } = await import('latchkey/client')
      const [url, ca, username, password] = JSON.parse(process.env.EXAMPLE)
      const session = await (await connect({ url, ca })).logIn({ method: 'password', username, password })
      const response = await session.call('/edge/client/v1/current-identity')
      console.log((await response.json()).data.name)`
    const EXAMPLE = JSON.stringify([service.baseUrl, service.ca, ADMIN.username, ADMIN.password])
    const args = ['--input-type=module', '-e', script]
    const env = childEnvironment({ EXAMPLE })
    const { stdout } = await run(process.execPath, args, { cwd: folder, env })
    assert.equal(stdout, `${ADMIN.username}\n`)
    assert.ok(existsSync(join(folder, 'dist', 'client', 'client.d.ts')))
  })

  await t.test('runs a whole login, and says what it was built from', async () => {
    const { access_token: token } = await logIn(service)
    const reply = await service.call('/edge/client/v1/current-identity', bearer(token))
    assert.equal(reply.json().data.name, 'admin')

    const built = JSON.parse(await readFile(join(folder, 'dist', 'build-info.json'), 'utf8'))
    assert.match(built.revision, /^[0-9a-f]{40}$/)
    assert.match(built.buildDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const { revision, buildDate } = (await service.call('/version')).json().data
    assert.deepEqual({ revision, buildDate }, built)
  })

  await t.test('keeps its own Node, and stays small', async () => {
    assert.ok(!existsSync(join(consumer.folder, 'node_modules', '.bin', 'node')))
    assert.deepEqual(
      globSync(join(consumer.folder, 'node_modules', 'node-{linux,darwin,bin,win}*')),
      [],
    )
    assert.ok((await bytesBelow(join(consumer.folder, 'node_modules'))) < 60 * MEBIBYTE)
    assert.ok((await stat(consumer.archive)).size < 2.5 * MEBIBYTE)
  })

  await t.test('logs in, refreshes and runs a router, as ES module and as CommonJS', async (t) => {
    const { identityId, certificate } = await enrollRouter(t, await administrate(service))
    const router = {
      id: identityId,
      cert: certificate.pem,
      key: certificate.keyPem,
      ca: service.ca,
    }
    const EXAMPLE = JSON.stringify({ url: service.baseUrl, ca: service.ca, ...ADMIN, router })
    const entries = await writeEntries(consumer.folder)
    const nodes = [{ major: 'this', path: process.execPath }, ...OTHER_NODES]
    if (OTHER_NODES.length === 0) t.diagnostic('npm ci --prefix test/nodes brings Node 20 to 24')
    for (const node of nodes) {
      for (const entry of entries) {
        await t.test(`${entry} on Node ${node.major}`, async () => {
          const { stdout, stderr } = await run(node.path, [entry], {
            cwd: consumer.folder,
            env: childEnvironment({ EXAMPLE }),
          })
          assert.equal(stderr, '')
          assert.deepEqual(JSON.parse(stdout), {
            name: 'admin',
            isRotated: true,
            certificate: '-----BEGIN CERTIFICATE-----',
            cancelled: 'LoginCancelled',
            isCutOff: false,
            ended: 'SessionEnded',
          })
        })
      }
    }
  })

  await t.test('stops on SIGTERM', async () => {
    assert.equal((await service.stop()).code, 0)
  })

  await t.test('runs the command on Node 24 and newer, and says so on an older one', async () => {
    for (const node of [{ major: '26', path: process.execPath }, ...OTHER_NODES]) {
      const result = await run(node.path, [program, '--version']).then(
        ({ stderr }) => ({ code: 0, stderr }),
        ({ code, stderr }) => ({ code, stderr }),
      )
      if (Number(node.major) >= 24) assert.deepEqual(result, { code: 0, stderr: '' }, node.major)
      else {
        assert.equal(result.code, 1)
        assert.match(result.stderr, /^latchkey needs Node 24 or newer and was started by v2\d/)
      }
    }
  })

  await t.test('has types that need no skipLibCheck, for ES modules and CommonJS', async () => {
    const compilerOptions = {
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      target: 'es2023',
      lib: ['es2023'],
      module: 'nodenext',
      types: ['node'],
      typeRoots: [join(CHECKOUT, 'node_modules', '@types')],
    }
    const source = `import { connect, type Session } from 'latchkey/client'
import { startRouter } from 'latchkey/router'
export const logIn = async (url: string, password: string): Promise<Session> =>
  (await connect({ url })).logIn({ method: 'password', username: 'admin', password })
export const stop = (router: ReturnType<typeof startRouter>): Promise<void> => router.stop()\n`
    const types = join(consumer.folder, 'types')
    await mkdir(types)
    for (const name of ['module.mts', 'common.cts']) await writeFile(join(types, name), source)
    const config = JSON.stringify({ compilerOptions, include: ['*.mts', '*.cts'] })
    await writeFile(join(types, 'tsconfig.json'), config)
    const tsc = join(CHECKOUT, 'node_modules', 'typescript-7', 'bin', 'tsc')
    await run(process.execPath, [tsc, '--project', types]).catch(({ stdout }) =>
      assert.fail(stdout),
    )
  })
})

test('what the image holds runs a whole login, with nothing but the shipped libraries', async (t) => {
  const image = join(await assembledStages(), 'image')
  const stage = await finalStage()
  const [entry = ''] = textsOf(stage, 'ENTRYPOINT')
  const [node, program] = JSON.parse(entry)
  const [workdir] = textsOf(stage, 'WORKDIR')
  assert.equal(node, 'node')
  assert.equal(program, `${workdir}/bin/latchkey.js`)
  assert.deepEqual(textsOf(stage, 'CMD'), ['["run"]'])

  const files = async () =>
    (await readdir(image, { recursive: true })).filter(
      (name) => !name.startsWith('node_modules/.cache'),
    )
  const before = await files()
  const service = await startChild(t, {
    program: join(image, 'bin/latchkey.js'),
    cwd: image,
    home: await missingHome(t),
  })
  const { access_token: token } = await logIn(service)
  const reply = await service.call('/edge/client/v1/current-identity', bearer(token))
  assert.equal(reply.json().data.name, 'admin')
  assert.equal((await service.stop()).code, 0)
  // Its root may be read-only: beside the cache, which it does without, it writes in its home alone.
  assert.deepEqual(await files(), before)
  assert.ok(!before.some((name) => /^node_modules\/(node-|typescript|@biomejs)/.test(name)))
})
