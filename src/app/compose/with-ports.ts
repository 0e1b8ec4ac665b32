/** Fills in the ports of use cases, for callers that do not take ports yet. */
import type { Bound } from '../../domain/bound.ts'

type UseCases = Readonly<Record<string, (ports: never, ...rest: never[]) => unknown>>

/** What all of them need together. */
type PortsOf<Cases extends UseCases> = Cases[keyof Cases] extends (
  ports: infer Ports,
  ...rest: never[]
) => unknown
  ? Ports
  : never

export function withPorts<Cases extends UseCases>(
  ports: PortsOf<Cases>,
  useCases: Cases,
): { readonly [Name in keyof Cases]: Bound<Cases[Name]> } {
  const bound = Object.entries(useCases).map(([name, useCase]) => [
    name,
    useCase.bind(null, ports as never),
  ])
  return Object.fromEntries(bound)
}
