/** The chain of a caller that wants us to verify as many signatures as possible. D-321. */
import { CA_EXTENSIONS, LEAF_EXTENSIONS, type MadeCertificate, type Openssl } from './openssl.ts'

/** Without an identifier of the key that signed, every CA of the name could have issued the certificate. */
const NO_KEY_IDENTIFIER = 'authorityKeyIdentifier=none'
export const AMBIGUOUS_CA = [...CA_EXTENSIONS, NO_KEY_IDENTIFIER]
export const AMBIGUOUS_LEAF = [...LEAF_EXTENSIONS.slice(0, 4), NO_KEY_IDENTIFIER]

/** A leaf and nine CAs, all of the same name, and signed with two keys so that each fits half of the others. */
export async function crossSigned(
  { makeCa, makeLeaf }: Openssl,
  subject: string,
): Promise<readonly [MadeCertificate, ...MadeCertificate[]]> {
  const extensions = AMBIGUOUS_CA
  const [one, two] = [await makeCa({ subject }), await makeCa({ subject })]
  const links: MadeCertificate[] = []
  for (let i = 0; i < 9; i++) {
    const [keyOf, issuer] = i % 2 === 0 ? [one, two] : [two, one]
    links.push(await makeCa({ subject, keyOf, issuer, extensions }))
  }
  return [await makeLeaf(one, { subject, extensions: AMBIGUOUS_LEAF }), ...links]
}
