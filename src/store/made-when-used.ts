/**
 * Objects whose properties are created on first use. A transaction has its own set of stores and uses two or three of
 * the twenty; creating all of them, or even defining a property for each, cost more than its statements. So the
 * properties are getters of a class, defined once.
 */
export function madeWhenUsed<Made extends object>(
  names: readonly (keyof Made)[],
): (make: <Name extends keyof Made>(name: Name) => Made[Name]) => Made {
  class WhenUsed {
    readonly make: (name: keyof Made) => unknown
    readonly made = new Map<keyof Made, unknown>()
    constructor(make: (name: keyof Made) => unknown) {
      this.make = make
    }
  }
  for (const name of names) {
    Object.defineProperty(WhenUsed.prototype, name, {
      enumerable: true,
      get(this: WhenUsed) {
        let value = this.made.get(name)
        if (value === undefined) {
          value = this.make(name)
          this.made.set(name, value)
        }
        return value
      },
    })
  }
  return (make) => new WhenUsed(make as (name: keyof Made) => unknown) as unknown as Made
}
