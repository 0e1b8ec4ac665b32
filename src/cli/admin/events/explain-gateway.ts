/**
 * `latchkey explain REQUEST-ID --log FILE`: why a gateway refused a request, from its line in the gateway's log. D-406.
 * The controller does not see these requests, but knows the roles that the identity has now.
 */
import { createReadStream } from 'node:fs'
import { isJsonObject, parseJson } from '../../../base/json.ts'
import { shellWord } from '../../../base/shell-word.ts'
import { instant, toRfc3339 } from '../../../base/time/instant.ts'
import type { RefusalReason } from '../../../router/router.ts'
import { CommandFailed, EXIT, type Io } from '../../terminal/io.ts'
import { plain } from '../../terminal/output.ts'
import type { Row } from '../entities/columns.ts'
import type { Meaning } from './meanings.ts'

const DEEPEST = 8
const STANDARD_INPUT = '-'

/** Returns the line of the request; undefined if the log has none. Other lines may be of any form. */
export async function findLogLine(
  path: string,
  requestId: string,
  io: Pick<Io, 'resolve' | 'input'>,
): Promise<Row | undefined> {
  try {
    const isInput = path === STANDARD_INPUT
    const source = isInput ? io.input : createReadStream(io.resolve(path), 'utf8')
    for await (const text of linesOf(source)) {
      // Only the line of the request is parsed; there may be millions.
      if (!text.includes(requestId)) continue
      const value = parseJson(text, DEEPEST)?.value
      if (isJsonObject(value) && value['requestId'] === requestId) return value
    }
    return undefined
  } catch (error) {
    throw new CommandFailed(`cannot read ${path}: ${(error as Error).message}`, EXIT.usage)
  }
}

/** The beginning of a longer line is dropped: the gateway writes no line of that length. */
const LONGEST_LINE = 1024 * 1024

async function* linesOf(source: AsyncIterable<string>): AsyncIterable<string> {
  let rest = ''
  for await (const chunk of source) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = (lines.pop() ?? '').slice(-LONGEST_LINE)
    yield* lines
  }
  yield rest
}

/** What the line says, in words. `identity` is what the controller knows about the caller now. */
export function gatewayMeaning(line: Row, identity: Row | undefined): Meaning {
  const { reason, code, why } = line
  if (reason === 'rule-unmet') return ruleMeaning(line, identity)
  if (typeof reason === 'string' && Object.hasOwn(REASONS, reason)) {
    return REASONS[reason as RefusalReason]
  }
  if (typeof code === 'string' && Object.hasOwn(CODES, code)) {
    const { what, todo } = CODES[code as keyof typeof CODES]
    return { what: typeof why === 'string' ? `${what} (${why})` : what, todo }
  }
  return typeof code === 'string'
    ? { what: `The gateway refused the request: ${code}.` }
    : {
        what: `The gateway did not refuse it: the upstream answered with status ${line['status']}.`,
      }
}

/** Without control characters, for the terminal. */
export function gatewayLines(
  line: Row,
  { what, todo }: Meaning,
  identity: Row | undefined,
): readonly string[] {
  const { time, method, path, upstream, status, code, reason, identityId, sessionId } = line
  const name = identity?.['name']
  const facts: readonly (readonly [string, unknown])[] = [
    ['when', typeof time === 'number' ? toRfc3339(instant(time)) : time],
    ['request', typeof method === 'string' ? `${method} ${path}` : undefined],
    ['upstream', upstream],
    ['answer', typeof code === 'string' ? `${status} ${code}` : status],
    ['reason', reason],
    ['identity', typeof name === 'string' ? `${JSON.stringify(name)} (${identityId})` : identityId],
    ['session', sessionId],
  ]
  return [
    what,
    ...facts.flatMap(([label, value]) => (value === undefined ? [] : [`  ${label}: ${value}`])),
    ...(todo === undefined ? [] : [`  → ${todo}`]),
  ].map(plain)
}

function ruleMeaning(
  { rule, required, upstream, isUnknown }: Row,
  identity: Row | undefined,
): Meaning {
  const where = typeof upstream === 'string' ? `The upstream ${upstream}` : 'The upstream'
  const wanted = Array.isArray(required) ? required.map(String) : []
  const name = String(identity?.['name'] ?? 'NAME')
  const held = Array.isArray(identity?.['roleAttributes'])
    ? identity['roleAttributes'].map(String)
    : undefined
  switch (rule) {
    case 'roles': {
      if (isUnknown === true) {
        return {
          what: `${where} requires a role, and the token says nothing about roles: it was issued by an older controller, or its roles are longer than 4 KiB.`,
          todo: 'update the controller, or give the identity fewer or shorter roles',
        }
      }
      const has = held === undefined ? '' : ` The identity has ${list(held)} now.`
      if (held?.some((role) => wanted.includes(role))) {
        return {
          what: `${where} requires one of ${list(wanted)}.${has} It got the role after its token was issued.`,
          todo: 'refresh the token',
        }
      }
      const roles = [...(held ?? []), wanted[0] ?? 'ROLE']
      const options = roles.map((role) => `--role ${shellWord(plain(role))}`).join(' ')
      return {
        what: `${where} requires one of ${list(wanted)}.${has}`,
        todo: `latchkey update identity ${shellWord(plain(name))} ${options}`,
      }
    }
    case 'identities':
      return {
        what: `${where} admits only certain identities, and this is not one of them.`,
        todo: 'add its id to `require.identities` in gateway.yml',
      }
    case 'policies':
      return {
        what: `${where} admits only identities with one of the policies ${list(wanted)}.`,
        todo: `latchkey update identity ${shellWord(plain(name))} --policy ${shellWord(plain(wanted[0] ?? 'POLICY'))}`,
      }
    case 'amr':
      return {
        what: `${where} requires a sign-in that proved ${list(wanted)}.`,
        todo: 'sign in again with that factor, and enroll it first if it is missing',
      }
    case 'maxAge':
      return {
        what: `${where} requires a sign-in within the last ${Number(required) / 1_000} seconds.`,
        todo: 'sign in again',
      }
    default:
      return { what: `${where} has a rule that this caller does not meet: ${String(rule)}.` }
  }
}

function list(texts: readonly string[]): string {
  return texts.length === 0 ? 'none' : texts.map((text) => JSON.stringify(text)).join(', ')
}

const SIGN_IN = 'sign in again: the client needs a new token'
const CERTIFICATE =
  'present the certificate of this session, or one that was issued to this identity'

const REASONS: Readonly<Record<RefusalReason, Meaning>> = {
  'cut-off': {
    what: 'The gateway had lost its controller, and refused everyone.',
    todo: 'check the controller and the network between them; the gateway connects again by itself',
  },
  'controller-unreachable': {
    what: 'The gateway could not ask the controller about this zt-session.',
    todo: 'check the controller and the network between them',
  },
  'no-certificate': { what: 'The client presented no certificate.', todo: CERTIFICATE },
  'no-token': { what: 'The request had no token.', todo: SIGN_IN },
  'token-invalid': { what: 'The token is not valid.', todo: SIGN_IN },
  'proof-invalid': {
    what: 'The token is bound to a key, and the request did not prove that key (D-457).',
    todo: 'The client must send the token in the scheme DPoP, with a new proof for every request; compare the clocks of the two machines.',
  },
  'token-expired': { what: 'The token had expired.', todo: 'refresh the token' },
  'session-ended': { what: 'The session had ended.', todo: SIGN_IN },
  'policy-unmet': {
    what: 'The policy of the identity now demands more than this session has proven, or forbids its method.',
    todo: SIGN_IN,
  },
  'secondary-jwt-required': {
    what: 'The policy demands an external JWT with every request, which only the controller accepts.',
    todo: 'change the policy of the identity; such sessions cannot use gateways',
  },
  'token-bound-elsewhere': {
    what: 'The policy binds the token to the certificate of its login, and the client presented another one.',
    todo: 'present the certificate that the session was begun with',
  },
  'certificate-unreadable': { what: 'The certificate cannot be read.', todo: CERTIFICATE },
  'certificate-not-yet-valid': {
    what: 'The certificate is not valid yet.',
    todo: 'compare the clocks of the gateway and the controller',
  },
  'certificate-expired': { what: 'The certificate had expired.', todo: 'request a new one' },
  'certificate-untrusted': {
    what: 'The certificate is of another CA, and the token is not bound to it.',
    todo: CERTIFICATE,
  },
  'certificate-removed': { what: 'The certificate was removed.', todo: 'request a new one' },
  'certificate-of-other-identity': {
    what: 'The certificate belongs to another identity than the token.',
    todo: CERTIFICATE,
  },
  'certificate-of-other-session': {
    what: 'The certificate belongs to another session than the token.',
    todo: CERTIFICATE,
  },
}

const CODES = {
  BAD_REQUEST: {
    what: 'The request was ambiguous or malformed',
    todo: 'correct the client',
  },
  NO_UPSTREAM: {
    what: 'No upstream of the gateway has this host and path.',
    todo: 'compare `hosts` and `path` of the upstreams in gateway.yml',
  },
  BAD_GATEWAY: {
    what: 'The service behind the gateway could not be reached, or did not speak HTTP',
    todo: 'check that it runs at the `url` in gateway.yml',
  },
  GATEWAY_TIMEOUT: {
    what: 'The service behind the gateway did not answer in time.',
    todo: 'look at the log of that service',
  },
  OVERLOADED: {
    what: 'The gateway had too many open requests.',
    todo: 'raise the descriptor limit of the gateway, or run another one',
  },
} as const
