/** Ports for tests: only those that a test gives exist. */
import type { Store } from '../../src/domain/stores.ts'

/** Of each port the methods that matter here; a function or a plain value as a whole. */
type Given<P> = {
  readonly [K in keyof P]?: P[K] extends
    | string
    | number
    | boolean
    | ((...given: never[]) => unknown)
    ? P[K]
    : Partial<P[K]>
}

/** Throws when a port is used that the test did not give, and names it. */
export function fakePorts<P extends object>(given: Given<P>): P {
  return new Proxy(given, {
    get(target, name, receiver) {
      const isMissing = typeof name === 'string' && !(name in target)
      return isMissing ? missing(name) : Reflect.get(target, name, receiver)
    },
  }) as unknown as P
}

/** May be handed on, since code takes its ports apart before it uses them. */
function missing(name: string): unknown {
  const fail = (): never => {
    throw new Error(`the port '${name}' is not part of this test`)
  }
  return new Proxy(fail, { get: fail })
}

/** The stores that are ports: the names of the other two belong to what is kept of them in memory. */
export function storePorts(store: Store): Omit<Store, 'signingKeys' | 'authorities'> {
  const { signingKeys: _keys, authorities: _authorities, ...ports } = store
  return ports
}
