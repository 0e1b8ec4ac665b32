/**
 * A stand-in for `libsqlite3.so.0`, for Chromium on Linux x64. Its security library links to SQLite, which a
 * fresh Debian does not have: at the first https page the browser would die. SQLite would serve only to keep
 * a certificate database in the home folder; here opening one fails, and the browser runs without.
 *
 * The bytes are an ELF shared library (System V ABI, AMD64 supplement): a page of code and symbols, and a
 * writable page with the dynamic section, which the loader adjusts in place.
 */

// Everything that libsoftokn3.so wants to find. The loader resolves all of it at once (BIND_NOW).
const FUNCTIONS = [
  ...['open_v2', 'close', 'exec', 'prepare_v2', 'step', 'reset', 'finalize', 'busy_timeout'],
  ...['bind_int', 'bind_text', 'bind_blob', 'column_blob', 'column_bytes', 'column_count'],
  ...['column_int', 'column_name', 'column_text', 'file_control', 'free', 'mprintf'],
].map((name) => `sqlite3_${name}`)
const VARIABLE = 'sqlite3_temp_directory'

const PAGE = 0x1000
const CODE = 0x800
const RETURN_ERROR = Buffer.from([0xb8, 1, 0, 0, 0, 0xc3]) // mov eax, 1 (SQLITE_ERROR); ret
const RETURN_ZERO = Buffer.from([0x31, 0xc0, 0xc3]) // xor eax, eax; ret

export function sqliteStub(): Buffer {
  const names = [...FUNCTIONS, VARIABLE, 'libsqlite3.so.0']
  const strings = Buffer.from(`\0${names.join('\0')}\0`, 'latin1')
  const offsetOf = (name: string): number => strings.indexOf(`\0${name}\0`) + 1

  const symbols = Buffer.concat([
    symbol(0, 0, 0, 0),
    ...FUNCTIONS.map((name) => {
      const address = name === 'sqlite3_open_v2' ? CODE : CODE + RETURN_ERROR.length
      return symbol(offsetOf(name), 0x12, address, 0) // a global function
    }),
    symbol(offsetOf(VARIABLE), 0x11, PAGE, 8), // a global object
  ])
  const count = FUNCTIONS.length + 2
  // One bucket: a chain from the first symbol to the last.
  const hash = words(4, [1, count, 1, ...Array.from({ length: count }, (_, i) => (i + 1) % count)])

  const headers = 64 + 4 * 56
  const symbolsAt = headers
  const hashAt = symbolsAt + symbols.length
  const stringsAt = hashAt + hash.length
  const dynamic = words(8, [
    ...[14, offsetOf('libsqlite3.so.0')], // DT_SONAME
    ...[4, hashAt, 5, stringsAt, 6, symbolsAt], // DT_HASH, DT_STRTAB, DT_SYMTAB
    ...[10, strings.length, 11, 24], // DT_STRSZ, DT_SYMENT
    ...[0, 0],
  ])

  const library = Buffer.alloc(PAGE + 8 + dynamic.length)
  fileHeader().copy(library)
  segment(1, 5, 0, PAGE).copy(library, 64) // PT_LOAD, read and execute
  segment(1, 6, PAGE, 8 + dynamic.length).copy(library, 64 + 56) // PT_LOAD, read and write
  segment(2, 6, PAGE + 8, dynamic.length).copy(library, 64 + 2 * 56) // PT_DYNAMIC
  segment(0x6474e551, 6, 0, 0).copy(library, 64 + 3 * 56) // PT_GNU_STACK: no executable stack
  symbols.copy(library, symbolsAt)
  hash.copy(library, hashAt)
  strings.copy(library, stringsAt)
  Buffer.concat([RETURN_ERROR, RETURN_ZERO]).copy(library, CODE)
  dynamic.copy(library, PAGE + 8)
  return library
}

function fileHeader(): Buffer {
  const header = Buffer.alloc(64)
  header.write('\x7fELF\x02\x01\x01', 'latin1') // 64 bits, little-endian
  header.writeUInt16LE(3, 16) // shared object
  header.writeUInt16LE(62, 18) // AMD64
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(64n, 32) // program headers follow this one
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(4, 56)
  return header
}

function segment(type: number, flags: number, at: number, size: number): Buffer {
  return Buffer.concat([words(4, [type, flags]), words(8, [at, at, at, size, size, PAGE])])
}

function symbol(name: number, info: number, address: number, size: number): Buffer {
  const entry = Buffer.alloc(24)
  entry.writeUInt32LE(name, 0)
  entry.writeUInt8(info, 4)
  entry.writeUInt16LE(name === 0 ? 0 : 1, 6) // any section but "undefined"
  entry.writeBigUInt64LE(BigInt(address), 8)
  entry.writeBigUInt64LE(BigInt(size), 16)
  return entry
}

function words(width: 4 | 8, values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(width * values.length)
  values.forEach((value, i) => {
    buffer.writeUInt32LE(value, i * width)
  })
  return buffer
}
