/** What a running gateway does by itself: it follows its files, and renews its certificate. D-395, D-396. */
import type { Clock } from '../../base/time/clock.ts'
import { createRenewal } from '../../gateway/renewal/renewal.ts'
import { followFiles } from './follow-files.ts'
import type { GatewayPlace } from './home.ts'
import { readStored, writeStored } from './identity.ts'
import { type InUse, type ReloadPorts, reload } from './reload.ts'

/** How often files are looked at. */
const LOOK_MILLISECONDS = 2_000
/** How often the certificate is: a failure waits longer by itself. */
const RENEWAL_MILLISECONDS = 60_000

export function keepUp(deps: {
  readonly place: GatewayPlace
  readonly ports: ReloadPorts & { readonly clock: Clock }
  readonly inUse: () => InUse
  readonly use: (next: InUse) => void
}) {
  const { place, ports, inUse } = deps
  const { log, clock } = ports
  let working: Promise<void> = Promise.resolve()

  function files(): readonly string[] {
    const { certificate } = inUse().settings
    const own = certificate === undefined ? [] : [certificate.cert, certificate.key]
    return [...(place.file === undefined ? [] : [place.file]), place.identity, ...own]
  }
  const haveChanged = followFiles(files)

  /** One after the other: an older reading must not replace a newer one. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    working = working.then(work, work)
    return working
  }
  const readAgain = async () => deps.use(await reload(ports, inUse()))
  const renewal = createRenewal({
    clock,
    log,
    controller: () => inUse().settings.controller,
    read: () => readStored(place.identity),
    store: (identity) => writeStored(place.identity, identity),
    onRenewed: () => void inTurn(readAgain),
  })

  const look = () =>
    inTurn(async () => {
      if (await haveChanged()) await readAgain()
    })
  const renew = () => {
    if (place.isOwn) void renewal.look()
  }
  void look()
  renew()
  const timers = [setInterval(look, LOOK_MILLISECONDS), setInterval(renew, RENEWAL_MILLISECONDS)]
  return {
    /** At SIGHUP. */
    now: () => void inTurn(readAgain),
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await working
    },
  }
}
