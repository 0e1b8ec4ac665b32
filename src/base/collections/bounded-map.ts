/** A map with a maximum size: adding to a full one removes the entry that was not used for the longest time. */
export class BoundedMap<Key, Value> {
  readonly #most: number
  /** Least recently used first: a Map keeps the order of insertion. */
  readonly #entries = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#most) return
    const [oldest] = this.#entries.keys()
    this.#entries.delete(oldest as Key)
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }
}
