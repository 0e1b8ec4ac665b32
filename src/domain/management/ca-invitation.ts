/**
 * The JWT that tells holders of a third-party CA's certificates where to enroll. API 3.3; D-132. It is not a secret:
 * enrolling requires the certificate.
 */
import type { CaId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Cas } from '../certificates/stores.ts'
import { type EnrollmentJwtPorts, signEnrollmentJwt } from '../enrollments/enrollment-jwt.ts'
import { invalid, orNotFound } from '../refusals.ts'

/** Throws NOT_FOUND, also if this instance has no client API to sign for (D-126); COULD_NOT_VALIDATE. */
export async function inviteByCa(
  ports: EnrollmentJwtPorts & { readonly cas: Pick<Cas, 'find'> },
  caId: CaId,
): Promise<Secret> {
  const ca = orNotFound(await ports.cas.find(caId))
  if (!ca.isVerified)
    throw invalid('isVerified', 'is false: certificates of this CA cannot enroll yet')
  if (!ca.isAutoCaEnrollmentEnabled) {
    throw invalid(
      'isAutoCaEnrollmentEnabled',
      'is false: certificates of this CA cannot enroll without a token',
    )
  }
  return orNotFound(await signEnrollmentJwt(ports, { method: 'ca', caId }))
}
