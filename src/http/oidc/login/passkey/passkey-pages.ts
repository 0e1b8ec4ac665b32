/** The pages of passkeys in a login, with their options: D-446. */
import { loginOwner } from '../../../../domain/factors/factor-owner.ts'
import { proveOptions } from '../../../../domain/factors/passkey/passkey-factor.ts'
import { signInOptions } from '../../../../domain/factors/passkey/prove-by-passkey.ts'
import { startEnrollmentInLogin } from '../../../../domain/login/enroll-second-factor.ts'
import { queriesOf } from '../../../../domain/login/outstanding-queries.ts'
import type { LoginPorts } from '../../../../domain/login/ports.ts'
import type { PartiallyAuthenticated } from '../../../../domain/login/request/auth-request.ts'
import type { OpenRequest } from '../../../../domain/login/request/find-request.ts'
import { Failure } from '../../../../errors/catalogue.ts'
import type { AuthQuery } from '../../../../protocol/auth-query.ts'
import type { SafeHtml } from '../../../../web/login/html.ts'
import { newPasskeyPage, passkeyPage } from '../../../../web/login/pages/passkey-page.ts'
import type { Call } from '../../../call.ts'
import type { ListenerParts } from '../../../listener-parts.ts'
import { partly } from '../during.ts'
import { hasApp } from '../login-step.ts'

export type PasskeyListener = Pick<ListenerParts, 'relyingParty' | 'totpHostname'>

/** The options for a passkey alone; undefined where none could succeed (D-430, D-431). */
export function offeredPasskey(
  ports: LoginPorts,
  { relyingParty }: Pick<PasskeyListener, 'relyingParty'>,
  call: Call,
  found: OpenRequest,
): object | undefined {
  const rp = relyingParty(call)
  const isAllowed = ports.rules.allDemands().some(({ allowsPasskey }) => allowsPasskey)
  if (rp === undefined || found.state !== 'awaiting-primary' || !isAllowed) return undefined
  return signInOptions(ports, { owner: loginOwner(found), rp })
}

export async function provePage(
  ports: LoginPorts,
  { relyingParty }: PasskeyListener,
  call: Call,
  { found, authRequestId, error, isCodeRefused }: Shown,
): Promise<SafeHtml> {
  const canUseApp = hasApp(await queriesOf(ports, found))
  const rp = relyingParty(call)
  const prover = { identityId: found.primary.identityId, owner: loginOwner(found), rp }
  const options = await proveOptions(ports, prover).catch(unlessElsewhere)
  const presentation = await partly(ports, call, found, authRequestId)
  return passkeyPage(presentation, { authRequestId, options, canUseApp, error, isCodeRefused })
}

/** D-430: passkeys of another host count as enrolled, and cannot be used here. */
function unlessElsewhere(failure: unknown): undefined {
  if (failure instanceof Failure && failure.code === 'PASSKEYS_UNAVAILABLE') return undefined
  throw failure
}

/** Starting stores nothing (D-435), so that a GET may do it. */
export async function enrollmentPage(
  ports: LoginPorts,
  { relyingParty, totpHostname }: PasskeyListener,
  call: Call,
  { found, authRequestId, error }: Shown,
): Promise<SafeHtml> {
  const authQueries = await queriesOf(ports, found)
  const rp = relyingParty(call)
  const hostname = totpHostname(call)
  const { setup, recoveryCodes } = await startEnrollmentInLogin(ports, {
    factor: 'passkey',
    request: found,
    hostname,
    rp,
  })
  const { publicKey } = setup
  return newPasskeyPage(await partly(ports, call, found, authRequestId), {
    authRequestId,
    options: publicKey,
    recoveryCodes,
    account: { issuer: publicKey.rp.name, name: publicKey.user.name },
    canUseApp: authQueries.some(({ typeId }) => typeId === 'MFA'),
    error,
  })
}

interface Shown {
  readonly found: PartiallyAuthenticated
  readonly authRequestId: string
  readonly error?: string
  /** Whether a recovery code was refused. */
  readonly isCodeRefused?: boolean
}

/** Whether a passkey that the user has, or could create, is one of the answers. */
export function hasPasskey(authQueries: readonly AuthQuery[], state: 'enrolled' | 'any'): boolean {
  return authQueries.some(
    (query) => query.typeId === 'PASSKEY' && (state === 'any' || query.isPasskeyEnrolled),
  )
}
