/** The Grafana dashboard asks for metrics that exist, and leaves none out. D-138. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { startMonitored } from '../../support/monitoring/monitoring.ts'
import type { Family } from '../../support/monitoring/prometheus-text.ts'

const FILE = join(import.meta.dirname, '../../../deploy/grafana/latchkey.json')

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly datasource?: { readonly type: string; readonly uid: string }
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[]
}

interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly schemaVersion: number
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string }[]
  }
  readonly panels: readonly Panel[]
}

const dashboard: Dashboard = JSON.parse(readFileSync(FILE, 'utf8'))
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** Only with what an installation may have: traces, CAs, signers with a certificate, enrolled certificates. */
const SOMETIMES = [
  'latchkey_trace_spans_total',
  'latchkey_third_party_ca_expiry_seconds',
  'latchkey_signer_certificate_expiry_seconds',
  'latchkey_enrolled_certificate_expiry_seconds',
]

/** Names in a query, without what stands in braces, and without the functions of the language. */
const namesIn = (query: string) =>
  query.replaceAll(/\{[^}]*\}/g, '').match(/\b(?:latchkey|process)_\w+/g) ?? []

/** The labels that a query selects or groups by. */
const labelsIn = (query: string) => [
  ...[...query.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) =>
    [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  ),
  ...[...query.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)].flatMap(([, inner = '']) =>
    inner.split(',').map((label) => label.trim()),
  ),
]

/** What the scraper adds itself. */
const OF_THE_SCRAPER = ['job', 'instance']

test('the dashboard fits the metrics', async (t) => {
  const { service, scrape } = await startMonitored(t)
  await service.call('/version')
  const families = await eventually(async () => {
    const found = await scrape()
    // The first reader begins the measuring.
    return found.has('latchkey_event_loop_lag_seconds') ? found : undefined
  }, 'the lag of the event loop')
  const samplesOf = ({ name, type }: Family) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
  const known = new Set([...families.values()].flatMap(samplesOf).concat(SOMETIMES))

  await t.test('each metric that it asks for exists', () => {
    assert.ok(queries.length > 10)
    for (const query of queries) {
      assert.ok(namesIn(query).length > 0, query)
      for (const name of namesIn(query)) assert.ok(known.has(name), `${name} in ${query}`)
    }
  })

  await t.test('each label that it asks for exists', () => {
    const labels = new Set(
      [...families.values()].flatMap(({ samples }) =>
        samples.flatMap((sample) => Object.keys(sample.labels)),
      ),
    )
    for (const query of queries) {
      for (const label of labelsIn(query)) {
        assert.ok(labels.has(label) || OF_THE_SCRAPER.includes(label), `${label} in ${query}`)
      }
    }
  })

  await t.test('each metric that there is, is on it', () => {
    const asked = new Set(queries.flatMap(namesIn))
    const shown = (family: Family) => samplesOf(family).some((name) => asked.has(name))
    const missing = [...families.values()].filter((family) => !shown(family))
    assert.deepEqual(
      missing.map(({ name }) => name),
      [],
    )
    for (const name of SOMETIMES) assert.ok(asked.has(name), name)
  })
})

test('the dashboard is one that Grafana can import anywhere', () => {
  assert.match(dashboard.uid, /^[a-zA-Z0-9_-]{1,40}$/)
  assert.ok(dashboard.schemaVersion >= 36)
  assert.ok(
    dashboard.templating.list.some(
      ({ type, name }) => type === 'datasource' && name === 'datasource',
    ),
  )
  const ids = dashboard.panels.map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
  for (const { title, datasource, targets = [] } of panels) {
    assert.deepEqual(datasource, { type: 'prometheus', uid: `\${datasource}` }, title)
    const refs = targets.map(({ refId }) => refId)
    assert.equal(new Set(refs).size, refs.length, title)
  }
})

test('no two panels of the dashboard lie on each other', () => {
  const cells = new Set<string>()
  for (const { title, gridPos } of dashboard.panels) {
    assert.ok(gridPos.x + gridPos.w <= 24, title)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.equal(cells.has(`${x} ${y}`), false, title)
        cells.add(`${x} ${y}`)
      }
    }
  }
})
