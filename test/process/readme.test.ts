/**
 * The first login is run: the blocks of docs/first-login.md, as they stand there, against a service of their own. Only
 * the port is another one, since 1280 may be taken. And the README stays one screen whose commands exist.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runGuide } from '../support/guides/guide.ts'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

const README = new URL('../../README.md', import.meta.url)
const readme = await readFile(README, 'utf8')
const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))

const START = 'npm ci && npm start\n'
const LOGIN =
  'latchkey login --url https://localhost:1280 --ca latchkey-data/pki/ca.pem --username admin'

function has(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('the command that starts the service is the one of the package', () => {
  assert.ok(readme.includes(START))
  const build = 'node scripts/site.ts --if-needed && exec '
  assert.equal(manifest.scripts.start, `${build}node bin/latchkey.js run`)
  assert.equal(manifest.scripts.demo, `${build}node bin/latchkey.js demo`)
})

test('the README is one screen, with a small picture', async () => {
  assert.ok(readme.split('\n').length <= 45)
  const [, picture = ''] = /!\[.{20,}\]\((\S+)\)/.exec(readme) ?? []
  assert.ok((await readFile(new URL(picture, README))).length < 100 * 1024, picture)
  assert.ok(readme.includes('\nnpm ci && npm run demo\n'))
})

for (const shell of ['bash', 'zsh']) {
  const missing = [shell, 'curl', 'openssl'].filter((command) => !has(command))
  const skip = missing.length > 0 && `${missing.join(', ')} is not here`

  test(`the first login works as it is pasted into ${shell}`, { skip }, async (t) => {
    const folder = await temporaryFolder(t)
    const home = join(folder, 'latchkey-data')
    await copyInstalledHome(home)
    const service = await startService(t, { home })
    for (const part of ['bin', 'node_modules']) {
      await symlink(fileURLToPath(new URL(part, README)), join(folder, part))
    }
    await writeFile(join(folder, 'password'), `${ADMIN.password}\n`)
    const outputs = await runGuide(t, 'docs/first-login.md', {
      cwd: folder,
      shell,
      typed: `${ADMIN.password}\n`,
      replace: {
        // A person types it at the prompt; the next block reads standard input too.
        [LOGIN]: `${LOGIN} < password`,
        'localhost:1280': new URL(service.baseUrl).host,
      },
      notRun: {
        [START]: 'it runs already, on another port',
      },
    })

    const [, who = '', , loginUrl, tokens = '', identity = '', browserUrl = '', checked = ''] =
      outputs
    assert.match(who, /^name +admin$/m)
    assert.match(who, /^NAME .*\nadmin /m)
    assert.equal(checked, 'The configuration is valid.\n')
    assert.match(loginUrl ?? '', /\/oidc\/login\/username\?authRequestID=/)
    assert.equal(JSON.parse(tokens).token_type, 'Bearer')
    assert.equal(JSON.parse(identity).data.name, 'admin')
    const reply = await service.call(browserUrl.trim().slice(service.baseUrl.length), {
      headers: { accept: 'text/html' },
    })
    assert.equal(reply.status, 302)
    assert.match(reply.headers.location ?? '', /^\/oidc\/login\/username\?authRequestID=/)
  })
}

test('every other command of the README exists', () => {
  for (const [, script = ''] of readme.matchAll(/npm (?:run )?((?:test|start|check|demo)\S*)/g)) {
    assert.ok(manifest.scripts[script.replace(/[`.,]+$/, '')], script)
  }
  for (const [, path = ''] of readme.matchAll(/(?:node |latchkey\.js |^)(bin\/\S+)/gm)) {
    assert.ok(existsSync(fileURLToPath(new URL(path, README))), path)
  }
})

test('every page that the README names is there', () => {
  for (const [, path = ''] of readme.matchAll(/\]\(([^)#]+)\)/g)) {
    assert.ok(existsSync(fileURLToPath(new URL(path, README))), path)
  }
  for (const [, anchor = ''] of readme.matchAll(/\]\(#([^)]+)\)/g)) {
    const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    assert.ok(headings.includes(anchor), anchor)
  }
})
