/**
 * `latchkey connect`: a TCP service behind a gateway, on a port of this machine or on standard input and output. It shows
 * a certificate whose key stays in memory, and the token of the saved session; it ends with the session. D-423, D-424;
 * docs/connect.md.
 */
import { formatHostPort, isLoopbackHost } from '../../../base/host-port.ts'
import { systemClock } from '../../../base/time/clock.ts'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import { endsWithin } from '../../../base/time/within.ts'
import { SessionEnded } from '../../../client/client.ts'
import { createGatewayCredentials } from '../../../client/gateway/credentials.ts'
import { attempt, PATIENCE_MILLISECONDS, reach } from '../../../client/gateway/reach.ts'
import { probeTunnel, type TcpTarget, type Tunnel } from '../../../client/gateway/tunnel.ts'
import { openSession } from '../../contexts/open-session.ts'
import type { Run } from '../../table/command.ts'
import { reportFailure } from '../../terminal/failures.ts'
import { CommandFailed, EXIT, type ExitCode, type Io, Misuse } from '../../terminal/io.ts'
import { listenForSignals } from '../../terminal/signals.ts'
import { withProgress } from '../../terminal/waiting.ts'
import { readCa } from '../server-trust.ts'
import { findGateway } from './find-gateway.ts'
import { listenLocally } from './local-listener.ts'
import { explained } from './refusals.ts'
import { type SessionWatch, watchSession } from './session-watch.ts'
import { carryStandardStreams } from './stdio.ts'
import { readListen, readTarget } from './target.ts'

interface ConnectValues {
  readonly listen?: string
  readonly stdio?: boolean
  readonly ca?: string
  readonly context?: string
}

/** Used by both modes while they run. */
interface Running {
  readonly io: Io
  /** The service, as the user wrote it. */
  readonly service: string
  readonly open: (patienceMilliseconds: number) => Promise<Tunnel>
  /** Throws if a connection would be refused. */
  readonly probe: () => Promise<void>
  readonly watch: SessionWatch
  readonly stopped: Promise<NodeJS.Signals>
  readonly isStopping: () => boolean
}

export const connectService: Run<ConnectValues> = async (values, io, [text = '']) => {
  const wanted = readTarget(text)
  const way = readWay(values)
  const ca = await readCa(values.ca, io)
  const session = await openSession(values, io)
  const place = await withProgress(io, 'Asking the server', findGateway(wanted, session, ca))
  const target: TcpTarget = { ...place, name: wanted.name }
  const credentials = createGatewayCredentials({ session, clock: systemClock })
  const signals = listenForSignals(systemClock)
  const hangup = Promise.withResolvers<NodeJS.Signals>()
  // ssh sends it to its ProxyCommand at the end.
  signals.onHangup(() => hangup.resolve('SIGHUP'))
  const stopping = new AbortController()
  const stopped = Promise.race([signals.stop, hangup.promise])
  void stopped.then(() => stopping.abort())
  const watch = watchSession(session)
  const options = { credentials, clock: systemClock, signal: stopping.signal }
  const running: Running = {
    io,
    service: wanted.text,
    open: (patienceMilliseconds) => reach(target, { ...options, patienceMilliseconds }),
    probe: () =>
      attempt((shown) => probeTunnel(target, shown, stopping.signal), {
        ...options,
        patienceMilliseconds: 0,
      }),
    watch,
    stopped,
    isStopping: () => stopping.signal.aborted,
  }
  try {
    return await (way === 'stdio' ? carryOne(running) : listenAt(way.listen, running))
  } catch (error) {
    // D-190: nothing was open yet.
    if (stopping.signal.aborted) return (await stopped) === 'SIGINT' ? EXIT.cancelled : EXIT.ok
    throw explained(error, wanted.text)
  } finally {
    watch.stop()
    await endsWithin(CLEAN_UP, credentials.close())
    signals.release()
  }
}

type Way = 'stdio' | { readonly listen: ReturnType<typeof readListen> }

function readWay({ listen, stdio = false }: ConnectValues): Way {
  if ((listen === undefined) === !stdio) {
    throw new Misuse(
      listen === undefined
        ? '"connect" needs --listen HOST:PORT or --stdio'
        : '--listen and --stdio cannot be combined',
    )
  }
  return listen === undefined ? 'stdio' : { listen: readListen(listen) }
}

async function carryOne({ io, service, open, watch, stopped }: Running): Promise<ExitCode> {
  const tunnel = await open(PATIENCE_MILLISECONDS)
  const carried = carryStandardStreams(io.bytes, tunnel)
  const outcome = await Promise.race([
    carried,
    stopped.then(() => 'end' as const),
    watch.ended.then(() => 'cut' as const),
  ])
  io.bytes.input.destroy()
  if (!tunnel.stream.readableEnded) tunnel.reset()
  if (outcome === 'end') return EXIT.ok
  throw await reasonOf(
    watch,
    new CommandFailed(`${service}: the connection was cut`, EXIT.unavailable),
  )
}

async function listenAt(
  at: ReturnType<typeof readListen>,
  { io, service, open, probe, watch, stopped, isStopping }: Running,
): Promise<ExitCode> {
  await withProgress(io, `Connecting to ${service}`, probe())
  const tell = createTell(io)
  const listener = await listenLocally(at, {
    open: () => open(PATIENCE_MILLISECONDS),
    onFailure(error) {
      if (isStopping()) return
      void watch.ask()
      tell(explained(error, service))
    },
    onCut: () => void watch.ask(),
  })
  const place = formatHostPort({ host: at.host, port: listener.port })
  try {
    io.out(`Listening on ${place} → ${service}. Ctrl-C ends it.`)
    if (!isLoopbackHost(at.host)) {
      io.err(`latchkey: every machine that reaches ${place} can use ${service} as you`)
    }
    const end = await Promise.race([stopped, watch.ended.then((reason) => ({ reason }))])
    if (typeof end === 'string') return EXIT.ok
    const { reason } = end
    const isLoggedOut = reason instanceof CommandFailed && reason.exit === EXIT.denied
    if (!(reason instanceof SessionEnded) && !isLoggedOut) throw reason
    throw new CommandFailed(
      `the session has ended, so ${place} is closed; run: latchkey login, then the same command again`,
      EXIT.denied,
    )
  } finally {
    listener.stop()
  }
}

/** The session may have ended, which explains everything else. */
async function reasonOf(watch: SessionWatch, otherwise: unknown): Promise<unknown> {
  await watch.ask()
  return Promise.race([watch.ended, Promise.resolve(otherwise)])
}

/** One line for each failure, and not the same again while a client tries in a loop. */
function createTell(io: Pick<Io, 'err'>): (error: unknown) => void {
  let last = { line: '', at: 0 }
  return (error) => {
    reportFailure(error, {
      err(line) {
        const now = systemClock.uptime()
        const isRepeated = line === last.line && now - last.at < REPEAT_MILLISECONDS
        if (isRepeated) return
        last = { line, at: now }
        io.err(line)
      },
    })
  }
}

const REPEAT_MILLISECONDS = 10_000

/** Kept short, because the user waits for it. */
const CLEAN_UP: Duration = seconds(2)
