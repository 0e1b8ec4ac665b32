/** /account/passkeys: lists, adds, renames and removes the user's passkeys. D-437, D-446. */
import type { AuthenticatorId } from '../../base/ids.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import { isFreshLogin } from '../../domain/account/session.ts'
import { LONGEST_PASSKEY_NAME } from '../../domain/factors/passkey/passkey.ts'
import {
  startEnrollmentInSession,
  verifyEnrollmentInSession,
} from '../../domain/sessions/session-factors.ts'
import {
  listOwnPasskeys,
  passkeyOptionsInSession,
  removeOwnPasskey,
  renameOwnPasskey,
} from '../../domain/sessions/session-passkeys.ts'
import { Failure, type FailureCode } from '../../errors/catalogue.ts'
import {
  addPasskeyPage,
  PASSKEY_REMOVE_PATH,
  PASSKEY_RENAME_PATH,
  PASSKEY_START_PATH,
  PASSKEY_VERIFY_PATH,
  passkeysPage,
} from '../../web/account/passkeys-page.ts'
import { errorText } from '../../web/login/error-text.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import type { Answer } from '../answer.ts'
import { refusedPage } from '../error-replies.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { fieldOf } from '../own-site/form-checks.ts'
import { type Fields, textField } from '../reading/fields.ts'
import { newPasskeyAnswer, passkeyAnswer } from '../reading/passkey-fields.ts'
import type { AccountCall, AccountRoutes } from './account-route.ts'
import { accountPage, backTo } from './answers.ts'

/** What the user can correct on the page. */
const MENDABLE: readonly FailureCode[] = [
  'PASSKEY_INVALID',
  'PASSKEY_EXISTS',
  'MAX_PASSKEYS_REACHED',
  'PASSKEYS_UNAVAILABLE',
  'MFA_INVALID_TOKEN',
  'MFA_NOT_ENROLLED',
  'FACTOR_NOT_PROVEN',
  'RATE_LIMITED',
]

export function addPasskeysPage(
  routes: AccountRoutes,
  ports: AccountPorts,
  { relyingParty, totpHostname }: Pick<ListenerParts, 'relyingParty' | 'totpHostname'>,
): void {
  const ownOf = ({ session, head }: AccountCall) => ({ session, rp: relyingParty(head) })

  routes.show('passkeys', (call) => listed(call))

  routes.submit('passkeys', PASSKEY_START_PATH, (call) =>
    orListed(call, async () => {
      if (!(await isFreshLogin(ports, call.session))) return backTo('passkeys', 'confirm-first')
      const own = { ...ownOf(call), hostname: totpHostname(call.head), factor: 'passkey' } as const
      const { setup, recoveryCodes } = await startEnrollmentInSession(ports, own)
      const { publicKey: options } = setup
      const page = { options, recoveryCodes, issuer: options.rp.name }
      return accountPage(200, addPasskeyPage(call.frame, page))
    }),
  )

  routes.submit('passkeys', PASSKEY_VERIFY_PATH, (call, fields) =>
    orListed(call, async () => {
      const given = { answer: newPasskeyAnswer(fields), caller: call.caller }
      await verifyEnrollmentInSession(ports, { ...ownOf(call), factor: 'passkey' }, given)
      return backTo('passkeys', 'passkey-added')
    }),
  )

  routes.submit('passkeys', PASSKEY_RENAME_PATH, async (call, fields) => {
    const name = textField(fields, 'name', LONGEST_PASSKEY_NAME).trim()
    if (name !== '') await renameOwnPasskey(ports, ownOf(call), idIn(fields), name)
    return backTo('passkeys', 'passkey-renamed')
  })

  routes.submit('passkeys', PASSKEY_REMOVE_PATH, (call, fields) =>
    orListed(call, async () => {
      const given = { answer: passkeyAnswer(fields), caller: call.caller }
      await removeOwnPasskey(ports, ownOf(call), idIn(fields), given)
      return backTo('passkeys', 'passkey-removed')
    }),
  )

  /** The list with what is wrong, if the user can do something about it. */
  async function orListed(call: AccountCall, change: () => Promise<Answer>): Promise<Answer> {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (error.code === 'LOGIN_TOO_OLD') return backTo('passkeys', 'confirm-first')
      if (!MENDABLE.includes(error.code)) throw error
      const { message } = errorText(call.presentation, error.code)
      const html = await listed(call, message)
      return refusedPage(error, ports.brand, (status) => accountPage(status, html))
    }
  }

  async function listed(call: AccountCall, error?: string): Promise<SafeHtml> {
    const own = ownOf(call)
    const passkeys = await listOwnPasskeys(ports, call.session)
    const isProvable = passkeys.some(({ rpId }) => rpId === own.rp?.id)
    return passkeysPage(call.frame, {
      passkeys: passkeys.map(({ id, name, rpId, createdAt, lastUsedAt }) => ({
        id,
        name,
        elsewhere: rpId === own.rp?.id ? undefined : rpId,
        createdAt,
        lastUsedAt,
      })),
      isFresh: await isFreshLogin(ports, call.session),
      isAvailable: own.rp !== undefined,
      proof: isProvable ? await passkeyOptionsInSession(ports, own) : undefined,
      error,
    })
  }
}

function idIn(fields: Fields): AuthenticatorId {
  return fieldOf(fields, 'passkey') as AuthenticatorId
}
