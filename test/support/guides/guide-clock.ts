/**
 * `sleep` and `date` for the lines of a page, by the clock of the service that they talk to: a page may wait for what
 * expires, and no test waits with it.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { seconds } from '../../../src/base/time/duration.ts'
import { epochSeconds } from '../../../src/base/time/instant.ts'
import type { TestClock } from '../clocks/clock.ts'
import { temporaryFolder } from '../service.ts'

/** A PATH on which these two come first. Only `sleep SECONDS` and `date +%s` are there. */
export async function pathWithClock(t: TestContext, clock: TestClock): Promise<string> {
  const folder = await temporaryFolder(t)
  const socket = join(folder, 'clock')
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://clock')
    const argument = searchParams.get('argument') ?? ''
    if (pathname === '/sleep' && /^\d+$/.test(argument)) {
      clock.advance(seconds(Number(argument)))
      response.end()
    } else if (pathname === '/date' && argument === '+%s') {
      response.end(`${epochSeconds(clock.now())}\n`)
    } else response.writeHead(400).end()
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  t.after(() => new Promise((resolve) => server.close(resolve)))

  const bin = join(folder, 'bin')
  await mkdir(bin)
  for (const command of ['sleep', 'date']) {
    const file = join(bin, command)
    const ask = `curl -sSf -G --unix-socket '${socket}' --data-urlencode "argument=$1"`
    await writeFile(file, `#!/bin/sh\nexec ${ask} http://clock/${command}\n`)
    await chmod(file, 0o755)
  }
  return `${bin}:${process.env.PATH}`
}
