/** Username and password in the body of a login, OIDC or legacy. D-12: missing ones are named, and no failed login. */

import { Secret } from '../../base/secrets/secret.ts'
import type { PasswordCredentials } from '../../domain/factors/password.ts'
import { LONGEST_NAME, LONGEST_PASSWORD } from '../../protocol/limits.ts'
import { type Fields, textField } from './fields.ts'

export function passwordCredentials(fields: Fields): PasswordCredentials {
  const username = textField(fields, 'username', LONGEST_NAME)
  return { username, password: new Secret(textField(fields, 'password', LONGEST_PASSWORD)) }
}
