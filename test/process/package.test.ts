/**
 * The package as it is published: built, packed, unpacked somewhere else, and run without its sources. Nothing is
 * fetched; the libraries are those of the checkout, the Node is the pinned one (D-100).
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bearer, logIn } from '../support/login/login.ts'
import { missingHome } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { childEnvironment } from '../support/process/program.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN, temporaryFolder } from '../support/service.ts'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../..', import.meta.url))

async function packedPackage(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t)
  // npm keeps its cache and its logs in the home of its user.
  const env = childEnvironment({
    npm_config_cache: join(folder, 'npm'),
    npm_config_offline: 'true',
  })
  await run(process.execPath, ['scripts/build.mjs'], { cwd: checkout, env })
  await run('npm', ['pack', '--pack-destination', folder], { cwd: checkout, env })
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? ''
  await run('tar', ['-xzf', archive], { cwd: folder })
  const unpacked = join(folder, 'package')
  await symlink(join(checkout, 'node_modules'), join(unpacked, 'node_modules'))
  return unpacked
}

test('the packed package', async (t) => {
  const folder = await packedPackage(t)
  const program = join(folder, 'bin', 'latchkey.js')

  await t.test('has what it runs and what people read, and neither sources nor tests', async () => {
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

  await t.test('has the client library as an entry of its own, and it logs in', async () => {
    const service = await startChild(t, { program, cwd: folder, home: await missingHome(t) })
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
    assert.equal((await service.stop()).code, 0)
    assert.ok(existsSync(join(folder, 'dist', 'client', 'client.d.ts')))
  })

  await t.test('runs a whole login, and says what it was built from', async () => {
    const service = await startChild(t, { program, cwd: folder, home: await missingHome(t) })
    const { access_token: token } = await logIn(service)
    const reply = await service.call('/edge/client/v1/current-identity', bearer(token))
    assert.equal(reply.json().data.name, 'admin')

    const built = JSON.parse(await readFile(join(folder, 'dist', 'build-info.json'), 'utf8'))
    assert.match(built.revision, /^([0-9a-f]{40}|unknown)$/)
    assert.match(built.buildDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const { revision, buildDate } = (await service.call('/version')).json().data
    assert.deepEqual({ revision, buildDate }, built)
    assert.equal((await service.stop()).code, 0)
  })
})
