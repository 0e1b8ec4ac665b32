/**
 * Returns an object whose properties are created on first use. A transaction has its own set of stores and uses two or
 * three of the twenty; creating all of them cost more than its statements.
 */
export function madeWhenUsed<Made extends object>(
  names: readonly (keyof Made)[],
  make: <Name extends keyof Made>(name: Name) => Made[Name],
): Made {
  const made = {} as Made
  for (const name of names) {
    const get = () => {
      const value = make(name)
      Object.defineProperty(made, name, { enumerable: true, value })
      return value
    }
    Object.defineProperty(made, name, { enumerable: true, configurable: true, get })
  }
  return made
}
