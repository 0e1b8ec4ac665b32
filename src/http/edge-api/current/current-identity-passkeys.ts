/**
 * /current-identity/passkeys and /authenticate/passkey, on both APIs: the caller's passkeys. D-434, D-437. Adding one also
 * works with a partial legacy session, which it completes; the rest needs a full one.
 */
import { Ignored } from '../../../contract/authenticate.ts'
import {
  NewPasskey,
  PasskeyAnswer,
  PasskeyOptionsReply,
  PasskeyReply,
  PasskeysReply,
  RenamedPasskey,
  StartedPasskeyReply,
} from '../../../contract/passkeys.ts'
import { LONGEST_PASSKEY_NAME } from '../../../domain/factors/passkey/passkey.ts'
import type { CallSession } from '../../../domain/sessions/call-session.ts'
import type { SessionPorts } from '../../../domain/sessions/ports.ts'
import {
  proveInSession,
  startEnrollmentInSession,
  verifyEnrollmentInSession,
} from '../../../domain/sessions/session-factors.ts'
import {
  listOwnPasskeys,
  passkeyOptionsInSession,
  removeOwnPasskey,
  renameOwnPasskey,
} from '../../../domain/sessions/session-passkeys.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { bodyFields } from '../../reading/body.ts'
import { fieldsBody } from '../../reading/declared-body.ts'
import { textField } from '../../reading/fields.ts'
import type { RequestHead } from '../../reading/header-fields.ts'
import { newPasskeyAnswer, passkeyAnswer } from '../../reading/passkey-fields.ts'
import { found, idIn, made } from '../answers.ts'
import type { Api } from '../api.ts'
import { passkeyBody } from '../passkey-body.ts'

const ALL = '/current-identity/passkeys'
const ONE = `${ALL}/:id` as const
const PROVE = '/authenticate/passkey'

export function addCurrentIdentityPasskeys(
  api: Api,
  ports: SessionPorts,
  { totpHostname, relyingParty }: Pick<ListenerParts, 'totpHostname' | 'relyingParty'>,
): void {
  const ownOf = (call: RequestHead & { readonly session: CallSession }) => ({
    session: call.session,
    rp: relyingParty(call),
  })
  const bodyOf = (passkey: Parameters<typeof passkeyBody>[0]) => passkeyBody(passkey, ALL.slice(1))

  for (const path of [`${PROVE}/options`, `${ALL}/options`] as const) {
    api.add(
      {
        method: 'POST',
        path,
        access: 'partial',
        summary: 'Get the options to prove one of your passkeys',
        description:
          'For `navigator.credentials.get()`. The answer goes where the proof is needed.',
        body: fieldsBody(Ignored),
        answers: { 200: PasskeyOptionsReply },
        codes: ['MFA_NOT_ENROLLED', 'PASSKEYS_UNAVAILABLE'],
      },
      async (call) => found({ publicKey: await passkeyOptionsInSession(ports, ownOf(call)) }),
    )
  }

  api.act(
    {
      method: 'POST',
      path: PROVE,
      access: 'partial',
      summary: 'Prove a passkey of a partial session',
      body: fieldsBody(PasskeyAnswer),
      codes: ['PASSKEY_INVALID', 'MFA_INVALID_TOKEN', 'MFA_NOT_ENROLLED', 'RATE_LIMITED'],
    },
    async (call) => {
      const given = { answer: passkeyAnswer(bodyFields(call.body)), caller: call.caller }
      await proveInSession(ports, { ...ownOf(call), factor: 'passkey' }, given)
    },
  )

  api.add(
    {
      method: 'GET',
      path: ALL,
      access: 'session',
      summary: 'List your passkeys',
      answers: { 200: PasskeysReply },
    },
    async ({ session }) => found((await listOwnPasskeys(ports, session)).map(bodyOf)),
  )

  api.add(
    {
      method: 'POST',
      path: ALL,
      access: 'partial',
      summary: 'Get the options for a new passkey',
      description:
        'For `navigator.credentials.create()`. The login must be at most ten minutes old. Nothing is stored before the ' +
        'passkey is added.',
      body: fieldsBody(Ignored),
      answers: { 201: StartedPasskeyReply },
      codes: ['LOGIN_TOO_OLD', 'FACTOR_NOT_PROVEN', 'PASSKEYS_UNAVAILABLE', 'MAX_PASSKEYS_REACHED'],
    },
    async (call) => {
      const own = { ...ownOf(call), hostname: totpHostname(call), factor: 'passkey' } as const
      const { setup, recoveryCodes } = await startEnrollmentInSession(ports, own)
      return made({ publicKey: setup.publicKey, recoveryCodes: [...recoveryCodes] })
    },
  )

  api.add(
    {
      method: 'POST',
      path: `${ALL}/verify`,
      access: 'partial',
      summary: 'Add the passkey that a browser created',
      description: 'Completes a partial legacy session that needed a passkey.',
      body: fieldsBody(NewPasskey),
      answers: { 201: PasskeyReply },
      codes: [
        'LOGIN_TOO_OLD',
        'PASSKEY_INVALID',
        'PASSKEY_EXISTS',
        'MAX_PASSKEYS_REACHED',
        'FACTOR_NOT_PROVEN',
        'MFA_ENROLLMENT_NOT_STARTED',
      ],
    },
    async (call) => {
      const given = { answer: newPasskeyAnswer(bodyFields(call.body)), caller: call.caller }
      const one = { ...ownOf(call), factor: 'passkey' } as const
      const added = await verifyEnrollmentInSession(ports, one, given)
      if (added === undefined) throw new Error('a passkey was added, and is not there')
      return made(bodyOf(added))
    },
  )

  api.act(
    {
      method: 'PATCH',
      path: ONE,
      access: 'session',
      summary: 'Rename a passkey',
      body: fieldsBody(RenamedPasskey),
    },
    async (call) => {
      const name = textField(bodyFields(call.body), 'name', LONGEST_PASSKEY_NAME)
      await renameOwnPasskey(ports, ownOf(call), idIn(call.path), name)
    },
  )

  api.act(
    {
      method: 'DELETE',
      path: ONE,
      access: 'session',
      summary: 'Remove a passkey',
      description:
        'Needs the answer of a passkey, a code of the authenticator app, or a recovery code. Ends the sessions that began ' +
        'with it.',
      body: fieldsBody(PasskeyAnswer),
      codes: ['PASSKEY_INVALID', 'MFA_INVALID_TOKEN', 'MFA_NOT_ENROLLED', 'RATE_LIMITED'],
    },
    async (call) => {
      const given = { answer: passkeyAnswer(bodyFields(call.body)), caller: call.caller }
      await removeOwnPasskey(ports, ownOf(call), idIn(call.path), given)
    },
  )
}
