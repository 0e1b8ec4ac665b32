/**
 * A strict reader of the text format 0.0.4, written from its description and not from our writer: every line must be
 * what the grammar allows, families stand together, and a histogram must add up.
 */
import assert from 'node:assert/strict'

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly Sample[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const HELP = new RegExp(`^# HELP (${NAME}) (.+)$`)
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary|untyped)$`)
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"/y
const VALUE = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Inf)|NaN)$/

export function readPrometheusText(text: string): ReadonlyMap<string, Family> {
  assert.ok(text.endsWith('\n'), 'the last line ends')
  const families = new Map<string, { -readonly [K in keyof Family]: Family[K] }>()
  const seen = new Set<string>()
  let help: { name: string; text: string } | undefined
  let current: Family | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const helps = HELP.exec(line)
    if (helps !== null) {
      assert.equal(help, undefined, `a HELP is followed by its TYPE: ${line}`)
      help = { name: helps[1] ?? '', text: helps[2] ?? '' }
      continue
    }
    const types = TYPE.exec(line)
    if (types !== null) {
      const [, name = '', type = ''] = types
      assert.equal(help?.name, name, line)
      assert.equal(families.has(name), false, `${name} comes once`)
      current = { name, type, help: help.text, samples: [] }
      families.set(name, current)
      help = undefined
      continue
    }
    assert.ok(current !== undefined && help === undefined, `a sample follows its TYPE: ${line}`)
    const sample = readSample(line)
    assert.equal(familyOf(sample.name, current), current.name, line)
    const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`
    assert.equal(seen.has(key), false, `this series comes twice: ${line}`)
    seen.add(key)
    ;(current.samples as Sample[]).push(sample)
  }
  for (const family of families.values()) check(family)
  return families
}

/** The value of one series; fails when there is none. */
export function sampleOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const samples = [...families.values()].flatMap((family) => family.samples)
  const found = samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  assert.equal(found.length, 1, `${name} ${JSON.stringify(labels)} is one series`)
  return found[0]?.value ?? Number.NaN
}

function readSample(line: string): Sample {
  const name = new RegExp(`^${NAME}`).exec(line)?.[0]
  assert.ok(name !== undefined, `a line begins with a name: ${line}`)
  const labels: Record<string, string> = {}
  let at = name.length
  if (line[at] === '{') {
    at += 1
    for (;;) {
      LABEL.lastIndex = at
      const label = LABEL.exec(line)
      assert.ok(label !== null, `a label: ${line.slice(at)}`)
      assert.equal(Object.hasOwn(labels, label[1] ?? ''), false, `a label comes once: ${line}`)
      labels[label[1] ?? ''] = (label[2] ?? '').replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c))
      at = LABEL.lastIndex
      if (line[at] === '}') break
      assert.equal(line[at], ',', line)
      at += 1
    }
    at += 1
  }
  assert.equal(line[at], ' ', line)
  const value = line.slice(at + 1)
  assert.match(value, VALUE, line)
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) }
}

function familyOf(sample: string, { name, type }: Family): string {
  return type === 'histogram'
    ? sample.replace(/_(?:bucket|sum|count)$/, '')
    : sample === name
      ? name
      : ''
}

function check({ name, type, samples }: Family): void {
  assert.ok(samples.length > 0, `${name} has samples`)
  if (type === 'counter') {
    assert.match(name, /_total$/)
    for (const { value } of samples) assert.ok(value >= 0, name)
  }
  if (type !== 'histogram') return
  const series = Map.groupBy(samples, ({ labels: { le: _, ...others } }) => JSON.stringify(others))
  for (const [labels, parts] of series) {
    const buckets = parts.filter((part) => part.name === `${name}_bucket`)
    const limits = buckets.map(({ labels: { le = '' } }) => Number(le.replace('Inf', 'Infinity')))
    assert.deepEqual(
      limits,
      limits.toSorted((a, b) => a - b),
      `the limits of ${name}${labels} rise`,
    )
    const counts = buckets.map(({ value }) => value)
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
      `${name}${labels} is cumulative`,
    )
    assert.equal(limits.at(-1), Number.POSITIVE_INFINITY, `${name}${labels} ends with everything`)
    const count = parts.filter((part) => part.name === `${name}_count`)
    assert.deepEqual(
      count.map(({ value }) => value),
      [counts.at(-1)],
      `${name}${labels} adds up`,
    )
    assert.equal(parts.filter((part) => part.name === `${name}_sum`).length, 1)
  }
}
