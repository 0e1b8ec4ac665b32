/**
 * Why a change was refused, in the words of the forms. The failure names the member of the management API, which an
 * administrator in the console has never seen.
 */
import type { Failure } from '../../errors/catalogue.ts'

/** Words for members whose names are not words. Members that are lists have one for each entry too. */
const WORDS: Readonly<Record<string, string>> = {
  authPolicyId: 'policy',
  certPem: 'certificate',
  claimsProperty: 'claim that names the identity',
  clientId: 'client ID',
  'primary.extJwt.allowedSigners': 'list of signers',
  externalAuthUrl: 'sign-in URL',
  externalId: 'external ID',
  'externalIdClaim.index': 'number of the part',
  'externalIdClaim.matcherCriteria': 'text of the values',
  'externalIdClaim.parserCriteria': 'separator',
  hosts: 'list of hosts',
  identityNameFormat: 'rule for names',
  identityRoles: 'list of roles',
  jwksEndpoint: 'URL of the key set',
  jwt: 'token',
  kid: 'ID of the key',
  primary: 'policy',
  'primary.updb.lockoutDurationMinutes': 'time of a lock',
  'primary.updb.maxAttempts': 'number of failures before a lock',
  'primary.updb.minPasswordLength': 'length of the shortest password',
  roleAttributes: 'list of roles',
  scopes: 'list of scopes',
  tags: 'list of tags',
  url: 'URL',
}

const ENTRIES: Readonly<Record<string, string>> = {
  hosts: 'host',
  identityRoles: 'role',
  roleAttributes: 'role',
  scopes: 'scope',
  tags: 'tag',
}

/** Rules about several members, which the API tells by their names. */
const SENTENCES: Readonly<Record<string, string>> = {
  'give exactly one of jwksEndpoint and certPem':
    'Enter either the URL of the key set or a certificate.',
  'is only allowed with certPem: the keys of an endpoint have their own ids':
    'The ID of the key is only allowed with a certificate: the keys of a key set have their own IDs.',
  'must be given for PREFIX, SUFFIX and SCHEME, and must be empty for ALL':
    'Enter the text if only some values count, and leave it empty if every value does.',
  'must be given for SPLIT, and must be empty for NONE':
    'Enter a separator if only a part counts, and leave it empty otherwise.',
}

/** One or two sentences. */
export function refusalText({ code, message, field }: Failure): string {
  if (field === undefined) return `${capital(message)}.`
  const { reason } = field
  if (code === 'ENTITY_NAME_IN_USE') {
    return `This ${wordOf(field.field)} is already taken. Choose another one.`
  }
  if (Object.hasOwn(SENTENCES, reason)) return SENTENCES[reason] ?? reason
  const missing = /^names an? (.+) that does not exist$/.exec(reason)?.[1]
  if (missing !== undefined) return `This ${missing} no longer exists. Choose another one.`
  const sentence = `${subjectOf(field.field)} ${reason}.`
  return code === 'COULD_NOT_VALIDATE' ? sentence : `${capital(message)}. ${sentence}`
}

/** Which of these fields of a form the failure is about: its path has the name of one; undefined if it names none. */
export function refusedField(
  { code, field }: Failure,
  names: readonly string[],
): string | undefined {
  const path = field?.field.split('.') ?? (isAboutCertificate(code) ? ['certPem'] : [])
  return path.find((name) => names.includes(name))
}

function isAboutCertificate(code: Failure['code']): boolean {
  return ['INVALID_CERT_PEM', 'CERTIFICATE_IS_NOT_CA', 'CERT_IN_USE'].includes(code)
}

function subjectOf(path: string): string {
  const [name = '', entry] = path.split('.')
  const one = Object.hasOwn(ENTRIES, name) ? ENTRIES[name] : undefined
  return entry === undefined || one === undefined ? `The ${wordOf(path)}` : `Each ${one}`
}

function wordOf(path: string): string {
  return (Object.hasOwn(WORDS, path) ? WORDS[path] : undefined) ?? path
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
