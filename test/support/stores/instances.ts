/**
 * Several instances of one installation: each with a home and a port of its own, one database, one secret, and one
 * address that clients use for all of them, as behind a load balancer. D-48.
 */
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freePort, webAt } from '../ports.ts'
import { type Service, type ServiceOptions, startService, temporaryFolder } from '../service.ts'

export interface Installation {
  /** Starts one more instance. Calls to it go to its own port and carry the shared address as Host. */
  start(t: TestContext, options?: Pick<ServiceOptions, 'clock' | 'config'>): Promise<Service>
  /** A home with the configuration of this installation and a secret of its own. */
  foreignHome(
    t: TestContext,
  ): Promise<{ home: string; config: NonNullable<ServiceOptions['config']> }>
}

export async function installation(
  db: string,
  /** Besides the two APIs. */
  bindings: readonly string[] = [],
): Promise<Installation> {
  const address = await freePort()
  const secret = newSecret()

  return {
    async start(t, options = {}) {
      const port = await freePort()
      const home = await homeWith(t, secret)
      const config = { db, web: webAt(port, address, bindings), ...options.config }
      const service = await startService(t, { ...options, home, config })
      const host = `localhost:${address}`
      return {
        ...service,
        call: (path, call) =>
          service.client.call(`https://localhost:${port}${path}`, {
            ...call,
            headers: { host, ...call?.headers },
          }),
      }
    },

    async foreignHome(t) {
      const config = { db, web: webAt(await freePort(), address) }
      return { home: await homeWith(t, newSecret()), config }
    },
  }
}

const newSecret = () => randomBytes(32).toString('base64url')

async function homeWith(t: TestContext, secret: string): Promise<string> {
  const home = await temporaryFolder(t)
  await writeFile(join(home, 'secret'), `${secret}\n`, { mode: 0o600 })
  return home
}
