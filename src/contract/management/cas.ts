/** /cas of the management API: API 3.3, 4.6. */
import { z } from 'zod'
import { CA, CLAIM_LOCATIONS, CLAIM_MATCHERS, CLAIM_PARSERS } from '../../entities/ca.ts'
import { managedShape } from '../described.ts'
import { detail, list } from '../envelope.ts'
import { line, lineOrNothing, Name, NewTags, Pem, Roles } from './fields.ts'

const Location = z.enum(CLAIM_LOCATIONS)
const Matcher = z.enum(CLAIM_MATCHERS)
const Parser = z.enum(CLAIM_PARSERS)
const Criteria = lineOrNothing(256)

const NewExternalIdClaim = z
  .strictObject({
    location: Location,
    matcher: Matcher.default('ALL'),
    matcherCriteria: Criteria.default(''),
    parser: Parser.default('NONE'),
    parserCriteria: Criteria.default(''),
    index: z.int().min(0).max(100).default(0),
  })
  .refine(({ matcher, matcherCriteria }) => (matcher === 'ALL') === (matcherCriteria === ''), {
    path: ['matcherCriteria'],
    error: 'must be given for PREFIX, SUFFIX and SCHEME, and must be empty for ALL',
  })
  .refine(({ parser, parserCriteria }) => (parser === 'NONE') === (parserCriteria === ''), {
    path: ['parserCriteria'],
    error: 'must be given for SPLIT, and must be empty for NONE',
  })

export const NewCa = z.strictObject({
  name: Name,
  certPem: Pem,
  isAuthEnabled: z.boolean().default(false).describe('Whether its certificates can log in.'),
  isOttCaEnrollmentEnabled: z
    .boolean()
    .default(false)
    .describe('Whether its certificates can enroll with a token.'),
  isAutoCaEnrollmentEnabled: z
    .boolean()
    .default(false)
    .describe('Whether its certificates can enroll without a token, which creates identities.'),
  identityRoles: Roles.default([]).describe('The roles of identities that enroll without a token.'),
  identityNameFormat: line(256)
    .default('[caName]-[commonName]')
    .describe(
      'The names of identities that enroll without a token; `[caId]` and `[identityId]` work too.',
    ),
  externalIdClaim: NewExternalIdClaim.nullish().describe(
    'Which field of its certificates contains the external id.',
  ),
  tags: NewTags.default({}),
})

export const Ca = managedShape(CA).extend({
  externalIdClaim: z
    .object({
      location: Location,
      matcher: Matcher,
      matcherCriteria: z.string(),
      parser: Parser,
      parserCriteria: z.string(),
      index: z.int(),
    })
    .nullable(),
})
export type Ca = z.infer<typeof Ca>

export const CaReply = detail(Ca)
export const CaListReply = list(Ca)
