/**
 * The README is run: the blocks of its first login, as they stand there, against a service of their own. Only the
 * port is another one, since 1280 may be taken.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { childEnvironment, startChild } from '../support/child-service.ts'
import { ADMIN, temporaryFolder } from '../support/service.ts'

const README = new URL('../../README.md', import.meta.url)
const readme = await readFile(README, 'utf8')
const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))

/** The blocks for a shell under the heading that begins like this. */
function blocksUnder(heading: string): readonly string[] {
  const section = readme.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
}

const [start, ...login] = blocksUnder('A first login')

function has(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs the script as if its lines were pasted one after the other, with what a person types on standard input. */
function paste(shell: string, script: string, cwd: string, typed: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      shell,
      ['-euc', script],
      { cwd, env: childEnvironment() },
      (error, out, err) => {
        if (error === null) resolve(out)
        else reject(new Error(`${error.message}\n${out}\n${err}`))
      },
    )
    child.stdin?.end(typed)
  })
}

test('the command that starts the service is the one of the package', () => {
  assert.equal(start, 'npm ci && npm start\n')
  assert.equal(manifest.scripts.start, 'node bin/latchkey.js run')
})

for (const shell of ['bash', 'zsh']) {
  const missing = [shell, 'curl', 'openssl'].filter((command) => !has(command))
  const skip = missing.length > 0 && `${missing.join(', ')} is not here`

  test(`the first login works as it is pasted into ${shell}`, { skip }, async (t) => {
    const folder = await temporaryFolder(t)
    const service = await startChild(t, { home: join(folder, 'latchkey-data') })
    assert.ok(login.some((block) => block.includes('https://localhost:1280\n')))
    const script = login.join('').replaceAll('localhost:1280', `localhost:${service.port}`)
    const output = await paste(shell, script, folder, `${ADMIN.password}\n`)

    const [, loginUrl, tokens = '', identity = '', browserUrl = ''] = splitOutput(output)
    assert.match(loginUrl ?? '', /\/oidc\/login\/username\?authRequestID=/)
    assert.equal(JSON.parse(tokens).token_type, 'Bearer')
    assert.equal(JSON.parse(identity).data.name, 'admin')
    const reply = await service.call(browserUrl.slice(service.baseUrl.length), {
      headers: { accept: 'text/html' },
    })
    assert.equal(reply.status, 302)
    assert.match(reply.headers.location ?? '', /^\/oidc\/login\/username\?authRequestID=/)
  })
}

/** The prompt, the login address, the tokens, the identity and the address for a browser. */
function splitOutput(output: string): readonly string[] {
  const separated = output.replace(/\}(?=https:)/, '}\n')
  return separated.trimEnd().split('\n')
}

test('every other command of the README exists', () => {
  for (const [, script = ''] of readme.matchAll(/npm (?:run )?((?:test|start|check)\S*)/g)) {
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
