/** Which CAs a handshake names when it asks for a client certificate, as another TLS library reads it. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'

/** Subjects as openssl writes them: `O=Partner, CN=Partner CA`. */
export async function namedCas(port: number): Promise<readonly string[]> {
  const output = await new Promise<string>((resolve, reject) => {
    const arguments_ = ['s_client', '-connect', `127.0.0.1:${port}`]
    const child = execFile('openssl', arguments_, (error, stdout) =>
      stdout === '' ? reject(error) : resolve(stdout),
    )
    child.stdin?.end()
  })
  if (output.includes('No client certificate CA names sent')) return []
  const pattern = /Acceptable client certificate CA names\n((?:[A-Z]+ ?= ?.*\n)*)/
  const [, names = ''] = pattern.exec(output) ?? []
  assert.notEqual(names, '', output)
  // Some versions write spaces around the sign.
  return names.trimEnd().replaceAll(' = ', '=').split('\n')
}
