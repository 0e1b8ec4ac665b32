/** What a gateway refused, as a sentence for the user: what is wrong, and what to do about it. */
import { GatewayRefused } from '../../../client/gateway/tunnel.ts'
import { CommandFailed, EXIT, type ExitCode } from '../../terminal/io.ts'

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
    sentence: 'the gateway cannot reach the service; tell whoever runs it',
    exit: EXIT.unavailable,
  },
  GATEWAY_TIMEOUT: {
    sentence: 'the service behind the gateway does not answer; tell whoever runs it',
    exit: EXIT.unavailable,
  },
  NOT_READY: {
    sentence: 'the gateway has lost its controller; try again in a moment',
    exit: EXIT.again,
  },
}

function otherwise(error: GatewayRefused): Words {
  const { code, status, next, challenges } = error
  const [issuer] = challenges.flatMap(({ parameters }) => parameters.get('issuer') ?? [])
  if (next === 'present-jwt' && issuer !== undefined) {
    return {
      sentence: `your policy demands a JWT of ${issuer} with every request, which no gateway accepts`,
      exit: EXIT.denied,
    }
  }
  if (next === 'present-certificate') {
    return {
      sentence: 'the gateway does not accept the certificate of this session; run: latchkey login',
      exit: EXIT.denied,
    }
  }
  if (status === 401) {
    return {
      sentence: 'the gateway does not accept this session; run: latchkey login',
      exit: EXIT.denied,
    }
  }
  return { sentence: `the gateway refused (${code})`, exit: EXIT.denied }
}
