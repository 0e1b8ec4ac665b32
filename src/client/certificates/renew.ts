/**
 * Renews an enrolled certificate with the certificate itself: API 3.1, D-130. The next one is stored before it is
 * confirmed, because from then on the server refuses the old one; until then both work.
 */
import { isText, type JsonObject } from '../../base/json.ts'
import { certificatesIn, trustedFrom } from '../enrollment/trusted-cas.ts'
import { Refused, UnexpectedAnswer } from '../errors.ts'
import { type LegacySession, logInLegacy } from '../legacy.ts'
import { asObject, jsonOf, refusalOf } from '../wire/answers.ts'
import type { ClientCertificate } from '../wire/https-wire.ts'
import { makeCsr } from './csr.ts'
import { keyFrom, wireAnswerOf } from './session-certificate.ts'

export interface RenewOptions {
  readonly url: string
  /** The CAs that the server's certificate is checked against. */
  readonly ca: string
  /** The certificate to renew. */
  readonly certificate: ClientCertificate
  readonly timeoutMilliseconds?: number
}

export interface RenewedCertificate extends ClientCertificate {
  readonly ca: string
}

const OWN = '/edge/client/v1/current-identity/authenticators'

/** Throws what `logInLegacy` throws, Refused, and what `keep` throws: then the old one stays valid. */
export async function renewCertificate(
  options: RenewOptions,
  keep: (renewed: RenewedCertificate) => Promise<void>,
): Promise<RenewedCertificate> {
  return within(options, async (session, id) => {
    const key = keyFrom(undefined)
    const csr = makeCsr(key, session.identityId)
    const got = await send(session, `${OWN}/${id}/extend`, { clientCertCsr: csr })
    const { clientCert: cert, ca } = got
    const leaf = isText(cert) ? certificatesIn(cert)[0] : undefined
    const cas = isText(ca) ? certificatesIn(ca) : []
    if (!isText(cert) || leaf?.checkPrivateKey(key) !== true || cas.length === 0) {
      throw new UnexpectedAnswer('the renewed certificate does not belong to its key')
    }
    const renewed = {
      cert,
      key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
      ca: trustedFrom(cas, { kind: 'given', ca: options.ca }),
    }
    await keep(renewed)
    await confirm(session, id, cert)
    return renewed
  })
}

/** Confirms a certificate that was stored but perhaps not confirmed. Succeeds if it already was. */
export async function confirmRenewed(options: RenewOptions): Promise<void> {
  const { cert } = options.certificate
  await within(options, (session, id) => confirm(session, id, cert))
}

async function confirm(session: LegacySession, id: string, clientCert: string): Promise<void> {
  try {
    await send(session, `${OWN}/${id}/extend-verify`, { clientCert })
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'RENEWAL_NOT_PENDING') throw error
  }
}

async function within<T>(
  { url, ca, certificate, timeoutMilliseconds }: RenewOptions,
  work: (session: LegacySession, authenticatorId: string) => Promise<T>,
): Promise<T> {
  const session = await logInLegacy(
    { method: 'cert', cert: certificate.cert, key: certificate.key },
    { url, ca, timeoutMilliseconds },
  )
  try {
    return await work(session, await authenticatorOf(session))
  } finally {
    await session.logout().catch(() => undefined) // the session expires by itself
  }
}

/** Returns the id of the certificate: an identity has at most one. */
async function authenticatorOf({ call }: LegacySession): Promise<string> {
  const answer = await wireAnswerOf(await call(OWN))
  const rows = answer.status === 200 ? jsonOf(answer)?.['data'] : undefined
  const found = (Array.isArray(rows) ? rows : [])
    .map(asObject)
    .find((row) => row?.['method'] === 'cert')
  if (!isText(found?.['id'])) throw refusalOf(answer, 'the renewal')
  return found['id']
}

async function send({ call }: LegacySession, path: string, json: object): Promise<JsonObject> {
  const answer = await wireAnswerOf(await call(path, { json }))
  if (answer.status !== 200) throw refusalOf(answer, 'the renewal')
  return asObject(jsonOf(answer)?.['data']) ?? {}
}
