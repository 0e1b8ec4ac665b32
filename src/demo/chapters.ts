/**
 * What to try in a demo: chapters of commands for a second terminal, each with the expected output. They depend only on
 * the first one, and each makes its own login.
 */
import type { Demo } from './start.ts'

export interface Chapter {
  readonly title: string
  readonly steps: readonly Step[]
}

export interface Step {
  /** Can be pasted unchanged into sh, bash or zsh. */
  readonly line: string
  /** The expected output. */
  readonly seen: string
}

/** The file that prepares a terminal: `. ./env`. */
export const ENV_FILE = 'env'

const CLIENT_API = '/edge/client/v1'

export function chaptersOf(demo: Omit<Demo, 'stop'>): readonly Chapter[] {
  const { serviceUrl, gatewayUrl, linesName, idpUrl, passwords } = demo
  const step = (line: string, seen: string): Step => ({ line, seen })
  const curl = 'curl -sS --cacert ca.pem'
  const server = `--url ${serviceUrl} --ca ca.pem`
  const bearer = '-H "Authorization: Bearer $(latchkey token)"'
  const jwtOf = (name: string) => `curl -sS -X POST ${idpUrl}/people/${name}/jwt > ${name}.jwt`
  const shown = `${curl} --cert session-cert.pem --key session-key.pem`
  /** Legacy: paula's name and password in one call; returns one string of the response. */
  const authenticate = (password: string, name: string) =>
    `$(${curl} -H 'Content-Type: application/json' \\\n` +
    `  -d '{"username": "paula", "password": "${password}"}' \\\n` +
    `  "${serviceUrl}${CLIENT_API}/authenticate?method=password" |\n` +
    `  sed 's/.*"${name}":"\\([^"]*\\)".*/\\1/')`

  return [
    {
      title: 'A first login, with a password',
      steps: [
        step(
          `latchkey login ${server} --username paula < paula.password`,
          `"Logged in as paula". Without "< paula.password" it asks for the password: ${passwords.paula}`,
        ),
        step('latchkey whoami', 'Who you are, and how you logged in: pwd.'),
        step(
          `${curl} -w '\\n' ${bearer} \\\n  ${serviceUrl}${CLIENT_API}/current-identity`,
          'The same from the API, called with an access token.',
        ),
      ],
    },
    {
      title: 'A browser, and an account of another identity provider',
      steps: [
        step(
          'latchkey login',
          'An address, which opens in a browser if there is one; otherwise an address and a code. The browser does not ' +
            `know our CA: continue anyway. Type paula and ${passwords.paula}, or choose "Continue with the demo IdP" and emil.`,
        ),
      ],
    },
    {
      title: 'TOTP: a code besides the password',
      steps: [
        step(
          'cat tina.password tina.code | latchkey login --username tina',
          '"Logged in as tina". tina.code is her phone: it always has the current code, which works ' +
            'once; wait for the next one before you repeat this. Or add her secret, above, to an app of your own, ' +
            'and leave out the pipe.',
        ),
        step('latchkey whoami', 'By pwd, otp, mfa.'),
        step(
          'latchkey login --username tom',
          `The policy of tom requires a code, and tom has no app yet: after the password ${passwords.tom} ` +
            'you see a QR code for yours. (Ctrl-C cancels.)',
        ),
      ],
    },
    {
      title: 'A client certificate',
      steps: [
        step(
          'latchkey login --cert carl.pem --key carl.key',
          '"Logged in as carl": the TLS connection has proven it.',
        ),
      ],
    },
    {
      title: 'An invitation, exchanged for a certificate',
      steps: [
        step(
          'latchkey enroll nora.jwt --out nora.json',
          'The key is created here; the token works only once.',
        ),
        step('latchkey login --identity nora.json', '"Logged in as nora".'),
      ],
    },
    {
      title: 'A JWT of another identity provider, alone and as a second factor',
      steps: [
        step(jwtOf('emil'), 'Nothing: the JWT is in emil.jwt, and is valid for an hour.'),
        step(
          'latchkey login --ext-jwt emil.jwt',
          '"Logged in as emil", without a password of ours.',
        ),
        step(jwtOf('dora'), 'Nothing, again.'),
        step(
          'cat dora.password dora.jwt | latchkey login --username dora',
          '"Logged in as dora". Her policy requires both.',
        ),
        step(
          `${curl} -w '\\n' ${bearer} \\\n` +
            `  -H "Authorization: Bearer $(cat dora.jwt)" ${serviceUrl}${CLIENT_API}/current-identity`,
          'The API, called with both.',
        ),
        step(
          `${curl} -w ' %{http_code}\\n' ${bearer} \\\n  ${serviceUrl}${CLIENT_API}/current-identity`,
          'UNAUTHORIZED, 401: the JWT is required on every call, not only at the login.',
        ),
      ],
    },
    {
      title: 'An older client: zt-session',
      steps: [
        step(
          `TOKEN=${authenticate(passwords.paula, 'token')}`,
          'Nothing: one call, and its token is in $TOKEN.',
        ),
        step(
          `${curl} -w '\\n' -H "zt-session: $TOKEN" \\\n  ${serviceUrl}${CLIENT_API}/current-api-session`,
          'The session, of the kind "legacy".',
        ),
      ],
    },
    {
      title: 'Through the gateway, to a service that only authorized users reach',
      steps: [
        step('latchkey login --username paula < paula.password', '"Logged in as paula".'),
        step('latchkey cert --out .', 'A certificate that lasts as long as this session.'),
        step(
          `${shown} \\\n  ${bearer} ${gatewayUrl}/hello`,
          'What the service behind it gets: x-latchkey-identity-id, and no token.',
        ),
        step(
          `${curl} -w ' %{http_code}\\n' \\\n  ${bearer} ${gatewayUrl}/hello`,
          'FORBIDDEN, 403: the certificate is missing.',
        ),
        step(
          `${shown} \\\n  -w ' %{http_code}\\n' ${gatewayUrl}/hello`,
          'UNAUTHORIZED, 401: the token is missing.',
        ),
        step(
          `echo hello | latchkey connect ${linesName} --stdio`,
          'A TCP service behind the gateway answers. psql, ssh and every other client work in the same way.',
        ),
        step(
          `${curl} -o /dev/null -w '%{http_code} %{redirect_url}\\n' \\\n  -H 'Accept: text/html' ${gatewayUrl}/hello`,
          'What a browser gets: it is sent to sign in, and comes back with a cookie. Open ' +
            `${gatewayUrl}/hello in yours, and sign in as paula.`,
        ),
        step('TOKEN=$(latchkey token)', 'Nothing: saved for use after the logout.'),
        step('latchkey logout', 'The session ends, everywhere.'),
        step(
          `sleep 2; ${shown} \\\n  -w ' %{http_code}\\n' -H "Authorization: Bearer $TOKEN" ${gatewayUrl}/hello`,
          'UNAUTHORIZED, 401: token and certificate were valid a moment ago.',
        ),
      ],
    },
    {
      title: 'The administrator, and why a login failed',
      steps: [
        step(
          `latchkey login --context admin ${server} \\\n  --username admin < admin.password`,
          '"Logged in as admin", in addition to the other login.',
        ),
        step('latchkey list identities', 'All the identities that you have used, and the gateway.'),
        step(
          `REQUEST=${authenticate('wrong', 'requestId')}`,
          'Nothing: a login that fails, and the id of the request in $REQUEST.',
        ),
        step(
          'latchkey explain "$REQUEST"',
          'What was wrong, in plain words. The caller only got a generic error.',
        ),
        step('latchkey events', 'The latest of these events, from the audit log.'),
      ],
    },
  ]
}
