/**
 * A YAML file → plain values, with limits on size, aliases and depth, so that no file can exhaust the process. It does
 * not interpret the values.
 */
import { createReadStream } from 'node:fs'
import {
  type Document,
  isScalar,
  LineCounter,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
} from 'yaml'
import { fromUtf8 } from '../base/encoding.ts'
import type { Problem } from './problems.ts'

export type Tree =
  /** `repeated`: duplicate keys. The rest can still be checked, but nothing may start from such a file. */
  | { readonly ok: true; readonly tree: unknown; readonly repeated: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] }

const MAX_BYTES = 1024 * 1024
const MAX_ALIASES = 20
const MAX_DEPTH = 32
// Later errors usually only follow from the first few.
const MAX_SYNTAX_PROBLEMS = 10

export async function readYamlFile(path: string): Promise<Tree> {
  const chunks: Buffer[] = []
  try {
    // Read one byte more than allowed, whatever size the file claims: a device has none.
    for await (const chunk of createReadStream(path, { end: MAX_BYTES })) chunks.push(chunk)
  } catch (error) {
    return refuse({ path: '', message: whyUnreadable(error) })
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length > MAX_BYTES) return refuse({ path: '', message: 'is larger than 1 MiB' })
  const text = fromUtf8(bytes)
  return text === undefined ? refuse({ path: '', message: 'is not UTF-8 text' }) : parseYaml(text)
}

export function parseYaml(text: string): Tree {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    // Pretty errors quote the line, and a line may contain a password.
    prettyErrors: false,
    lineCounter: lines,
    stringKeys: true,
    resolveKnownTags: false,
    // Checked below: the library compares each key with every other, which takes minutes for a large file.
    uniqueKeys: false,
  })
  const lineOf = (offset: number): string => `line ${lines.linePos(offset).line}`
  const faults = [...document.errors, ...document.warnings].map((fault) => ({
    path: lineOf(fault.pos[0]),
    message: sentenceOf(fault),
  }))
  if (faults.length > 0) return refuse(...firstOfEachLine(faults).slice(0, MAX_SYNTAX_PROBLEMS))
  try {
    const repeated = repeatedKeys(document).map((key) => ({
      path: lineOf(key.range?.[0] ?? 0),
      message: 'this key is in the same map twice',
    }))
    const tree: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return isDeeperThan(tree, MAX_DEPTH) ? refuse(TOO_DEEP) : { ok: true, tree, repeated }
  } catch (error) {
    if (error instanceof RangeError) return refuse(TOO_DEEP)
    if (!(error instanceof ReferenceError)) throw error
    const message = `has an alias without an anchor, or more than ${MAX_ALIASES} aliases`
    return refuse({ path: '', message })
  }
}

const TOO_DEEP: Problem = { path: '', message: 'is nested too deeply' }

function refuse(...problems: Problem[]): Tree {
  return { ok: false, problems }
}

function sentenceOf(fault: YAMLError): string {
  if (fault.code === 'MULTIPLE_DOCS')
    return 'a second document begins here; one file is one document'
  if (fault.message.startsWith('Maximum call stack')) return TOO_DEEP.message
  if (TAG_FAULTS.has(fault.code)) return 'tags and directives have no meaning in this file'
  // What follows the colon is quoted from the file.
  const what = `is not valid YAML: ${fault.message.split(': ')[0]}`
  return fault.code === 'UNEXPECTED_TOKEN' ? `${what}; a value with brackets needs quotes` : what
}

// These messages quote the file.
const TAG_FAULTS: ReadonlySet<string> = new Set([
  'BAD_COLLECTION_TYPE',
  'BAD_DIRECTIVE',
  'TAG_RESOLVE_FAILED',
])

/** The rest of a line only follows from its first part. */
function firstOfEachLine(problems: readonly Problem[]): readonly Problem[] {
  return [...Map.groupBy(problems, ({ path }) => path).values()].flatMap((all) => all.slice(0, 1))
}

function repeatedKeys(document: Document): readonly Scalar[] {
  const repeated: Scalar[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) repeated.push(key)
        seen.add(key.value)
      }
    },
  })
  return repeated
}

/** Goes depth first and stops at the first match, so that a map that contains itself ends here too. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((child) => isDeeperThan(child, levels - 1))
}

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file'
  if (code === 'EISDIR') return 'is a folder, not a file'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user'
  return `cannot be read (${String(code ?? 'unknown error')})`
}
