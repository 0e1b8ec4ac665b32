/** The shapes that have a name in the documents; all others are inlined where they are used. */
import { AuthQuery } from '../../contract/auth-query.ts'
import { Authenticate } from '../../contract/authenticate.ts'
import { CurrentApiSession, LegacyApiSession } from '../../contract/current-api-session.ts'
import { CurrentIdentity } from '../../contract/current-identity.ts'
import {
  ApiError,
  CreatedReply,
  DoneReply,
  Links,
  ListMeta,
  Reference,
  Tags,
  Timestamp,
} from '../../contract/envelope.ts'
import { AuthPolicy, NewAuthPolicy } from '../../contract/management/auth-policies.ts'
import { Authenticator, NewAuthenticator } from '../../contract/management/authenticators.ts'
import { Ca, NewCa } from '../../contract/management/cas.ts'
import { Enrollment, Invitation, NewEnrollment } from '../../contract/management/enrollments.ts'
import { Event } from '../../contract/management/events.ts'
import {
  ExternalJwtSigner,
  NewExternalJwtSigner,
  PublicSigner,
} from '../../contract/management/external-jwt-signers.ts'
import { Identity, NewIdentity } from '../../contract/management/identities.ts'
import { CheckedJwt } from '../../contract/management/signer-check.ts'
import { SigningKey } from '../../contract/management/signing-keys.ts'
import { MfaEnrollment, StartedMfaEnrollment } from '../../contract/mfa.ts'
import {
  CreatedSessionCertificate,
  SessionCertificateDetail,
} from '../../contract/session-certificates.ts'
import { Version } from '../../contract/version.ts'
import type { NamedShapes } from './schemas.ts'

export const NAMED_SHAPES: NamedShapes = {
  ApiError,
  ApiSession: CurrentApiSession,
  AuthPolicy,
  AuthQuery,
  Authenticate,
  Authenticator,
  Ca,
  CheckedJwt,
  Created: CreatedReply,
  CreatedSessionCertificate,
  CurrentIdentity,
  Done: DoneReply,
  Enrollment,
  Event,
  ExternalJwtSigner,
  Identity,
  Invitation,
  LegacyApiSession,
  Links,
  ListMeta,
  MfaEnrollment,
  NewAuthPolicy,
  NewAuthenticator,
  NewCa,
  NewEnrollment,
  NewExternalJwtSigner,
  NewIdentity,
  PublicSigner,
  Reference,
  SessionCertificate: SessionCertificateDetail,
  SigningKey,
  StartedMfaEnrollment,
  Tags,
  Timestamp,
  Version,
}
