/** DER is read as X.690 has it and no other way: what could be read in two ways is not read at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { der, oid, readBits, readChildren, readDer, TAG } from './der.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

test('a value is read with its tag, its content and the whole of it', () => {
  const value = readDer(bytes('04 03 01 02 03'))
  assert.equal(value?.tag, TAG.octetString)
  assert.equal(hex(value.content), '010203')
  assert.equal(hex(value.raw), '0403010203')
})

test('lengths in one, two, three and four bytes are read', () => {
  for (const length of [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x1_0000]) {
    const written = der(TAG.octetString, Buffer.alloc(length, 7))
    assert.equal(readDer(written)?.content.length, length)
  }
})

test('what is written is what X.690 §8.1.3 and §10.1 say: the shortest form', () => {
  assert.equal(hex(der(TAG.octetString)), '0400')
  assert.equal(hex(der(TAG.octetString, Buffer.alloc(0x7f)).subarray(0, 2)), '047f')
  assert.equal(hex(der(TAG.octetString, Buffer.alloc(0x80)).subarray(0, 3)), '048180')
  assert.equal(hex(der(TAG.octetString, Buffer.alloc(0x100)).subarray(0, 4)), '04820100')
  assert.equal(hex(der(TAG.octetString, Buffer.alloc(0x1_0000)).subarray(0, 5)), '0483010000')
  assert.equal(hex(der(TAG.sequence, bytes('0201 05'), bytes('0201 06'))), '3006020105020106')
})

test('object identifiers are written as X.690 §8.19 says', () => {
  assert.equal(hex(oid('2.5.4.3')), '0603550403')
  assert.equal(hex(oid('1.2.840.10045.4.3.2')), '06082a8648ce3d040302')
  assert.equal(hex(oid('1.3.6.1.5.5.7.3.2')), '06082b06010505070302')
})

const REFUSED: Readonly<Record<string, string>> = {
  'nothing at all': '',
  'a tag without a length': '04',
  'a length that promises more than there is': '04 03 01 02',
  'a length of two bytes of which one is there': '04 82 01',
  'a long length that promises more than there is': '04 83 ff ff ff 00',
  'something behind the value': '04 01 00 00',
  'a length without end (BER)': '30 80 00 00',
  'a long form where the short one does': '04 81 01 00',
  'a long form with a zero in front': '04 82 00 80',
  'a length of four bytes': '04 84 00 00 00 01 00',
  'a length of 127 bytes': `04 ff ${'00'.repeat(127)}`,
  'a tag of several bytes': '1f 81 01 00',
}

for (const [what, text] of Object.entries(REFUSED)) {
  test(`${what} is refused`, () => assert.equal(readDer(bytes(text)), undefined))
}

test('children are those of the tag that is asked for, one after the other', () => {
  const list = readDer(bytes('30 06 02 01 05 02 01 06'))
  assert.deepEqual(
    readChildren(list, TAG.sequence)?.map(({ content }) => content[0]),
    [5, 6],
  )
  assert.equal(readChildren(list, TAG.set), undefined)
  assert.equal(readChildren(undefined, TAG.sequence), undefined)
  assert.deepEqual(readChildren(readDer(bytes('30 00')), TAG.sequence), [])
})

test('children of which one is cut off, or that reach beyond their parent, are refused', () => {
  assert.equal(readChildren(readDer(bytes('30 05 02 01 05 02 01')), TAG.sequence), undefined)
  // The inner length would be right if the parent went on.
  assert.equal(readChildren(readDer(bytes('30 03 02 02 05')), TAG.sequence), undefined)
})

test('no more children are read than are asked for', () => {
  const four = readDer(der(TAG.sequence, Buffer.alloc(8, bytes('05 00'))))
  assert.equal(readChildren(four, TAG.sequence, 4)?.length, 4)
  assert.equal(readChildren(four, TAG.sequence, 3), undefined)
  const many = readDer(der(TAG.sequence, Buffer.alloc(130, bytes('05 00'))))
  assert.equal(readChildren(many, TAG.sequence), undefined)
})

test('bits are whole bytes or nothing', () => {
  const read = (text: string) => readBits(readDer(bytes(text)))
  assert.equal(hex(read('03 03 00 01 02') ?? bytes('ff')), '0102')
  assert.equal(hex(read('03 01 00') ?? bytes('ff')), '')
  assert.equal(read('03 02 07 80'), undefined)
  assert.equal(read('03 00'), undefined)
  assert.equal(read('04 02 00 01'), undefined)
  assert.equal(readBits(undefined), undefined)
})

test('100 000 values inside each other are one value: nothing looks deeper than it is asked to', () => {
  // Attack: a reader that calls itself for every level runs out of stack, and with it the service.
  const heads: Buffer[] = []
  let size = 0
  for (let depth = 0; depth < 100_000; depth++) {
    const head = Buffer.concat([Buffer.of(TAG.sequence), lengthOf(size)])
    heads.push(head)
    size += head.length
  }
  const outer = readDer(Buffer.concat(heads.reverse()))
  assert.equal(outer?.raw.length, size)
  assert.equal(readChildren(outer, TAG.sequence)?.length, 1)
})

/** X.690 §8.1.3, by another hand than the one under test. */
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  if (length < 0x100) return Buffer.of(0x81, length)
  if (length < 0x1_0000) return Buffer.of(0x82, length >> 8, length & 0xff)
  return Buffer.of(0x83, length >> 16, (length >> 8) & 0xff, length & 0xff)
}
