/**
 * Opens the session of a context for a command. It is the client library's session, except that every refresh happens
 * under the lock of the context and with the tokens that are in the file by then: a refresh token works once, and other
 * processes have the same one (D-165).
 */
import { systemClock } from '../../base/time/clock.ts'
import type { Call } from '../../client/api-call.ts'
import { requestCertificate } from '../../client/certificates/session-certificate.ts'
import {
  type Client,
  connect,
  type SavedSession,
  ServerUnavailable,
  type Session,
  SessionEnded,
} from '../../client/client.ts'
import { isFresh } from '../../client/saved-session.ts'
import { CommandFailed, EXIT, type Io } from '../terminal/io.ts'
import { plain } from '../terminal/output.ts'
import { withProgress } from '../terminal/waiting.ts'
import { readCertificateFiles } from './certificate-files.ts'
import { type Contexts, type Credentials, type NamedContext, openContexts } from './contexts.ts'

/** Throws CommandFailed if there is no login, and ClientErrors. */
export async function openSession(
  options: { readonly context?: string },
  io: Pick<Io, 'variables' | 'isInteractive' | 'askSecret' | 'progress' | 'onInterrupt'>,
  /** How long each request may take, if not as long as usual. */
  timeoutMilliseconds?: number,
): Promise<Session> {
  const contexts = openContexts(io)
  const context = await currentContext(contexts, options.context)
  const found = await contexts.credentials(context.name)
  if (found === undefined) throw notLoggedIn(context.name)
  const connecting = connect({ ...found.session, timeoutMilliseconds })
  const client = await withProgress(io, `Connecting to ${context.url}`, connecting)
  return createSharedSession({ contexts, name: context.name, client, io }, found)
}

/** The context that a command uses. */
export async function currentContext(
  contexts: Pick<Contexts, 'find'>,
  name: string | undefined,
): Promise<NamedContext> {
  const context = await contexts.find(name)
  if (context === undefined) {
    throw new CommandFailed('not logged in; run: latchkey login --url URL', EXIT.denied)
  }
  return context
}

export function notLoggedIn(name: string): CommandFailed {
  const sentence = `not logged in (context ${name}); run: latchkey login`
  return new CommandFailed(sentence, EXIT.denied)
}

async function createSharedSession(
  deps: {
    readonly contexts: Contexts
    readonly name: string
    readonly client: Client
    readonly io: Pick<Io, 'isInteractive' | 'askSecret'>
  },
  found: Credentials,
): Promise<Session> {
  const { contexts, name, client, io } = deps
  const certificate =
    found.certificate === undefined
      ? {}
      : { certificate: await readCertificateFiles(found.certificate) }
  const secondaryJwt = io.isInteractive
    ? async ({ issuer }: { readonly issuer: string }) =>
        (await io.askSecret(`JWT of ${plain(issuer)}: `)).trim()
    : undefined

  let lastJwt: string | undefined
  let saved = found.session
  let inner = withoutRefresh(saved)

  /** It cannot refresh by itself, and throws SessionEnded instead. */
  function withoutRefresh({ refreshToken: _, ...rest }: SavedSession): Session {
    let remembered = lastJwt
    return client.restore(rest, {
      ...certificate,
      secondaryJwt:
        secondaryJwt === undefined
          ? undefined
          : async (query) => {
              lastJwt = remembered ?? (await secondaryJwt(query))
              remembered = undefined
              return lastJwt
            },
    })
  }

  const left = () => saved.expiresAt - systemClock.now()

  /** Another process may have refreshed first; then its tokens are used. */
  async function renew(isWanted: (inFile: SavedSession) => boolean): Promise<void> {
    await contexts.exclusively(name, async () => {
      const now = await contexts.credentials(name)
      if (now === undefined) throw notLoggedIn(name)
      if (now.session.claims?.sid !== saved.claims.sid) {
        throw new CommandFailed(
          'another login has replaced this one in the meantime; try again',
          EXIT.again,
        )
      }
      saved = isWanted(now.session) ? await refreshed(now) : now.session
    })
    inner = withoutRefresh(saved)
  }

  async function refreshed(now: Credentials): Promise<SavedSession> {
    const onTokens = (session: SavedSession) => contexts.keepCredentials(name, { ...now, session })
    const whole = client.restore(now.session, { ...certificate, onTokens })
    try {
      await whole.refresh()
    } catch (error) {
      // Its tokens are no longer valid.
      if (error instanceof SessionEnded) await contexts.forgetCredentials(name)
      throw error
    }
    return whole.save()
  }

  async function freshen(): Promise<void> {
    if (isFresh(saved, systemClock.now())) return
    const before = saved.accessToken
    try {
      await renew((inFile) => inFile.accessToken === before)
    } catch (error) {
      if (!(error instanceof ServerUnavailable) || left() <= 0) throw error
    }
  }

  const call: Call = async (path, given) => {
    await freshen()
    const { accessToken } = saved
    try {
      return await inner.call(path, given)
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error
      // D-153: only the refresh distinguishes an ended session from a token that is no longer accepted.
      await renew((inFile) => inFile.accessToken === accessToken)
      return inner.call(path, given)
    }
  }

  return {
    id: saved.claims.sid,
    identityId: saved.claims.sub,
    claims: () => saved.claims,
    idToken: () => saved.idToken,
    async accessToken() {
      await freshen()
      return saved.accessToken
    },
    async authorization(request) {
      await freshen()
      return inner.authorization(request)
    },
    refresh() {
      const before = saved.accessToken
      return renew((inFile) => inFile.accessToken === before)
    },
    call,
    certificate: (given) => requestCertificate(call, saved.claims.sub, given),
    logout: () =>
      contexts.exclusively(name, async () => {
        const now = await contexts.credentials(name)
        const ending = await client.restore(now?.session ?? saved, certificate).logout()
        await contexts.forgetCredentials(name)
        return ending
      }),
    save: () => saved,
  }
}
