/**
 * Certificate requests: which are taken, what is taken from them, and why the others are not. D-40, R097. Good ones are
 * made by openssl, as people make them.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { suite, test } from 'node:test'
import {
  csrPem,
  derOf,
  handMadeCsr,
  type KEYS,
  makeCsr,
  namePart,
  runOpenssl,
  spkiOf,
  TEXT,
  tlv,
} from '../../../../test/support/certificates/csr.ts'
import { LARGEST_CSR, readCsr } from './csr.ts'

function taken(pem: string) {
  const request = readCsr(pem)
  assert.ok(!('fault' in request), JSON.stringify(request))
  return request
}

function faultOf(pem: string): string {
  const request = readCsr(pem)
  assert.ok('fault' in request, 'the request is refused')
  return request.fault
}

const subjectOf = (subject: Buffer) => taken(handMadeCsr({ subject })).subject
const subjectFault = (...parts: readonly Buffer[]) =>
  faultOf(handMadeCsr({ subject: Buffer.concat(parts) }))

suite('a request of openssl', () => {
  const accepted: readonly (keyof typeof KEYS)[] = [
    'RSA 2048',
    'RSA 3072',
    'P-256',
    'P-384',
    'P-521',
    'Ed25519',
  ]
  for (const key of accepted) {
    test(`D-40: with a key ${key} it is taken, and its key is the one of the request`, async () => {
      const { pem } = await makeCsr({ key })
      const { publicKey } = taken(pem)
      const { text } = await runOpenssl(['req', '-in', 'csr', '-pubkey', '-noout'], { csr: pem })
      assert.deepEqual(Buffer.from(publicKey), derOf(text))
    })
  }

  for (const digest of ['sha384', 'sha512']) {
    test(`a signature with ${digest} is good`, async () => {
      for (const key of ['P-256', 'RSA 2048'] as const) {
        taken((await makeCsr({ key, options: [`-${digest}`] })).pem)
      }
    })
  }

  const refused: Readonly<Record<string, readonly [keyof typeof KEYS, string]>> = {
    'RSA of 1024 bits': ['RSA 1024', 'has a key that has only 1024 bits of RSA'],
    'RSA that takes long to verify with': [
      'RSA with a long exponent',
      'has a key that has an RSA exponent that is not accepted',
    ],
    'P-192': ['P-192', 'has a key that is on a curve that is not accepted'],
    secp256k1: ['secp256k1', 'has a key that is on a curve that is not accepted'],
    Ed448: ['Ed448', 'has a key that is of a kind that is not accepted'],
    'RSA that signs with PSS alone': [
      'RSA-PSS 2048',
      'has a key that is of a kind that is not accepted',
    ],
    'P-256 whose curve is spelled out': [
      'P-256 spelled out',
      'has a key that is not encoded as RFC 5280 requires',
    ],
  }
  for (const [what, [key, fault]] of Object.entries(refused)) {
    test(`D-40, R097: with a key of ${what} it is refused, and the fault is named`, async () => {
      assert.equal(faultOf((await makeCsr({ key })).pem), fault)
    })
  }

  test('a signature with SHA-1 is refused', async () => {
    const { pem } = await makeCsr({ key: 'RSA 2048', options: ['-sha1'] })
    assert.equal(faultOf(pem), 'is signed with an algorithm that is not accepted')
  })

  test('a signature with RSASSA-PSS is refused', async () => {
    const options = ['-sigopt', 'rsa_padding_mode:pss']
    const { pem } = await makeCsr({ key: 'RSA 2048', options })
    assert.equal(faultOf(pem), 'is signed with an algorithm that is not accepted')
  })

  test('SPEC: without a subject it is refused', async () => {
    assert.equal(faultOf((await makeCsr({ subject: '/' })).pem), 'has no subject')
  })

  test('D-40: with nothing of a subject that is taken over it is refused like one without', async () => {
    const { pem } = await makeCsr({ subject: '/emailAddress=a@example.org/serialNumber=7' })
    assert.equal(faultOf(pem), 'has no subject')
  })

  test('D-40: of the subject CN, O, OU, L, ST and C are taken over, in their order, and nothing else', async () => {
    const subject =
      '/C=CH/ST=Bern/L=Thun/O=Example, Inc./serialNumber=7/OU=Door+OU=Window' +
      '/emailAddress=a@example.org/CN=Zoë 🔑/DC=example/title=Dr'
    const { pem } = await makeCsr({ subject, options: ['-multivalue-rdn'] })
    assert.deepEqual(
      taken(pem).subject.map(({ name, value }) => `${name}=${value}`),
      ['C=CH', 'ST=Bern', 'L=Thun', 'O=Example, Inc.', 'OU=Door', 'OU=Window', 'CN=Zoë 🔑'],
    )
  })

  // openssl asn1_gstring masks: which kinds of string it may use.
  for (const [kind, mask] of [
    ['PrintableString', '0x2'],
    ['T61String', '0x4'],
    ['BMPString', '0x800'],
    ['UTF8String', '0x2000'],
  ] as const) {
    test(`a subject in ${kind} is read`, async () => {
      const name = kind === 'PrintableString' ? 'Laptop 7' : 'Zoé 7'
      const config = [`string_mask=MASK:${mask}`]
      const { pem } = await makeCsr({ subject: `/CN=${name}`, config })
      assert.deepEqual(taken(pem).subject, [{ name: 'CN', value: name }])
    })
  }

  test('text around the block does not matter', async () => {
    const { pem } = await makeCsr({ options: ['-text'] })
    assert.match(pem, /^Certificate Request:/)
    taken(pem)
    taken((await makeCsr()).pem.replaceAll('\n', '\r\n'))
  })
})

suite('what is not one request in PEM is refused', () => {
  const NO_BLOCK = 'is not one PEM block CERTIFICATE REQUEST'
  const NO_REQUEST = 'is not a PKCS #10 request in DER'

  test('nothing, garbage, and blocks of another kind', async () => {
    const { pem, keyPem } = await makeCsr()
    for (const text of [
      '',
      ' ',
      'garbage',
      '\u0000',
      derOf(pem).toString('base64'),
      derOf(pem).toString('latin1'),
      keyPem,
      pem.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'),
      pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'),
      pem.replace(/-----END.*/, ''),
      pem.replace(/-----BEGIN.*/, ''),
      csrPem(Buffer.alloc(0)),
      pem.replace(/\n\w/, '\n!'),
      pem.replace(/\n\w/, '\n=='),
      pem.replace(/\n\w/, '\né'),
    ]) {
      assert.equal(faultOf(text), NO_BLOCK, text)
    }
  })

  test('D-40: more than one block', async () => {
    const { pem, keyPem } = await makeCsr()
    for (const text of [pem + pem, keyPem + pem, pem + keyPem, `-----BEGIN ${pem}`]) {
      assert.equal(faultOf(text), 'has more than one PEM block')
    }
  })

  test('D-40: more than 16 KiB, whatever is in it', async () => {
    const { pem } = await makeCsr()
    taken(pem.padEnd(LARGEST_CSR, ' '))
    for (const text of [
      pem.padEnd(LARGEST_CSR + 1, ' '),
      'x'.repeat(17 * 1024),
      handMadeCsr({ rest: tlv(0xa0, Buffer.alloc(17 * 1024)) }),
    ]) {
      assert.equal(faultOf(text), 'is larger than 16 KiB')
    }
  })

  test('16 KiB of characters that are more bytes than that', async () => {
    const { pem } = await makeCsr()
    assert.equal(faultOf(pem.padEnd(LARGEST_CSR, 'é')), 'is larger than 16 KiB')
  })

  test('R097: 16 KiB of blanks, base64 or half a last line cause no endless work', () => {
    // Attack: a pattern that tries every way to part the blanks needs minutes for this. Here they are seconds at the
    // most, or the run as a whole would show it.
    const begin = '-----BEGIN CERTIFICATE REQUEST-----'
    for (const filling of [' ', '\n', 'A', 'A ', '=', '-----END CERTIFICATE REQUEST----']) {
      const room = LARGEST_CSR - begin.length
      const text = begin + filling.repeat(Math.floor(room / filling.length))
      assert.equal(faultOf(text), NO_BLOCK)
    }
  })

  test('other DER, cut DER, and DER with something behind it', async () => {
    const der = derOf((await makeCsr()).pem)
    for (const bytes of [
      Buffer.of(0x30, 0),
      Buffer.of(0x05, 0),
      der.subarray(0, -1),
      Buffer.concat([der, Buffer.of(0)]),
      tlv(0x30, der),
      tlv(0x31, der.subarray(4)),
      tlv(0x30, tlv(0x30), tlv(0x30), tlv(0x03, Buffer.of(0))),
    ]) {
      assert.equal(faultOf(csrPem(bytes)), NO_REQUEST, bytes.toString('hex'))
    }
  })

  test('a certificate is not a request, whatever its block is called', async () => {
    const { out } = await runOpenssl([
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key'],
      ...['-subj', '/CN=x', '-out', 'out'],
    ])
    assert.equal(faultOf(csrPem(new X509Certificate(out).raw)), NO_REQUEST)
  })
})

suite('R097: the signature proves the key', () => {
  test('a request with any bit of its signature or of what is signed flipped is refused', async () => {
    // Attack: an attacker puts a public key of another into a request, to have a certificate for it.
    const der = derOf((await makeCsr()).pem)
    for (let at = der.length - 60; at < der.length; at += 7) {
      const changed = Buffer.from(der)
      changed[at] = (changed[at] ?? 0) ^ 1
      const fault = faultOf(csrPem(changed))
      assert.match(fault, /^is not signed by its own key$|^is not a PKCS #10 request in DER$/)
    }
    const name = der.indexOf('laptop')
    const renamed = Buffer.from(der)
    renamed.write('tablet', name)
    assert.equal(faultOf(csrPem(renamed)), 'is not signed by its own key')
  })

  test('a request with the key of another caller is refused', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = handMadeCsr({ publicKey: spkiOf(privateKey) })
    assert.equal(faultOf(pem), 'is not signed by its own key')
  })

  test('an algorithm that is not that of the key is refused', () => {
    const rsa = tlv(0x30, Buffer.from('06092a864886f70d01010b0500', 'hex'))
    for (const algorithm of [rsa, tlv(0x30), tlv(0x30, Buffer.of(0x05, 0)), Buffer.of(0x05, 0)]) {
      assert.equal(
        faultOf(handMadeCsr({ algorithm })),
        'is signed with an algorithm that is not accepted',
      )
    }
  })

  test('a key on its curve, with nothing but itself, is wanted', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const spki = spkiOf(privateKey)
    const offCurve = Buffer.from(spki)
    offCurve[offCurve.length - 1] = (offCurve.at(-1) ?? 0) ^ 1
    const zeros = Buffer.from(spki).fill(0, spki.length - 64)
    for (const publicKey of [
      offCurve,
      zeros,
      tlv(0x30),
      tlv(0x30, spki.subarray(2), Buffer.of(5, 0)),
    ]) {
      assert.equal(faultOf(handMadeCsr({ publicKey, privateKey })), 'has a key that cannot be read')
    }
  })

  test('R097: nothing comes along behind the numbers of an RSA key', async () => {
    // Attack: OpenSSL reads modulus and exponent and passes over the rest, which would be signed by our CA.
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const plain = spkiOf(privateKey)
    const key = plain.subarray(plain.indexOf(Buffer.of(0x00, 0x30, 0x82)) + 1)
    const rsaEncryption = tlv(0x30, Buffer.from('06092a864886f70d0101010500', 'hex'))
    const sha256WithRsa = tlv(0x30, Buffer.from('06092a864886f70d01010b0500', 'hex'))
    const spki = (...content: readonly Buffer[]) =>
      tlv(0x30, rsaEncryption, tlv(0x03, Buffer.of(0), ...content))
    const made = (publicKey: Buffer) =>
      handMadeCsr({ publicKey, privateKey, algorithm: sha256WithRsa })
    assert.deepEqual(spki(key), plain)
    taken(made(spki(key)))
    assert.equal(
      faultOf(made(spki(key, Buffer.from('smuggled')))),
      'has a key that is not encoded as RFC 5280 requires',
    )
  })
})

suite('D-40: a subject that is not fit for a certificate is refused', () => {
  const FAULT = 'has a subject that cannot be read'

  test('an empty part, and one that is too long', () => {
    assert.equal(subjectFault(namePart('CN', '')), FAULT)
    assert.equal(subjectFault(namePart('CN', 'laptop'), namePart('O', '')), FAULT)
    assert.deepEqual(subjectOf(namePart('O', 'x'.repeat(128))), [
      { name: 'O', value: 'x'.repeat(128) },
    ])
    assert.equal(subjectFault(namePart('O', 'x'.repeat(129))), FAULT)
  })

  test('a country that is not two letters', () => {
    assert.deepEqual(subjectOf(namePart('C', 'CH', TEXT.printable)), [{ name: 'C', value: 'CH' }])
    for (const country of ['CHE', 'C', 'C1', 'Ç ', '  ']) {
      assert.equal(subjectFault(namePart('C', country)), FAULT, country)
    }
  })

  test('R097: NUL and other control characters', () => {
    // Attack: `admin\0.evil` is `admin` for whoever reads it as a C string, and a line feed starts a log line.
    for (const value of ['admin\u0000.evil', 'a\nb', 'a\rb', '\u001b[2J', '\u007f', 'a\u0085b']) {
      assert.equal(subjectFault(namePart('CN', value)), FAULT, JSON.stringify(value))
    }
    const nulInBmp = Buffer.from('admin\u0000x', 'utf16le').swap16()
    assert.equal(subjectFault(namePart('CN', nulInBmp, TEXT.bmp)), FAULT)
    assert.equal(subjectFault(namePart('CN', 'a\u0000b', TEXT.t61)), FAULT)
    assert.equal(subjectFault(namePart('CN', 'a\u0000b', TEXT.ia5)), FAULT)
  })

  test('bytes that are not what their tag says', () => {
    for (const [tag, bytes] of [
      [TEXT.utf8, 'ff'],
      [TEXT.utf8, 'c0af'], // an overlong slash
      [TEXT.utf8, 'eda080'], // half a surrogate pair
      [TEXT.printable, 'e9'],
      [TEXT.ia5, '80'],
      [TEXT.bmp, '004100'],
      [TEXT.bmp, 'd8000041'],
      [TEXT.universal, '00000041'],
      [0x02, '05'],
      [0x30, ''],
    ] as const) {
      assert.equal(subjectFault(namePart('CN', Buffer.from(bytes, 'hex'), tag)), FAULT, bytes)
    }
  })

  test('malformed sequences and sets', () => {
    for (const subject of [
      tlv(0x30),
      tlv(0x31, tlv(0x30)),
      tlv(0x31, Buffer.of(0x05, 0)),
      tlv(0x31, tlv(0x30, tlv(0x06, Buffer.of(0x55, 4, 3)))),
      Buffer.of(0x31, 0x7f),
    ]) {
      assert.equal(subjectFault(subject), FAULT, subject.toString('hex'))
    }
  })

  test('parts that are not taken over are passed over unread', () => {
    const odd = namePart('serialNumber', Buffer.of(0xff, 0), TEXT.utf8)
    const subject = Buffer.concat([odd, namePart('CN', 'laptop'), odd])
    assert.deepEqual(subjectOf(subject), [{ name: 'CN', value: 'laptop' }])
  })
})
