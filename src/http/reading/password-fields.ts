/** Username and password in the body of a login, OIDC or legacy. D-12: missing ones are named, and no failed login. */
import { Secret } from '../../base/secrets/secret.ts'
import type { PasswordCredentials } from '../../domain/factors/password.ts'
import { type Fields, textField } from './fields.ts'

/** API 4.2: upper bounds, so that nobody can make hashing expensive. */
const LONGEST_USERNAME = 256
const LONGEST_PASSWORD = 1024

export function passwordCredentials(fields: Fields): PasswordCredentials {
  const username = textField(fields, 'username', LONGEST_USERNAME)
  return { username, password: new Secret(textField(fields, 'password', LONGEST_PASSWORD)) }
}
