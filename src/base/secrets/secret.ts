/**
 * A credential that cannot be printed by accident: logging, JSON, template strings and the debugger
 * all show `[secret]`. Turning it into text is one visible call, `reveal()`.
 */
import { inspect } from 'node:util'

const HIDDEN = '[secret]'

export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  [inspect.custom](): string {
    return HIDDEN
  }
}
