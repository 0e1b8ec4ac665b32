/**
 * Starts everything of the demo in this process, on this machine only, and ends it: a service as in `latchkey run`,
 * users, an identity provider, a gateway, and a service behind it (D-169). If something fails, everything that was
 * started is ended.
 */

import { formatHostPort } from '../base/host-port.ts'
import { systemRandom } from '../base/secrets/random.ts'
import { Secret } from '../base/secrets/secret.ts'
import { abortable } from '../base/time/abortable.ts'
import { systemClock } from '../base/time/clock.ts'
import { seconds } from '../base/time/duration.ts'
import { startGateway } from '../gateway/gateway.ts'
import { upstreamTo } from '../gateway/settings/upstream-url.ts'
import { startRouter } from '../router/router.ts'
import { startEcho } from './echo.ts'
import { type DemoFolder, makeDemoFolder } from './folder.ts'
import { startIdp } from './idp/idp.ts'
import { startLines } from './lines.ts'
import { openLogFile } from './log-file.ts'
import { AT_IDP, drawPasswords, type Passwords } from './people.ts'
import { startPhone } from './phone.ts'
import { CLIENT_ID, GATEWAY, seed } from './seed.ts'
import { HOST, readCa, startService } from './service.ts'

export interface Demo {
  readonly folder: Pick<DemoFolder, 'path' | 'write'>
  readonly passwords: Passwords
  readonly serviceUrl: string
  readonly gatewayUrl: string
  readonly echoUrl: string
  readonly linesUrl: string
  /** The TCP service behind the gateway, for `latchkey connect`. */
  readonly linesName: string
  readonly idpUrl: string
  /** `otpauth://…` of tina's authenticator app. */
  readonly provisioningUrl: string
  stop(): Promise<void>
}

/** The name of the TCP service. */
const LINES = 'lines'

/** A demo waits for no request. */
const DRAIN = seconds(1)

const clock = systemClock
const random = systemRandom

/** `port` of the service; default: a free one. Throws RefusedStart; the reason of the signal if it aborts. */
export async function startDemo({
  port = 0,
  signal,
}: {
  readonly port?: number | undefined
  readonly signal: AbortSignal
}): Promise<Demo> {
  const open = new AsyncDisposableStack()
  /** Returns the thing, which is ended with the others from now on. Throws the reason of the signal. */
  function opened<T>(thing: T, end: (thing: T) => void | Promise<void>): T {
    open.adopt(thing, end)
    signal.throwIfAborted()
    return thing
  }
  try {
    const folder = opened(await makeDemoFolder(), (one) => one.remove())
    const logOf = (name: string) =>
      opened(openLogFile(folder.file(`${name}.log`)), (one) => one.close()).log
    const passwords = drawPasswords(random)

    const home = folder.file('home')
    const log = logOf('service')
    const given = { home, port, password: passwords.admin }
    const instance = await startService(given, { clock, random, log })
    const { listeners } = opened(instance, (one) => one.stop())
    const addresses = listeners.flatMap(({ baseUrls }) => baseUrls)
    const caPem = await readCa(home)
    const place = { url: addresses[0] ?? '', ca: caPem }
    await folder.write('ca.pem', caPem)

    const client = {
      clientId: CLIENT_ID,
      redirectUris: addresses.map((url) => `${url}/oidc/login/ext-jwt/callback`),
    }
    const idp = await startIdp(client, { people: AT_IDP, clock, random })
    opened(idp, (one) => one.stop())
    const seeded = await seed(place, { passwords, issuer: idp.issuer, folder, clock })
    const write = (text: string) => folder.write('tina.code', text)
    opened(await startPhone(seeded.totp.secret, { clock, write, log }), (one) => one.stop())

    const echo = opened(await startEcho(), (one) => one.stop())
    const lines = opened(await startLines(), (one) => one.stop())
    const gatewayLog = logOf('gateway')
    const router = opened(
      startRouter({ controller: place.url, identity: seeded.router, log: gatewayLog }),
      (one) => one.stop(),
    )
    const gateway = await startGateway({
      router,
      settings: {
        listen: { host: HOST, port: 0 },
        upstreams: [
          { ...upstreamTo({ kind: 'http', at: echo.at }), name: 'echo' },
          { ...upstreamTo({ kind: 'tcp', at: lines.at }), name: LINES },
        ],
      },
      // Users already trust its CA (D-170).
      certificatePem: seeded.router.cert,
      keyPem: new Secret(seeded.router.key),
      browsers: { controller: place.url, ca: caPem, clock },
      log: gatewayLog,
      random,
    })
    opened(gateway, (one) => one.stop(DRAIN))
    await abortable(router.ready, signal)
    return {
      folder,
      passwords,
      serviceUrl: place.url,
      gatewayUrl: `https://${formatHostPort({ host: HOST, port: gateway.port })}`,
      echoUrl: echo.origin,
      linesUrl: lines.url,
      linesName: `${GATEWAY}:${gateway.port}/${LINES}`,
      idpUrl: idp.issuer,
      provisioningUrl: seeded.totp.provisioningUrl,
      stop: () => open.disposeAsync(),
    }
  } catch (error) {
    await open.disposeAsync().catch(() => undefined) // report only the first failure
    throw error
  }
}
