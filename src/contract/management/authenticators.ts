/** /authenticators of the management API: API 3.3, 4.2. No response contains the hash of a password. */
import { z } from 'zod'
import { CERT_AUTHENTICATOR, UPDB_AUTHENTICATOR } from '../../entities/authenticator.ts'
import { LONGEST_PASSWORD } from '../../protocol/limits.ts'
import { managedShape } from '../described.ts'
import { detail, list } from '../envelope.ts'
import { Id, Name, NewTags, Pem } from './fields.ts'

const common = { identityId: Id, tags: NewTags.default({}) }

const Password = z
  .string()
  .max(LONGEST_PASSWORD)
  .refine((text) => text.isWellFormed(), 'must be well-formed text')

const Updb = z.strictObject({
  ...common,
  method: z.literal('updb'),
  username: Name,
  password: Password,
})
const Cert = z.strictObject({ ...common, method: z.literal('cert'), certPem: Pem })

const METHODS = { error: 'must be updb or cert' }

export const NewAuthenticator = z.discriminatedUnion('method', [Updb, Cert], METHODS)

const KeptPassword = Updb.partial({ password: true })

/** A PATCH may omit the password, because the current one cannot be read. */
export const ChangedAuthenticator = z.discriminatedUnion('method', [KeptPassword, Cert], METHODS)

const proof = {
  currentPassword: Password.optional().describe('Required to change the password or the username.'),
}

/** API 3.1: the caller's own, PUT and PATCH. */
export const ReplacedOwn = z.discriminatedUnion('method', [Updb.extend(proof), Cert], METHODS)
export const ChangedOwn = z.discriminatedUnion(
  'method',
  [KeptPassword.extend(proof), Cert],
  METHODS,
)

export const Authenticator = z.discriminatedUnion('method', [
  managedShape(UPDB_AUTHENTICATOR).extend({ method: z.literal('updb') }),
  managedShape(CERT_AUTHENTICATOR).extend({ method: z.literal('cert') }),
])
export type Authenticator = z.infer<typeof Authenticator>

export const AuthenticatorReply = detail(Authenticator)
export const AuthenticatorListReply = list(Authenticator)
