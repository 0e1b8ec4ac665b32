/** /authenticators of the management API: API 3.3, 4.2. The hash of a password is in no answer. */
import { z } from 'zod'
import { detail, Entity, list, Reference, Timestamp } from '../envelope.ts'
import { Id, Name, NewTags, Pem } from './fields.ts'

/** What a login takes; how long a password may be is the policy's rule. */
const LONGEST_PASSWORD = 1024

const common = { identityId: Id, tags: NewTags.default({}) }

export const NewAuthenticator = z.discriminatedUnion(
  'method',
  [
    z.strictObject({
      ...common,
      method: z.literal('updb'),
      username: Name,
      password: z
        .string()
        .max(LONGEST_PASSWORD)
        .refine((text) => text.isWellFormed(), 'must be well-formed text'),
    }),
    z.strictObject({ ...common, method: z.literal('cert'), certPem: Pem }),
  ],
  { error: 'must be updb or cert' },
)

const Common = Entity.extend({ identityId: z.string(), identity: Reference })

export const Authenticator = z.discriminatedUnion('method', [
  Common.extend({
    method: z.literal('updb'),
    username: z.string(),
    lockedUntil: Timestamp.nullable(),
  }),
  Common.extend({
    method: z.literal('cert'),
    certPem: z.string(),
    fingerprint: z.string(),
    isIssuedByNetwork: z.boolean(),
  }),
])
export type Authenticator = z.infer<typeof Authenticator>

export const AuthenticatorReply = detail(Authenticator)
export const AuthenticatorListReply = list(Authenticator)
