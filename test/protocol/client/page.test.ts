/**
 * docs/client.md is run: every example as it stands there, in its order, each as a module of its own. Only the address
 * and the name of the library are replaced; what the page calls yours comes from here.
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as library from '../../../src/client/client.ts'
import { registerIdp } from '../../support/idp/jwt-login.ts'
import { authenticatorApp, PASSWORD } from '../../support/login/authenticator-app.ts'
import { administrate } from '../../support/management.ts'
import { ADMIN, type Service, startService, temporaryFolder } from '../../support/service.ts'

const page = await readFile(new URL('../../../docs/client.md', import.meta.url), 'utf8')
const LIBRARY = new URL('../../../src/client/client.ts', import.meta.url).href

const examples = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)

/** Runs an example with what it is given, and answers what it prints. */
async function run(
  t: TestContext,
  service: Service,
  code: string,
  given: Readonly<Record<string, unknown>>,
): Promise<readonly unknown[]> {
  const printed: unknown[] = []
  const all = { ...given, console: { log: (value: unknown) => printed.push(value) } }
  const key = Symbol.for(`example ${Math.max(0, examples.indexOf(code))}`)
  Reflect.set(globalThis, key, all)
  t.after(() => Reflect.deleteProperty(globalThis, key))
  const names = Object.keys(all).join(', ')
  const path = join(await temporaryFolder(t), 'example.mjs')
  const text = code
    .replaceAll("'latchkey/client'", JSON.stringify(LIBRARY))
    .replaceAll('https://auth.example.com:1280', service.baseUrl)
  await writeFile(
    path,
    `const { ${names} } = globalThis[Symbol.for(${JSON.stringify(key.description)})]\n${text}`,
  )
  await import(pathToFileURL(path).href)
  return printed
}

test('the examples of the page', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const { ca } = service
  const { password } = ADMIN
  const folder = await temporaryFolder(t)

  /** By the words that only this example has: what it is given, and what it prints. */
  const runs: Readonly<Record<string, () => Promise<readonly [object, readonly unknown[]]>>> = {
    'console.log(data.name)': async () => [{ ca, password }, ['admin']],

    'enrollTotp:': async () => {
      const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
      const policy = await admin.createPolicy({
        secondary: { requireTotp: true, requireExtJwt: idp.id },
      })
      const person = await admin.createIdentity({
        password: PASSWORD,
        policy,
        externalId: 'alice',
      })
      const { username } = person
      const credential = { method: 'password', username, password: PASSWORD }
      const shown: unknown[] = []
      const given = {
        ca,
        credential,
        show: (value: unknown) => shown.push(value),
        ask: (question: string) => {
          assert.equal(question, 'First code of the app: ')
          return authenticatorApp(String(shown[0]), service.clock).code()
        },
        jwtFrom: (issuer: string) => {
          assert.equal(issuer, idp.issuer)
          return idp.jwt('alice')
        },
      }
      return [given, [['pwd', 'otp', 'ext-jwt', 'mfa']]]
    },

    'restore(saved': async () => [{ ca, password, file: join(folder, 'session') }, [true]],

    'beginBrowserLogin()': async () => {
      const openBrowser = async (url: string) => {
        const begun = await service.client.call(url)
        const login = new URL(begun.headers.location ?? '', service.baseUrl)
        const finished = await service.client.call(login.href, { json: ADMIN })
        await fetch(finished.headers.location ?? '')
      }
      return [{ ca, openBrowser }, ['admin']]
    },

    'session.certificate()': async () => [{ ca, password }, [true]],

    'fetchCa({': async () => {
      const ask = async (question: string) => (question.includes('Right?') ? 'yes' : 'no')
      return [{ ask }, [true]]
    },

    'enroll(enrollmentJwt)': async () => {
      const newcomer = { name: 'newcomer', type: 'Default', isAdmin: false }
      const enrollment = { ott: true }
      const reply = await admin.call('POST', '/identities', { ...newcomer, enrollment })
      const enrollmentJwt = /"jwt":"([^"]+)"/.exec(reply.text)?.[1]
      assert.ok(enrollmentJwt, reply.text)
      return [{ enrollmentJwt }, [true]]
    },

    'newPassword: async': async () => {
      const newcomer = { name: 'newcomer with a password', type: 'Default', isAdmin: false }
      const enrollment = { updb: 'newcomer' }
      const reply = await admin.call('POST', '/identities', { ...newcomer, enrollment })
      const invitationToPassword = reply.json().data.enrollment.jwt
      const shown: unknown[] = []
      const answers = ['newcomer', 'short', 'newcomer', PASSWORD]
      const ask = async () => answers.shift()
      return [
        { invitationToPassword, ask, show: (text: unknown) => shown.push(text) },
        ['newcomer'],
      ]
    },

    'logInLegacy(': async () => [{ ca, password, ask: () => '' }, ['legacy']],

    'instanceof RateLimited': async () => [{ ca }, ['INVALID_AUTH']],
  }

  for (const [words, prepare] of Object.entries(runs)) {
    await t.test(`the one with ${words} does what it says`, async (t) => {
      const [code, ...others] = examples.filter((example) => example.includes(words))
      assert.ok(code !== undefined && others.length === 0, 'there is one such example')
      const [given, expected] = await prepare()
      const printed = await run(t, service, code, given as Record<string, unknown>)
      assert.deepEqual(printed, expected)
    })
  }

  await t.test('are all run', () => {
    assert.equal(examples.length, Object.keys(runs).length)
  })
})

test('the page lists every error class, and no other', () => {
  const isError = (value: unknown) =>
    typeof value === 'function' && value.prototype instanceof library.ClientError
  const exported = Object.entries(library).flatMap(([name, value]) => (isError(value) ? name : []))
  const [, table = ''] = page.split('## Errors')
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name)
  assert.deepEqual(listed.sort(), exported.sort())
})

test('the page lists every option of connect, and the methods of a session', async () => {
  const read = (name: string) =>
    readFile(fileURLToPath(new URL(`../../../src/client/${name}`, import.meta.url)), 'utf8')
  const members = (text: string, name: string) => {
    const [, body = ''] =
      new RegExp(`export interface ${name}[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(text) ?? []
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?:(]/gm)].map(([, member = '']) => member)
  }
  const options = members(await read('client.ts'), 'ConnectOptions')
  const methods = members(await read('session.ts'), 'Session')
  assert.ok(options.length > 5 && methods.length > 5)
  for (const member of [...options, ...methods]) {
    assert.match(page, new RegExp(`^\\|.*\`${member}[(\`].*\\|`, 'm'), member)
  }
})
