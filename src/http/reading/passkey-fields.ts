/** What a browser sends of a passkey: an object in JSON, its JSON text in a form. D-434. */

import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import { LONGEST_PASSKEY_NAME } from '../../domain/factors/passkey/passkey.ts'
import { invalid } from '../../domain/refusals.ts'
import { codeField, type Fields, textField } from './fields.ts'

/** More than an authenticator answers: an attestation is the largest part, with at most 16 KiB. */
const LONGEST_CREDENTIAL = 40_000
const DEEPEST = 6

/** Throws COULD_NOT_VALIDATE. Which members it has is checked with their contents. */
export function credentialField(fields: Fields): JsonObject {
  const [value, ...others] = fields.get('credential') ?? []
  if (others.length === 0 && isJsonObject(value)) return value
  const parsed = parseJson(textField(fields, 'credential', LONGEST_CREDENTIAL), DEEPEST)?.value
  if (!isJsonObject(parsed)) throw invalid('credential', 'must be a JSON object')
  return parsed
}

/** The answer to a query for a passkey: a credential, or a recovery code in its place. */
export function passkeyAnswer(fields: Fields): string {
  return fields.has('code') ? codeField(fields) : JSON.stringify(credentialField(fields))
}

/** The credential and the name of a new passkey, as `enrollment.prove` reads them. */
export function newPasskeyAnswer(fields: Fields): string {
  const name = fields.has('name') ? textField(fields, 'name', LONGEST_PASSKEY_NAME) : undefined
  return JSON.stringify({ credential: credentialField(fields), name })
}
