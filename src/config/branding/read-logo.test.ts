import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/support/service.ts'
import { readLogo } from './read-logo.ts'

async function read(t: TestContext, content: string | Buffer) {
  const home = await temporaryFolder(t)
  await writeFile(join(home, 'logo'), content)
  const { logo, problems } = await readLogo({ branding: { logo: 'logo' } }, home)
  return { type: logo?.type, base64: logo?.base64, said: problems.map(({ message }) => message) }
}

const svg = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`

/** The first bytes of a picture of this size. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(24)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

test('D-343: accepts a PNG and an SVG unchanged', async (t) => {
  const drawn = `<?xml version="1.0"?>\n<!-- drawn by hand -->\n${svg('<path d="M0 0h9v9z"/>')}`
  for (const [content, type] of [
    [drawn, 'image/svg+xml'],
    [png(2048, 2048), 'image/png'],
  ] as const) {
    const { said, ...logo } = await read(t, content)
    assert.deepEqual(said, [])
    assert.deepEqual(logo, { type, base64: Buffer.from(content).toString('base64') })
  }
})

test('D-343: refuses to start with a file that is not a valid logo, and gives the reason', async (t) => {
  const refusals: readonly (readonly [string, string | Buffer, RegExp])[] = [
    ['nothing', '', /^is neither a PNG nor an SVG file$/],
    ['a page', '<!doctype html><svg></svg>', /^is neither/],
    ['a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), /^is neither/],
    ['the start of a PNG', png(1, 1).subarray(0, 20), /^is a PNG file that ends too early$/],
    ['a wide PNG', png(2049, 1), /^is wider or higher than 2048 pixels$/],
    ['a high PNG', png(1, 4_000_000_000), /^is wider or higher than 2048 pixels$/],
    ['a large file', svg(' '.repeat(100 * 1024)), /^is larger than 100 KiB$/],
    ['a script', svg('<SCRIPT>alert(1)</SCRIPT>'), /contains "<SCRIPT", which is not allowed$/],
    ['a handler', svg('<path onload = "alert(1)"/>'), /contains "onload ="/],
    ['a page inside', svg('<foreignObject/>'), /contains "<foreignObject"/],
    ['a link that runs', svg('<a href="javascript:alert(1)"/>'), /contains "javascript:"/],
    ['entities', svg('<!ENTITY a "b">'), /contains "<!ENTITY"/],
  ]
  for (const [what, content, expected] of refusals) {
    const { type, said } = await read(t, content)
    assert.equal(type, undefined, what)
    assert.equal(said.length, 1, what)
    assert.match(said[0] ?? '', expected, what)
  }
})

test('D-343: rejects a missing file, a folder and a file without an end', async (t) => {
  const home = await temporaryFolder(t)
  const said = async (logo: string) =>
    (await readLogo({ branding: { logo } }, home)).problems.map(({ message }) => message)
  assert.deepEqual(await said('missing.svg'), ['names a file that is not there or not readable'])
  assert.deepEqual(await said('.'), ['names a file that is not there or not readable'])
  assert.deepEqual(await said('/dev/zero'), ['is larger than 100 KiB'])
})
