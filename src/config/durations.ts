/**
 * The durations in the file: defaults, limits, and the specification's rule that a value that is too small is adjusted,
 * not refused (SPEC Limits, D-43). Pure; the log and `config check` report what was adjusted.
 */
import {
  type Duration,
  days,
  formatDuration,
  hours,
  milliseconds,
  minutes,
  parseDuration,
  seconds,
} from '../base/time/duration.ts'
import type { Timeouts } from './config.ts'

export interface DurationRule {
  /** The default. */
  readonly usual: string
  /** Smaller values are raised to this, with a warning. */
  readonly minimum: Duration
  /** Larger values are refused. */
  readonly maximum: Duration
}

// D-43: larger values are mistakes.
const TEN_YEARS = days(3650)

// Node's timers overflow after 24 days, and a connection that may wait for a day protects nothing.
const LONGEST_TIMEOUT = days(1)

export const DURATION_RULES = {
  // SPEC Limits: 30m, at least 1m.
  accessTokenDuration: { usual: '30m', minimum: minutes(1), maximum: TEN_YEARS },
  idTokenDuration: { usual: '30m', minimum: minutes(1), maximum: TEN_YEARS },
  // SPEC Limits: 24h; the minimum depends on the access token (`adjustDurations`).
  refreshTokenDuration: { usual: '24h', minimum: minutes(2), maximum: TEN_YEARS },
  // D-27: off. A longer window would make every stolen token valid for as long.
  refreshRetryWindow: { usual: '0s', minimum: seconds(0), maximum: minutes(5) },
  // D-36: 30m, at least 1m.
  sessionTimeout: { usual: '30m', minimum: minutes(1), maximum: TEN_YEARS },
  // D-40: 12h.
  sessionCertificateDuration: { usual: '12h', minimum: minutes(1), maximum: TEN_YEARS },
  // D-27: 30 days.
  maxSessionDuration: { usual: '30d', minimum: minutes(1), maximum: TEN_YEARS },
  // D-23: 90 days. If keys rotated faster than hourly, verifiers that cache the key set would not keep up.
  keyRotation: { usual: '90d', minimum: hours(1), maximum: TEN_YEARS },
  // D-102, D-134: 90 days. At least one day, so that an overnight incident can still be investigated.
  auditRetention: { usual: '90d', minimum: days(1), maximum: TEN_YEARS },
  // D-125: a day. Under a minute, no user could enroll; a token that is valid for years is a password.
  enrollmentDuration: { usual: '24h', minimum: minutes(1), maximum: days(365) },
  // API 3.2: a year.
  enrollmentCertificateDuration: { usual: '365d', minimum: hours(1), maximum: TEN_YEARS },
  // D-44: 10 s for the header, 30 s for the request.
  header: { usual: '10s', minimum: seconds(1), maximum: LONGEST_TIMEOUT },
  request: { usual: '30s', minimum: seconds(1), maximum: LONGEST_TIMEOUT },
  idle: { usual: '60s', minimum: seconds(1), maximum: LONGEST_TIMEOUT },
  // D-196.
  write: { usual: '30s', minimum: seconds(1), maximum: LONGEST_TIMEOUT },
} as const satisfies Record<string, DurationRule>

export type DurationReading =
  | { readonly ok: true; readonly value: Duration }
  | { readonly ok: false; readonly problem: string }

/** Parses one value of the file. A value that is too small is not a problem here: `adjustDurations` raises it. */
export function readDuration(text: string, rule: Pick<DurationRule, 'maximum'>): DurationReading {
  const value = parseDuration(text)
  if (value === undefined) {
    return { ok: false, problem: 'is not a duration; write it like 90s, 30m, 24h, 1h30m or 7d' }
  }
  if (value > rule.maximum) {
    return { ok: false, problem: `is too long; ${formatDuration(rule.maximum)} at most` }
  }
  return { ok: true, value }
}

/** Every duration of one file. */
export interface Durations {
  readonly sessionTimeout: Duration
  readonly sessionCertificateDuration: Duration
  readonly accessTokenDuration: Duration
  readonly idTokenDuration: Duration
  readonly refreshTokenDuration: Duration
  readonly refreshRetryWindow: Duration
  readonly maxSessionDuration: Duration
  readonly keyRotation: Duration
  readonly enrollmentDuration: Duration
  readonly enrollmentCertificateDuration: Duration
  readonly auditRetention: Duration
  /** One entry for each listener, in the order of the file. */
  readonly timeouts: readonly Timeouts[]
}

/** One value that was too small, in words that an operator can search for in the file. */
export interface Adjustment {
  readonly path: string
  readonly given: string
  readonly used: string
}

export function describeAdjustment({ path, given, used }: Adjustment): string {
  return `${path}: ${given} is too short; using ${used}`
}

/** Raises each value that is below its minimum, and reports it. */
export function adjustDurations(given: Durations): {
  readonly durations: Durations
  readonly adjustments: readonly Adjustment[]
} {
  const adjustments: Adjustment[] = []
  const atLeast = (path: string, value: Duration, minimum: Duration): Duration => {
    if (value >= minimum) return value
    adjustments.push({ path, given: formatDuration(value), used: formatDuration(minimum) })
    return minimum
  }
  type Plain = 'accessTokenDuration' | 'idTokenDuration' | 'refreshRetryWindow' | 'keyRotation'
  const oidc = (key: Plain): Duration =>
    atLeast(`edge.oidc.${key}`, given[key], DURATION_RULES[key].minimum)

  const timeoutsOf = (values: Timeouts, listener: number): Timeouts => {
    const path = `web[${listener}].options.timeouts`
    const header = atLeast(`${path}.header`, values.header, DURATION_RULES.header.minimum)
    return {
      header,
      // `header` and `request` have been raised to their own minimum by now.
      request: atLeast(`${path}.request`, values.request, header),
      idle: atLeast(`${path}.idle`, values.idle, DURATION_RULES.idle.minimum),
      write: atLeast(`${path}.write`, values.write, DURATION_RULES.write.minimum),
    }
  }

  const api = (key: 'sessionTimeout' | 'sessionCertificateDuration'): Duration =>
    atLeast(`edge.api.${key}`, given[key], DURATION_RULES[key].minimum)

  // In the order of the file, so that the warnings are too.
  const sessionTimeout = api('sessionTimeout')
  const sessionCertificateDuration = api('sessionCertificateDuration')
  const accessTokenDuration = oidc('accessTokenDuration')
  const durations = {
    sessionTimeout,
    sessionCertificateDuration,
    accessTokenDuration,
    idTokenDuration: oidc('idTokenDuration'),
    // SPEC Limits: at least one minute longer than the access token; always compared, given or default.
    refreshTokenDuration: atLeast(
      'edge.oidc.refreshTokenDuration',
      given.refreshTokenDuration,
      milliseconds(accessTokenDuration + minutes(1)),
    ),
    refreshRetryWindow: oidc('refreshRetryWindow'),
    // A session that ends before its first token would issue tokens that claim a longer lifetime than they have.
    maxSessionDuration: atLeast(
      'edge.oidc.maxSessionDuration',
      given.maxSessionDuration,
      accessTokenDuration,
    ),
    keyRotation: oidc('keyRotation'),
    enrollmentDuration: atLeast(
      'edge.enrollment.duration',
      given.enrollmentDuration,
      DURATION_RULES.enrollmentDuration.minimum,
    ),
    enrollmentCertificateDuration: atLeast(
      'edge.enrollment.certificateDuration',
      given.enrollmentCertificateDuration,
      DURATION_RULES.enrollmentCertificateDuration.minimum,
    ),
    auditRetention: atLeast(
      'edge.audit.retention',
      given.auditRetention,
      DURATION_RULES.auditRetention.minimum,
    ),
    timeouts: given.timeouts.map(timeoutsOf),
  }
  return { durations, adjustments }
}
