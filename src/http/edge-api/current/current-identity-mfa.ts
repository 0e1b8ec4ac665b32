/**
 * /current-identity/mfa, on both APIs: the caller's TOTP enrollment. API 3.1. Start, read, verify and cancel also work
 * with a partial legacy session, which verifying completes; the rest needs a full one.
 */

import { Code, Ignored, OptionalCode } from '../../../contract/authenticate.ts'
import {
  FreshRecoveryCodesReply,
  type MfaEnrollment,
  MfaEnrollmentReply,
  RecoveryCodesLeftReply,
  StartedMfaEnrollmentReply,
} from '../../../contract/mfa.ts'
import type { FoundEnrollment } from '../../../domain/factors/second-factor.ts'
import type { TotpSetup } from '../../../domain/factors/totp/enroll-totp.ts'
import { invalid } from '../../../domain/refusals.ts'
import type { CallSession } from '../../../domain/sessions/call-session.ts'
import type { SessionPorts } from '../../../domain/sessions/ports.ts'
import {
  countRecoveryCodes,
  findEnrollmentInSession,
  removeEnrollmentInSession,
  renewRecoveryCodes,
  startEnrollmentInSession,
  verifyEnrollmentInSession,
} from '../../../domain/sessions/session-factors.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { MFA_VALIDATION_CODE_HEADER } from '../../../protocol/headers.ts'
import { qrCodePng, qrCodeSvg } from '../../../web/login/qr-code.ts'
import type { Answer } from '../../answer.ts'
import type { Call } from '../../call.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import { bodyFields } from '../../reading/body.ts'
import { fieldsBody } from '../../reading/declared-body.ts'
import { codeField } from '../../reading/fields.ts'
import { type RequestHead, rawValues } from '../../reading/header-fields.ts'
import { preferencesOf } from '../../reading/negotiation.ts'
import { found, made, selfLink } from '../answers.ts'
import type { Api } from '../api.ts'

const MFA = '/current-identity/mfa'
const RECOVERY_CODES = `${MFA}/recovery-codes` as const

const CODE_FIELD = {
  [MFA_VALIDATION_CODE_HEADER]: 'A code of the authenticator app, or a recovery code.',
}

export function addCurrentIdentityMfa(
  api: Api,
  ports: SessionPorts,
  { totpHostname }: Pick<ListenerParts, 'totpHostname'>,
): void {
  const atHost = (call: RequestHead & { readonly session: CallSession }) =>
    ({ ...totpOf(call), hostname: totpHostname(call) }) as const

  api.add(
    {
      method: 'POST',
      path: MFA,
      access: 'partial',
      summary: 'Begin a TOTP enrollment',
      description: 'Replaces a pending one. The recovery codes are shown only once.',
      body: fieldsBody(Ignored),
      answers: { 201: StartedMfaEnrollmentReply },
      codes: ['MFA_EXISTS', 'FACTOR_NOT_PROVEN', 'LOGIN_TOO_OLD'],
    },
    async (call) => {
      const started = await startEnrollmentInSession(ports, atHost(call))
      return made({ ...enrollmentBody(started), recoveryCodes: [...started.recoveryCodes] })
    },
  )

  api.add(
    {
      method: 'GET',
      path: MFA,
      access: 'partial',
      summary: 'Read your TOTP enrollment',
      answers: { 200: MfaEnrollmentReply },
      codes: ['MFA_ENROLLMENT_NOT_STARTED'],
    },
    async (call) => found(enrollmentBody(await findEnrollmentInSession(ports, atHost(call)))),
  )

  api.act(
    {
      method: 'DELETE',
      path: MFA,
      access: 'partial',
      summary: 'Cancel a pending TOTP enrollment, or remove a verified one',
      description: 'Removing a verified one needs a full session and a code.',
      headers: CODE_FIELD,
      body: fieldsBody(OptionalCode),
      codes: [
        'MFA_INVALID_TOKEN',
        'MFA_ENROLLMENT_NOT_STARTED',
        'MFA_NOT_ENROLLED',
        'RATE_LIMITED',
      ],
    },
    async (call) => {
      const given = { answer: readCode(call), caller: call.caller }
      await removeEnrollmentInSession(ports, totpOf(call), given)
    },
  )

  api.act(
    {
      method: 'POST',
      path: `${MFA}/verify`,
      access: 'partial',
      summary: 'Prove the authenticator app of a pending TOTP enrollment',
      description: 'Completes a partial legacy session that needed a code.',
      body: fieldsBody(Code),
      codes: [
        'MFA_INVALID_TOKEN',
        'MFA_ENROLLMENT_NOT_STARTED',
        'FACTOR_NOT_PROVEN',
        'LOGIN_TOO_OLD',
        'RATE_LIMITED',
      ],
    },
    async (call) => {
      const given = { answer: codeField(bodyFields(call.body)), caller: call.caller }
      await verifyEnrollmentInSession(ports, totpOf(call), given)
    },
  )

  api.add(
    {
      method: 'GET',
      path: `${MFA}/qr-code`,
      access: 'partial',
      summary: 'Get the QR code of a pending TOTP enrollment',
      answers: {
        200: {
          types: ['image/png', 'image/svg+xml'],
          about: 'The QR code, of the type in Accept.',
        },
      },
      codes: ['MFA_ENROLLMENT_NOT_STARTED', 'NOT_ACCEPTABLE'],
    },
    async (call) => {
      const { setup } = await findEnrollmentInSession(ports, atHost(call))
      if (setup === undefined) throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      return qrCode(call, setup.provisioningUrl)
    },
  )

  api.add(
    {
      method: 'GET',
      path: RECOVERY_CODES,
      access: 'session',
      summary: 'Count the recovery codes that are left',
      answers: { 200: RecoveryCodesLeftReply },
      codes: ['MFA_NOT_ENROLLED'],
    },
    async ({ session }) => found({ left: await countRecoveryCodes(ports, session) }),
  )

  api.add(
    {
      method: 'POST',
      path: RECOVERY_CODES,
      access: 'session',
      summary: 'Create new recovery codes',
      description: 'The old ones stop working. The new ones are shown only once.',
      headers: CODE_FIELD,
      body: fieldsBody(OptionalCode),
      answers: { 200: FreshRecoveryCodesReply },
      codes: ['MFA_INVALID_TOKEN', 'MFA_NOT_ENROLLED', 'RATE_LIMITED'],
    },
    async (call) => {
      const given = { answer: readCode(call), caller: call.caller }
      const fresh = await renewRecoveryCodes(ports, totpOf(call), given)
      return found({ recoveryCodes: [...fresh] })
    },
  )
}

const totpOf = ({ session }: { readonly session: CallSession }) =>
  ({ factor: 'totp', session }) as const

function enrollmentBody({ id, setup }: FoundEnrollment<TotpSetup>): MfaEnrollment {
  return { id, isVerified: setup === undefined, ...setup, _links: selfLink(MFA.slice(1)) }
}

/** API 3.1: from the header or the body; undefined if neither has one. */
function readCode(call: Pick<Call, 'rawHeaders' | 'body'>): string | undefined {
  const [shown, ...others] = rawValues(call, MFA_VALIDATION_CODE_HEADER)
  if (others.length > 0) throw invalid(MFA_VALIDATION_CODE_HEADER, 'is repeated')
  if (shown !== undefined) return shown
  const fields = bodyFields(call.body)
  return fields.has('code') ? codeField(fields) : undefined
}

const QR_CODE_TYPES = ['image/png', 'image/svg+xml'] as const

async function qrCode(head: RequestHead, text: string): Promise<Answer<200>> {
  const asked = preferencesOf(head).mediaType([...QR_CODE_TYPES])
  const type = QR_CODE_TYPES.find((known) => known === asked)
  if (type === undefined) throw new Failure('NOT_ACCEPTABLE')
  const drawn =
    type === 'image/png' ? await qrCodePng(text) : qrCodeSvg(text, 'QR code')?.toString()
  // Too long for a camera to read; the provisioning URL still works.
  if (drawn === undefined) throw new Failure('NOT_FOUND')
  return { status: 200, content: { kind: 'image', type, bytes: Buffer.from(drawn) } }
}
