/**
 * File and environment → checked, frozen Config: read, substitute variables, check everything, adjust, freeze. D-43:
 * invalid values are refused, all at once; values that are too small are adjusted and reported.
 */
import { join, resolve } from 'node:path'
import { isNonEmpty, type NonEmpty } from '../base/non-empty.ts'
import { Secret } from '../base/secrets/secret.ts'
import { formatDuration } from '../base/time/duration.ts'
import {
  type AddressOverride,
  overrideAddress,
  type WantedAddress,
} from './addresses/override-address.ts'
import { adjustDurations } from './adjust-durations.ts'
import { bindApis, type ListedApi } from './bindings.ts'
import { readLogo } from './branding/read-logo.ts'
import { get, missingFiles, spanningProblems, withPortOf } from './checks.ts'
import {
  type AuditOutput,
  type Config,
  type Database,
  type IdentityFiles,
  type Listener,
  type Logo,
  type SecretSource,
  TLS_VERSIONS,
  type TraceExport,
} from './config.ts'
import type { Adjustment } from './durations.ts'
import type { Environment } from './environment.ts'
import { ConfigProblems, mergeProblems } from './problems.ts'
import { readYamlFile, type Tree } from './read-yaml.ts'
import { type CheckedFile, ControllerFile } from './schema.ts'
import { schemaProblems } from './shown/schema-problems.ts'
import { settingsOf } from './shown/settings.ts'
import { fillIn, variablesIn } from './variables.ts'

/** D-314: with this brand the layer is on unless it is switched off. */
const OPENZITI = 'openziti'

/** The file in the home that is read by default. */
export const CONFIG_FILE = 'controller.yml'

export interface LoadedConfig {
  readonly config: Config
  /** Values that were too small, in the order of the file. Each is logged as one warning. */
  readonly adjustments: readonly Adjustment[]
  /** The environment variables from which the configuration took secrets (D-243). */
  readonly secretVariables: readonly string[]
  /** Every environment variable that the file names. */
  readonly namedVariables: readonly string[]
  /** What the file said, before variables were filled in: a worker starts from it, even if the file was changed since. */
  readonly tree: unknown
  /** Set if the operator asked for another address than those of the file (D-337). */
  readonly override: AddressOverride | undefined
}

/** Throws ConfigProblems if the file cannot be used. Paths in the file are relative to the home. */
export async function loadConfig(from: {
  readonly home: string
  /** A file other than `<home>/controller.yml`. */
  readonly file?: string | undefined
  readonly environment: Pick<Environment, 'variable'>
  /** The `tree` of an earlier reading, instead of the file. */
  readonly tree?: unknown
  readonly wanted?: WantedAddress | undefined
}): Promise<LoadedConfig> {
  const home = resolve(from.home)
  const source = from.file === undefined ? join(home, CONFIG_FILE) : resolve(from.file)
  const { variable } = from.environment

  const written: Tree =
    from.tree === undefined
      ? await readYamlFile(source)
      : { ok: true, tree: from.tree, repeated: [] }
  if (!written.ok) throw new ConfigProblems(source, written.problems)
  const filled = fillIn(written.tree, variable)
  const { tree, override } =
    from.wanted === undefined ? { tree: filled.tree } : overrideAddress(filled.tree, from.wanted)
  // A schema that is used once is not worth compiling.
  const reading = ControllerFile.safeParse(tree, { jitless: true })
  const branded = await readLogo(tree, home)
  const problems = mergeProblems(
    written.repeated,
    filled.problems,
    schemaProblems(reading.error?.issues ?? [], tree),
    spanningProblems(tree, variable),
    await missingFiles(tree, home),
    branded.problems,
  )
  if (!reading.success || problems.length > 0) throw new ConfigProblems(source, problems)

  const about = { home, variable, logo: branded.logo, tree: written.tree }
  const { config, adjustments } = build(reading.data, about)
  const { sso, tokens } = config
  if (sso.duration > tokens.accessTokenDuration) {
    const longest = formatDuration(tokens.accessTokenDuration)
    const message = `is longer than edge.oidc.accessTokenDuration (${longest}), and the session of /account lasts only as long`
    throw new ConfigProblems(source, [{ path: 'sso.duration', message }])
  }
  const secretVariables = secretVariablesOf(config, written.tree)
  const namedBySecret = config.secret.kind === 'environment' ? [config.secret.variable] : []
  const namedVariables = [...variablesIn(written.tree), ...namedBySecret]
  return {
    config: deepFreeze(config),
    adjustments,
    secretVariables,
    namedVariables,
    tree: written.tree,
    override,
  }
}

/**
 * D-243: only variables in values that hold credentials. A file name or a listener address may refer to HOME or PATH.
 */
function secretVariablesOf({ secret, db }: Config, tree: unknown): readonly string[] {
  return [
    ...(secret.kind === 'environment' ? [secret.variable] : []),
    ...(db.kind === 'sqlite' ? [] : variablesIn(get(tree, 'db'))),
    ...variablesIn(get(tree, 'telemetry', 'traces', 'headers')),
    ...variablesIn(get(tree, 'notifications', 'webhook', 'secret')),
  ]
}

function build(
  written: CheckedFile,
  from: {
    readonly home: string
    readonly variable: Environment['variable']
    readonly logo: Logo | undefined
    readonly tree: unknown
  },
): Pick<LoadedConfig, 'config' | 'adjustments'> {
  const { home, variable, logo, tree } = from
  const { file, adjustments } = adjustDurations(written)
  const { edge, web } = file
  const apis = bindApis(
    web.map((listener) => nonEmpty(listener.apis.map(listedApi))),
    edge.api.disableOidcAutoBinding,
  )
  const listeners = web.map((listener, i): Listener => {
    const identity = listener.identity ?? file.identity
    return {
      name: listener.name,
      bindPoints: nonEmpty(
        listener.bindPoints.map(({ interface: place, address }) => ({
          interface: place,
          address: withPortOf(place, address),
        })),
      ),
      ...(identity === undefined ? {} : { identity: identityFiles(identity, home) }),
      tls: {
        minVersion: TLS_VERSIONS[listener.options.minTLSVersion],
        maxVersion: TLS_VERSIONS[listener.options.maxTLSVersion],
      },
      strictTransportSecurity: listener.options.strictTransportSecurity,
      timeouts: listener.options.timeouts,
      ...(listener.proxyProtocol === undefined ? {} : { proxyProtocol: listener.proxyProtocol }),
      apis: at(apis, i),
    }
  })
  const { disableOidcAutoBinding: _, ...api } = edge.api
  const { signingAlgorithm, idTokenAlgorithm, keyRotation, ...tokens } = edge.oidc
  const config: Config = {
    home,
    db: databaseIn(home, file.db),
    workers: file.workers,
    secret: secretSource(file.secret, home, variable),
    listeners: nonEmpty(listeners),
    brand: edge.brand,
    compatibility: edge.compatibility ?? (edge.brand === OPENZITI ? OPENZITI : 'none'),
    trustDomain: file.trustDomain,
    api: { ...api, address: api.address },
    tokens,
    keys: {
      algorithms: { access: signingAlgorithm, id: idTokenAlgorithm },
      rotation: keyRotation,
    },
    enrollment: edge.enrollment,
    passwords: edge.passwords,
    totp: { hostname: edge.totp.hostname },
    limits: edge.limits,
    externalJwtSigners: edge.externalJwtSigners,
    audit: { ...edge.audit, output: outputIn(home, edge.audit.output) },
    sso: file.sso,
    branding: brandingOf(file.branding, logo),
    log: file.log,
    notifications: { webhook: file.notifications.webhook },
    settings: settingsOf(tree, adjustments),
    telemetry: { traces: traceExport(file.telemetry.traces) },
  }
  return { config, adjustments }
}

function brandingOf(
  { name, colors, support }: CheckedFile['branding'],
  logo: Logo | undefined,
): Config['branding'] {
  const { accent, accentDark } = colors
  return { name, logo, colors: { accent, accentDark }, support }
}

function traceExport(traces: CheckedFile['telemetry']['traces']): TraceExport | undefined {
  if (traces === undefined) return undefined
  const { endpoint, headers = {}, sampleRatio = 1 } = traces
  return { endpoint, headers, sampleRatio }
}

function listedApi({ binding, options }: CheckedFile['web'][number]['apis'][number]): ListedApi {
  const { redirectURIs: redirectPatterns, postLogoutURIs: postLogoutPatterns } = options
  return { binding, redirectPatterns, postLogoutPatterns }
}

function identityFiles(
  { cert, key, ca }: NonNullable<CheckedFile['identity']>,
  home: string,
): IdentityFiles {
  return {
    cert: resolve(home, cert),
    key: resolve(home, key),
    ...(ca === undefined ? {} : { ca: resolve(home, ca) }),
  }
}

function outputIn(home: string, output: AuditOutput): AuditOutput {
  return output.kind === 'file' ? { kind: 'file', path: resolve(home, output.path) } : output
}

function databaseIn(home: string, db: Database): Database {
  return db.kind === 'sqlite' ? { kind: 'sqlite', path: resolve(home, db.path) } : db
}

function secretSource(
  { file, environment: name }: CheckedFile['secret'],
  home: string,
  variable: Environment['variable'],
): SecretSource {
  const value = name === undefined ? undefined : variable(name)
  return name === undefined || value === undefined
    ? { kind: 'file', path: resolve(home, file) }
    : { kind: 'environment', variable: name, value: new Secret(value) }
}

/** For lists that the schema has checked to be non-empty. */
function nonEmpty<T>(list: readonly T[]): NonEmpty<T> {
  if (!isNonEmpty(list)) throw new Error('the schema let an empty list pass')
  return list
}

/** For lists with one entry for each listener. */
function at<T>(list: readonly T[], position: number): T {
  const entry = list[position]
  if (entry === undefined) throw new Error('a listener was lost on the way')
  return entry
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
