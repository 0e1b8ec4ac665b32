/** QR codes, by what a camera sees: dark modules on white, in the right places. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { inflateSync } from 'node:zlib'
import { qrCodeLines, qrCodePng, qrCodeSvg } from './qr-code.ts'

const TEXT = 'otpauth://totp/id.example.org:ada?issuer=id.example.org&secret=GEZDGNBVGY3TQOJQ'
/** ISO/IEC 18004: what stands in three of the four corners, so that a reader finds the code. */
const FINDER = ['#######', '#.....#', '#.###.#', '#.###.#', '#.###.#', '#.....#', '#######']

/** The picture in characters, drawn from the path of the SVG as a browser would. */
function drawn(svg: string): string[] {
  const [, side = ''] = /viewBox="0 0 (\d+) \1"/.exec(svg) ?? []
  const grid = Array.from({ length: Number(side) }, () => new Array(Number(side)).fill('.'))
  const [, path = ''] = /<path fill="#000000" d="([^"]*)"\/>/.exec(svg) ?? []
  const runs = [...path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)]
  assert.equal(runs.map(([run]) => run).join(''), path)
  for (const [, x, y, width] of runs) {
    for (let i = 0; i < Number(width); i += 1) {
      const row = grid[Number(y)] ?? assert.fail('outside of the picture')
      assert.equal(row[Number(x) + i], '.', 'drawn twice, or outside of the picture')
      row[Number(x) + i] = '#'
    }
  }
  return grid.map((row) => row.join(''))
}

const part = (grid: readonly string[], x: number, y: number) =>
  grid.slice(y, y + 7).map((row) => row.slice(x, x + 7))

test('the picture has the corners by which a camera finds it, and a border of four modules', () => {
  const grid = drawn(String(qrCodeSvg(TEXT, 'QR code')))
  const far = grid.length - 4 - 7
  assert.deepEqual(part(grid, 4, 4), FINDER)
  assert.deepEqual(part(grid, far, 4), FINDER)
  assert.deepEqual(part(grid, 4, far), FINDER)
  assert.notDeepEqual(part(grid, far, far), FINDER)
  for (const line of [...grid.slice(0, 4), ...grid.slice(-4)]) assert.doesNotMatch(line, /#/)
  for (const line of grid) assert.match(line, /^\.{4}.*\.{4}$/)
})

test('the picture is on white ground, whatever the page is', () => {
  const svg = String(qrCodeSvg(TEXT, 'QR code'))
  const [, side = ''] = /viewBox="0 0 (\d+) /.exec(svg) ?? []
  assert.ok(svg.includes(`<path fill="#ffffff" d="M0 0h${side}v${side}H0z"/>`))
})

test('the SVG stands alone and has a name for screen readers', () => {
  const svg = String(qrCodeSvg(TEXT, 'QR "code" <b>'))
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]* role="img" /)
  assert.match(svg, /aria-label="QR &#34;code&#34; &#60;b&#62;"/)
})

test('another text is another picture', () => {
  assert.notEqual(String(qrCodeSvg(TEXT, '')), String(qrCodeSvg(`${TEXT}A`, '')))
})

test('the PNG shows the same picture as the SVG', async () => {
  const png = Buffer.from((await qrCodePng(TEXT)) ?? assert.fail('no picture'))
  assert.equal(png.toString('latin1', 1, 4), 'PNG')
  const grid = drawn(String(qrCodeSvg(TEXT, '')))
  const width = png.readUInt32BE(16)
  const scale = width / grid.length
  assert.ok(Number.isInteger(scale) && scale >= 4, `${scale} pixels for a module`)
  // Eight bits, RGBA, one filter byte in front of each line.
  assert.deepEqual([png[24], png[25]], [8, 6])
  const data = [...chunks(png)].filter(({ type }) => type === 'IDAT').map(({ body }) => body)
  const lines = unfiltered(inflateSync(Buffer.concat(data)), width)
  const seen = grid.map((_, y) =>
    grid.map((_, x) => ((lines[y * scale]?.[x * scale * 4] ?? 255) < 128 ? '#' : '.')).join(''),
  )
  assert.deepEqual(seen, grid)
})

test('the lines for a terminal show the same picture, black on white', () => {
  const lines = qrCodeLines(TEXT) ?? assert.fail('no picture')
  const rows = lines.flatMap((line) => {
    assert.ok(line.startsWith('\u001b[30;107m') && line.endsWith('\u001b[0m'))
    const blocks = stripVTControlCharacters(line)
    const half = (inked: string) =>
      [...blocks].map((block) => (inked.includes(block) ? '#' : '.')).join('')
    return [half('▀█'), half('▄█')]
  })
  const grid = drawn(String(qrCodeSvg(TEXT, '')))
  // An odd number of rows leaves half a line, which is as white as the border.
  assert.deepEqual(rows.slice(0, grid.length), grid)
  for (const row of rows.slice(grid.length)) assert.doesNotMatch(row, /#/)
  assert.equal(qrCodeLines('a'.repeat(859)), undefined)
})

test('what is too long to be scanned gives no picture instead of a failure', async () => {
  const most = 'a'.repeat(858)
  assert.ok(qrCodeSvg(most, '') !== undefined)
  assert.equal(qrCodeSvg(`${most}a`, ''), undefined)
  assert.equal(await qrCodePng(`${most}a`), undefined)
  // It is bytes that count.
  assert.equal(qrCodeSvg('ë'.repeat(430), ''), undefined)
})

test('a text of the greatest length in every kind of character gives a picture', () => {
  const hardest = 'aA1%'.repeat(214)
  assert.ok(qrCodeSvg(hardest, '') !== undefined)
})

function* chunks(png: Buffer): Generator<{ type: string; body: Buffer }> {
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    yield {
      type: png.toString('latin1', at + 4, at + 8),
      body: png.subarray(at + 8, at + 8 + length),
    }
    at += 12 + length
  }
}

/** PNG §9: undoes the filter of each line, for four bytes a pixel. */
function unfiltered(data: Buffer, width: number): Uint8Array[] {
  const size = width * 4
  const lines: Uint8Array[] = []
  for (let at = 0; at < data.length; at += size + 1) {
    const above = lines.at(-1)
    const line = new Uint8Array(data.subarray(at + 1, at + 1 + size))
    for (let i = 0; i < size; i += 1) {
      const left = line[i - 4] ?? 0
      const up = above?.[i] ?? 0
      const corner = i < 4 ? 0 : (above?.[i - 4] ?? 0)
      const added = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][data[at] ?? 0] ?? 0
      line[i] = (line[i] ?? 0) + added
    }
    lines.push(line)
  }
  return lines
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [left, up, corner].map((near) => Math.abs(guess - near)) as [
    number,
    number,
    number,
  ]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}
