/** What a gateway refused, as a sentence for the user: what is wrong, and what to do about it. */
import { GatewayRefused } from '../../../client/gateway/tunnel.ts'
import { CommandFailed, EXIT, type ExitCode } from '../../terminal/io.ts'
import { plain } from '../../terminal/output.ts'

/** Returns the error itself unless a gateway refused. */
export function explained(error: unknown, service: string): unknown {
  if (!(error instanceof GatewayRefused)) return error
  const { sentence, exit } = WORDS[error.code] ?? otherwise(error)
  const request = error.requestId === undefined ? '' : ` [request ${error.requestId}]`
  return new CommandFailed(`${service}: ${sentence}${request}`, exit)
}

interface Words {
  readonly sentence: string
  readonly exit: ExitCode
}

const WORDS: Readonly<Record<string, Words>> = {
  UNKNOWN_SERVICE: { sentence: 'the gateway has no TCP service of this name', exit: EXIT.missing },
  NOT_FOUND: { sentence: 'the gateway has no TCP services', exit: EXIT.missing },
  TOO_MANY_CONNECTIONS: {
    sentence: 'you have too many open connections at this gateway; close one, then try again',
    exit: EXIT.again,
  },
  BAD_GATEWAY: {
    sentence: 'the gateway cannot reach the service; tell its administrator',
    exit: EXIT.unavailable,
  },
  GATEWAY_TIMEOUT: {
    sentence: 'the service behind the gateway does not answer; tell its administrator',
    exit: EXIT.unavailable,
  },
  NOT_READY: {
    sentence: 'the gateway has lost its controller; try again in a moment',
    exit: EXIT.again,
  },
}

/** What the challenge names as missing (D-404), without characters that could mislead. */
function missing({ challenges }: GatewayRefused, parameter: string): string {
  const [value = ''] = challenges.flatMap(({ parameters }) => parameters.get(parameter) ?? [])
  return plain(value)
}

function otherwise(error: GatewayRefused): Words {
  const sentence = byRule(error) ?? byStep(error) ?? `the gateway refused (${error.code})`
  return { sentence, exit: EXIT.denied }
}

function byRule(error: GatewayRefused): string | undefined {
  switch (error.code) {
    case 'FACTOR_REQUIRED':
      return `this service needs a login with ${missing(error, 'amr')}; run: latchkey login`
    case 'LOGIN_TOO_OLD':
      return `your login is older than this service allows (${missing(error, 'max_age')} seconds); run: latchkey login`
    case 'ROLE_REQUIRED':
      return `you need one of these roles: ${missing(error, 'roles')}; ask an administrator`
    case 'ROLES_UNKNOWN':
      return 'the gateway does not know your roles yet; try again, or ask an administrator'
    case 'POLICY_NOT_ALLOWED':
    case 'IDENTITY_NOT_ALLOWED':
      return 'you may not use this service; ask an administrator'
    default:
      return undefined
  }
}

function byStep(error: GatewayRefused): string | undefined {
  const { status, next } = error
  if (next === 'present-jwt') {
    const issuer = missing(error, 'issuer')
    return `your policy demands a JWT of ${issuer} with every request, which no gateway accepts`
  }
  if (next === 'present-certificate') {
    return 'the gateway does not accept the certificate of this session; run: latchkey login'
  }
  return status === 401
    ? 'the gateway does not accept this session; run: latchkey login'
    : undefined
}
