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

/** One or two sentences. */
export function refusalText({ code, message, field }: Failure): string {
  if (field === undefined) return `${capital(message)}.`
  const { reason } = field
  if (code === 'ENTITY_NAME_IN_USE') {
    return `This ${wordOf(field.field)} is already taken. Choose another one.`
  }
  const missing = /^names an? (.+) that does not exist$/.exec(reason)?.[1]
  if (missing !== undefined) return `This ${missing} no longer exists. Choose another one.`
  const sentence = `${subjectOf(field.field)} ${reason}.`
  return code === 'COULD_NOT_VALIDATE' ? sentence : `${capital(message)}. ${sentence}`
}

/** Which field of a form the failure is about, by the first name of its path; undefined if it names none. */
export function refusedField({ field }: Failure): string | undefined {
  return field?.field.split('.')[0]
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
