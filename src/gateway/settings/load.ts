/**
 * `gateway.yml` and the command line → checked settings. Options win over the file; every problem is in one message, as
 * for `controller.yml`. D-390.
 */
import { resolve } from 'node:path'
import { isJsonObject } from '../../base/json.ts'
import { adjustDurations } from '../../config/adjust-durations.ts'
import type { Adjustment } from '../../config/durations.ts'
import { ConfigProblems, mergeProblems, type Problem } from '../../config/problems.ts'
import { readYamlFile } from '../../config/read-yaml.ts'
import { schemaProblems } from '../../config/shown/schema-problems.ts'
import { fillIn } from '../../config/variables.ts'
import { routingFault } from '../routing/choose-upstream.ts'
import { type CheckedGatewayFile, GATEWAY_KEYS, GatewayFile } from './schema.ts'
import type { GatewaySettings, UpstreamSettings } from './settings.ts'
import { nameOf } from './upstream-url.ts'

/** In the home of a gateway. */
export const GATEWAY_FILE = 'gateway.yml'

/** What the command line says, in the form of the file. */
export interface GivenSettings {
  readonly controller?: string | undefined
  readonly listen?: string | undefined
  /** Instead of those in the file. */
  readonly upstreams?: readonly { readonly name?: string; readonly url: string }[] | undefined
}

export interface LoadedSettings {
  readonly settings: GatewaySettings
  /** Values that were too small; each is logged as one warning. */
  readonly adjustments: readonly Adjustment[]
}

/** Throws ConfigProblems. Without a file, everything comes from the command line. */
export async function loadGatewaySettings(from: {
  /** The folder that paths in the file are relative to. */
  readonly home: string
  readonly file?: string | undefined
  readonly given: GivenSettings
  readonly variable: (name: string) => string | undefined
}): Promise<LoadedSettings> {
  const source = from.file ?? 'the command line'
  const written =
    from.file === undefined
      ? ({ ok: true, tree: { v: 1 }, repeated: [] } as const)
      : await readYamlFile(from.file)
  if (!written.ok) throw new ConfigProblems(source, written.problems)
  const filled = fillIn(written.tree, from.variable)
  const tree = withGiven(filled.tree, from.given)
  // A schema that is used once is not worth compiling.
  const reading = GatewayFile.safeParse(tree, { jitless: true })
  const problems = mergeProblems(
    written.repeated,
    filled.problems,
    schemaProblems(reading.error?.issues ?? [], tree, GATEWAY_KEYS),
    isWithoutWork(tree)
      ? [{ path: 'upstreams', message: 'is missing; for forward authentication alone, set verify' }]
      : [],
    reading.success ? repeatedNames(reading.data.upstreams) : [],
    reading.success ? samePlaces(reading.data.upstreams) : [],
    reading.success ? idleWithoutTcp(reading.data.upstreams) : [],
  )
  if (!reading.success || problems.length > 0) throw new ConfigProblems(source, problems)
  const { file, adjustments } = adjustDurations(reading.data, GATEWAY_KEYS)
  return { settings: settingsOf(file, from.home), adjustments }
}

function withGiven(tree: unknown, given: GivenSettings): unknown {
  if (typeof tree !== 'object' || tree === null) return tree
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...tree, ...Object.fromEntries(set) }
}

/** D-332: a gateway has services behind it, or answers proxies, or both. */
function isWithoutWork(tree: unknown): boolean {
  if (!isJsonObject(tree) || tree['verify'] !== undefined) return false
  const { upstreams } = tree
  return upstreams === undefined || (Array.isArray(upstreams) && upstreams.length === 0)
}

function settingsOf(file: CheckedGatewayFile, home: string): GatewaySettings {
  const { controller, listen, certificate, verify, monitoring, log } = file
  return {
    controller,
    listen,
    ...(certificate === undefined
      ? {}
      : {
          certificate: {
            cert: resolve(home, certificate.cert),
            key: resolve(home, certificate.key),
          },
        }),
    upstreams: file.upstreams.map(upstreamOf),
    ...(verify === undefined ? {} : { verify }),
    ...(monitoring === undefined ? {} : { monitoring }),
    log,
  }
}

function upstreamOf(written: CheckedGatewayFile['upstreams'][number]): UpstreamSettings {
  const { name, url, hosts, path, require, signIn, idle } = written
  const given = { name: name ?? nameOf(url), to: url, hosts, path, require, signIn }
  return idle === undefined ? given : { ...given, idle }
}

function repeatedNames(upstreams: CheckedGatewayFile['upstreams']): readonly Problem[] {
  const owners = new Map<string, number>()
  return upstreams.flatMap((upstream, position) => {
    const name = upstreamOf(upstream).name
    const owner = owners.get(name)
    owners.set(name, owner ?? position)
    const message = `${JSON.stringify(name)} is the name of upstreams[${owner}] too; give each its own`
    return owner === undefined ? [] : [{ path: `upstreams[${position}].name`, message }]
  })
}

function idleWithoutTcp(upstreams: CheckedGatewayFile['upstreams']): readonly Problem[] {
  return upstreams.flatMap(({ url, idle }, position) =>
    idle === undefined || url.kind === 'tcp'
      ? []
      : [{ path: `upstreams[${position}].idle`, message: 'is only for tcp://HOST:PORT' }],
  )
}

/** D-401: a request must have one upstream. */
function samePlaces(upstreams: CheckedGatewayFile['upstreams']): readonly Problem[] {
  const fault = routingFault(upstreams.map(upstreamOf).filter(({ to }) => to.kind === 'http'))
  return fault === undefined ? [] : [{ path: 'upstreams', message: fault }]
}
