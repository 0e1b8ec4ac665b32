/** What the bench measures, in the order of its table, with the targets. */

export type OperationName =
  | 'current-identity'
  | 'refresh'
  | 'refresh-es256'
  | 'login-ext-jwt'
  | 'login-cert'
  | 'session-cert'
  | 'login-password'
  | 'delay'
  | 'workers'
  | 'store-size'
  | 'idle'
  | 'start'

export interface Operation {
  readonly title: string
  /** Measured only with `--big` or `--only`, because of its time. */
  readonly isLong?: true
  /** Whether `--profile` can run it. */
  readonly hasProfile?: true
}

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  'current-identity': { title: '`current-identity` with a bearer token', hasProfile: true },
  refresh: { title: 'refresh, durable, with its event', hasProfile: true },
  'refresh-es256': { title: 'refresh with ID tokens in ES256, which the unit has too' },
  'login-ext-jwt': { title: 'whole login by external JWT', hasProfile: true },
  'login-cert': { title: 'whole login by client certificate', hasProfile: true },
  'session-cert': { title: 'API session certificate', hasProfile: true },
  'login-password': { title: 'whole login by password, one hash subtracted', hasProfile: true },
  delay: { title: '`current-identity` at 1 connection while 8 refresh, p50 against alone' },
  workers: { title: 'two worker processes against one, throughput' },
  'store-size': {
    title: 'a store with 1,000,000 identities and sessions against 1,000',
    isLong: true,
  },
  idle: { title: 'idle CPU' },
  start: { title: 'start to first answer' },
}

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[]

/** Those that are measured in server CPU per operation, by their target in units of one refresh at node-oidc-provider. */
export const CPU_TARGETS = {
  'current-identity': 0.35,
  refresh: 0.9,
  'login-ext-jwt': 1.8,
  'login-cert': 2,
  'session-cert': 1.5,
  'login-password': 2.5,
} as const satisfies Partial<Record<OperationName, number>>

export type CpuOperation = keyof typeof CPU_TARGETS

export function isCpuOperation(name: string): name is CpuOperation {
  return Object.hasOwn(CPU_TARGETS, name)
}
