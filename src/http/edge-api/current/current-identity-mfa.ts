/**
 * /current-identity/mfa, on both APIs: a person's own TOTP enrollment. API 3.1. Start, read, verify and cancel also
 * serve a partial legacy session, which verifying completes; the rest needs a full one.
 */
import type { FastifyRequest } from 'fastify'
import type {
  FreshRecoveryCodes,
  MfaEnrollment,
  RecoveryCodesLeft,
  StartedMfaEnrollment,
} from '../../../contract/mfa.ts'
import type { ReadEnrollment } from '../../../domain/factors/enroll-totp.ts'
import type { SessionMfa } from '../../../domain/sessions/session-mfa.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { MFA_VALIDATION_CODE_HEADER } from '../../../protocol/headers.ts'
import { qrCodePng, qrCodeSvg } from '../../../web/login/qr-code.ts'
import { type Answer, json } from '../../answer.ts'
import { rawValues } from '../../reading/bearers.ts'
import { type Body, bodyFields } from '../../reading/body.ts'
import { codeField, invalid } from '../../reading/fields.ts'
import { preferencesOf } from '../../reading/negotiation.ts'
import type { Router } from '../../route.ts'
import { selfLink } from '../links.ts'
import { API_ROUTE } from '../route-defaults.ts'

const PATH = 'current-identity/mfa'

export function addCurrentIdentityMfa(
  router: Router,
  prefix: string,
  use: {
    readonly sessionMfa: SessionMfa
    readonly totpHostname: (request: FastifyRequest) => string
  },
): void {
  const { sessionMfa, totpHostname } = use
  const url = `${prefix}/${PATH}`

  router.add(
    {
      ...API_ROUTE,
      access: 'partial',
      method: 'POST',
      url,
      reads: ['json', 'form'],
      replies: [201, 401, 409],
    },
    async ({ request, session }) => {
      const started = await sessionMfa.start(session, totpHostname(request))
      const data: StartedMfaEnrollment = {
        ...enrollmentBody(started),
        recoveryCodes: [...started.recoveryCodes],
      }
      return json(201, { data, meta: {} })
    },
  )

  router.add(
    { ...API_ROUTE, access: 'partial', method: 'GET', url, replies: [200, 401, 404] },
    async ({ request, session }) => {
      const found = await sessionMfa.read(session, totpHostname(request))
      return json(200, { data: enrollmentBody(found), meta: {} })
    },
  )

  router.add(
    {
      ...API_ROUTE,
      access: 'partial',
      method: 'DELETE',
      url,
      reads: ['json', 'form'],
      replies: [200, 401, 404, 409, 429],
    },
    async ({ request, body, session, caller }) => {
      await sessionMfa.remove(session, readCode(request, body), caller)
      return json(200, { data: {}, meta: {} })
    },
  )

  router.add(
    {
      ...API_ROUTE,
      access: 'partial',
      method: 'POST',
      url: `${url}/verify`,
      reads: ['json', 'form'],
      replies: [200, 401, 404, 429],
    },
    async ({ body, session, caller }) => {
      await sessionMfa.verify(session, codeField(bodyFields(body)), caller)
      return json(200, { data: {}, meta: {} })
    },
  )

  router.add(
    {
      ...API_ROUTE,
      access: 'partial',
      method: 'GET',
      url: `${url}/qr-code`,
      replies: [200, 401, 404, 406],
    },
    async ({ request, session }) => {
      const { provisioningUrl } = await sessionMfa.read(session, totpHostname(request))
      if (provisioningUrl === undefined) throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      return qrCode(request, provisioningUrl)
    },
  )

  router.add(
    { ...API_ROUTE, method: 'GET', url: `${url}/recovery-codes`, replies: [200, 401, 409] },
    async ({ session }) => {
      const data: RecoveryCodesLeft = { left: await sessionMfa.countRecoveryCodes(session) }
      return json(200, { data, meta: {} })
    },
  )

  router.add(
    {
      ...API_ROUTE,
      method: 'POST',
      url: `${url}/recovery-codes`,
      reads: ['json', 'form'],
      replies: [200, 401, 409, 429],
    },
    async ({ request, body, session, caller }) => {
      const code = readCode(request, body)
      const recoveryCodes = await sessionMfa.renewRecoveryCodes(session, code, caller)
      const data: FreshRecoveryCodes = { recoveryCodes: [...recoveryCodes] }
      return json(200, { data, meta: {} })
    },
  )
}

function enrollmentBody({ enrollment, provisioningUrl }: ReadEnrollment): MfaEnrollment {
  const { id, isVerified } = enrollment
  const url = provisioningUrl === undefined ? {} : { provisioningUrl }
  return { id, isVerified, ...url, _links: selfLink(PATH) }
}

/** API 3.1: the header, or the body; undefined when neither has one. */
function readCode(request: FastifyRequest, body: Body): string | undefined {
  const [shown, ...others] = rawValues(request, MFA_VALIDATION_CODE_HEADER)
  if (others.length > 0) throw invalid(MFA_VALIDATION_CODE_HEADER, 'is repeated')
  if (shown !== undefined) return shown
  const fields = bodyFields(body)
  return fields.has('code') ? codeField(fields) : undefined
}

const QR_CODE_TYPES = ['image/png', 'image/svg+xml'] as const

async function qrCode(request: FastifyRequest, text: string): Promise<Answer> {
  const asked = preferencesOf(request.raw).mediaType([...QR_CODE_TYPES])
  const type = QR_CODE_TYPES.find((known) => known === asked)
  if (type === undefined) throw new Failure('NOT_ACCEPTABLE')
  const drawn =
    type === 'image/png' ? await qrCodePng(text) : qrCodeSvg(text, 'QR code')?.toString()
  // Longer than a camera could read; the provisioning URL is there all the same.
  if (drawn === undefined) throw new Failure('NOT_FOUND')
  return { status: 200, content: { kind: 'image', type, bytes: Buffer.from(drawn) } }
}
