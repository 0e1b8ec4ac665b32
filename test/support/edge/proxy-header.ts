/** PROXY protocol headers, valid and invalid, as a load balancer would put them in front of a connection. */
import { isIPv6 } from 'node:net'

export interface HeaderParts {
  /** Version and command: 0x21 is PROXY, 0x20 is LOCAL. */
  readonly command?: number
  /** Family and protocol; by default that of the source. */
  readonly family?: number
  readonly source?: string
  readonly port?: number
  /** TLVs, unchanged. */
  readonly additions?: Uint8Array
}

export function proxyHeader(parts: HeaderParts): Buffer {
  const { command = 0x21, source, port = 1, additions = new Uint8Array() } = parts
  const bytes = source === undefined ? undefined : addressBytes(source)
  const family = parts.family ?? (bytes?.length === 16 ? 0x21 : 0x11)
  const ports = Buffer.from([port >> 8, port & 0xff, 5, 0])
  const addresses = bytes === undefined ? [] : [bytes, Buffer.alloc(bytes.length, 127), ports]
  const rest = Buffer.concat([...addresses, additions])
  const fixed = Buffer.from([command, family, rest.length >> 8, rest.length & 0xff])
  return Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'), fixed, rest])
}

/** Without an IPv4 part at the end. */
function addressBytes(text: string): Buffer {
  if (!isIPv6(text)) return Buffer.from(text.split('.').map(Number))
  const [front = '', back = ''] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [head, tail] = [groups(front), groups(back)]
  const all = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
