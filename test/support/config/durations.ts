/** The durations of a file by their names, and back: for tests that care about nothing else in it. */
import { type Duration, days } from '../../../src/base/time/duration.ts'
import { adjustDurations } from '../../../src/config/adjust-durations.ts'
import type { Timeouts } from '../../../src/config/config.ts'
import type { Adjustment, DurationRule } from '../../../src/config/durations.ts'
import { allKeys } from '../../../src/config/keys.ts'
import type { CheckedFile } from '../../../src/config/schema.ts'

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

type WholeRule = DurationRule & Required<Pick<DurationRule, 'maximum'>>

/** By the path of the key. D-43: where a rule has no maximum, it is ten years. */
export const DURATION_RULES: Readonly<Record<string, WholeRule>> = Object.fromEntries(
  allKeys().flatMap(({ path, duration }) =>
    duration === undefined ? [] : [[path, { maximum: days(3650), ...duration }]],
  ),
)

export function ruleAt(path: string): WholeRule {
  const rule = DURATION_RULES[path]
  if (rule === undefined) throw new Error(`${path} is not a duration`)
  return rule
}

/** Puts them where the file has them, adjusts the file, and takes them from there. */
export function adjust(given: Durations): {
  readonly durations: Durations
  readonly adjustments: readonly Adjustment[]
} {
  const { sessionTimeout, sessionCertificateDuration, timeouts, ...others } = given
  const { enrollmentDuration, enrollmentCertificateDuration, auditRetention, ...oidc } = others
  const { file, adjustments } = adjustDurations({
    edge: {
      api: { sessionTimeout, sessionCertificateDuration },
      oidc,
      enrollment: {
        duration: enrollmentDuration,
        certificateDuration: enrollmentCertificateDuration,
      },
      audit: { retention: auditRetention },
    },
    web: timeouts.map((one) => ({ options: { timeouts: one } })),
  } as unknown as CheckedFile)
  const { edge, web } = file
  const durations = {
    ...edge.api,
    ...edge.oidc,
    enrollmentDuration: edge.enrollment.duration,
    enrollmentCertificateDuration: edge.enrollment.certificateDuration,
    auditRetention: edge.audit.retention,
    timeouts: web.map(({ options }) => options.timeouts),
  }
  return { durations, adjustments }
}
