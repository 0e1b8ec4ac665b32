/**
 * Tags as lines of `name = value`, for forms. A value that reads as JSON is that value: `3`, `true`, `null`, `"text"`;
 * everything else is text. What was written is read back as the same tags.
 */
import { attempt } from '../../../base/node/attempt.ts'
import { invalid } from '../../../domain/refusals.ts'
import type { Tags } from '../../../entities/field.ts'

export function writeTags(tags: Tags): string {
  return Object.entries(tags)
    .map(([name, value]) => `${isPlainName(name) ? name : JSON.stringify(name)} = ${write(value)}`)
    .join('\n')
}

/** Throws COULD_NOT_VALIDATE for a line that is not a tag, and for a name that comes twice. */
export function readTags(text: string): Tags {
  const tags = new Map<string, Tags[string]>()
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue
    const [, quoted, plain, value = ''] = LINE.exec(line) ?? []
    const name = quoted === undefined ? plain?.trim() : jsonIn(quoted)
    if (typeof name !== 'string' || name === '')
      throw invalid('tags', 'has a line that is not "name = value"')
    if (tags.has(name)) throw invalid('tags', `has "${name}" twice`)
    tags.set(name, read(value.trim()))
  }
  return Object.fromEntries(tags)
}

const LINE = /^\s*(?:("(?:[^"\\]|\\.)*")\s*|([^"=][^=]*))=(.*)$/

function isPlainName(name: string): boolean {
  return name.trim() === name && !/["=]/.test(name)
}

function write(value: Tags[string]): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  const isPlain = value === value.trim() && !/[\r\n]/.test(value) && read(value) === value
  return isPlain ? value : JSON.stringify(value)
}

function read(text: string): Tags[string] {
  const value = jsonIn(text)
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) {
    return value as Tags[string]
  }
  return text
}

function jsonIn(text: string): unknown {
  return attempt(() => JSON.parse(text))
}
