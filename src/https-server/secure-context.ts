/** The TLS parameters of the HTTPS server: its certificate, and how it requests those of clients. D-21. */
import { constants } from 'node:crypto'
import type { Secret } from '../base/secrets/secret.ts'

/** The certificate of the server, and the CAs whose client certificates it requests. */
export interface TlsMaterial {
  readonly certificatePem: string
  readonly keyPem: Secret
  /** If empty, no CA is named, which requests a certificate of any CA (RFC 8446 §4.2.4). */
  readonly clientCasPem: string
}

export interface TlsVersions {
  readonly minVersion: TlsVersion
  readonly maxVersion: TlsVersion
}

type TlsVersion = 'TLSv1.2' | 'TLSv1.3'

/** D-329. All cipher suites of TLS 1.3, and those of TLS 1.2 with forward secrecy and authenticated encryption. */
export const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  ...['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].flatMap((cipher) => [
    `ECDHE-ECDSA-${cipher}`,
    `ECDHE-RSA-${cipher}`,
  ]),
].join(':')

/**
 * Makes OpenSSL look for a revocation list of every CA and find none, so that it never considers a client certificate
 * authorized. Otherwise Node 24 hides the intermediates that the client sent, which our own check needs. It also means
 * that no code can rely on `socket.authorized` by mistake. The list is empty, and signed with a key that was thrown
 * away.
 */
const EMPTY_CRL = `-----BEGIN X509 CRL-----
MIGUMD0wCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGTm9ib2R5Fw0yNTAxMDEwMDAw
MDBaFw0yNTAxMDIwMDAwMDBaMAoGCCqGSM49BAMCA0cAMEQCIBfGHke0cV3rMeu+
B8/1BPVOI63l2VHRUMNNJHaak7ykAiAuW6r15BKk9VLhEbCAmDA2Ss1rhvPsMuY1
KNuKD3AKqA==
-----END X509 CRL-----
`

export function secureContext(tls: TlsVersions, material: TlsMaterial) {
  return {
    cert: material.certificatePem,
    key: material.keyPem.reveal(),
    // Sent to the client, so that browsers offer only certificates that could be accepted here. Without any list Node
    // would use the public CAs.
    ca: material.clientCasPem === '' ? [] : material.clientCasPem,
    crl: EMPTY_CRL,
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    ciphers: CIPHERS,
    // D-21: a resumed connection shows the wrong certificate, so resumption is disabled.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  }
}
