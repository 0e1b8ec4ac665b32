/**
 * The installation secret: 256 bits in a file of the home or in an environment variable, in base64url. D-46, D-48.
 * Everything at rest is encrypted or hashed under it; losing it loses the signing keys and the PKI.
 */
import { base64url, fromBase64url } from '../../base/encoding.ts'
import type { Random } from '../../base/secrets/random.ts'
import { INSTALLATION_SECRET_BYTES } from '../../base/secrets/vault.ts'
import type { SecretSource } from '../../config/config.ts'
import { createPrivateFile, RefusedStart, readText, refuseWorldReadable } from './private-files.ts'

/** Returns the secret, or undefined if its file does not exist yet. */
export async function readInstallationSecret(
  source: SecretSource,
): Promise<Uint8Array | undefined> {
  if (source.kind === 'environment') {
    return decode(source.value.reveal(), `the environment variable ${source.variable}`)
  }
  return readSecretFile(source.path)
}

/** Returns undefined if the file does not exist. */
export async function readSecretFile(path: string): Promise<Uint8Array | undefined> {
  await refuseWorldReadable(path)
  const text = await readText(path)
  return text === undefined ? undefined : decode(text, path)
}

/** Creates a secret for a new installation. If another instance was faster, returns that instance's secret. */
export async function createInstallationSecret(path: string, random: Random): Promise<Uint8Array> {
  const fresh = random.bytes(INSTALLATION_SECRET_BYTES)
  if (await createPrivateFile(path, `${base64url(fresh)}\n`, { random })) return fresh
  const text = await readText(path)
  return decode(text ?? '', path)
}

function decode(text: string, where: string): Uint8Array {
  const bytes = fromBase64url(text.trim())
  if (bytes === undefined || bytes.length !== INSTALLATION_SECRET_BYTES) {
    throw new RefusedStart(
      `the installation secret in ${where} is not ${INSTALLATION_SECRET_BYTES} bytes of base64url`,
    )
  }
  return bytes
}
