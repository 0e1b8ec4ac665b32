/**
 * Connections that are used in turn. One that is free is used again; otherwise a new one is opened, up to the maximum;
 * beyond that callers wait, first come first served, for a bounded time.
 */
import { type Duration, minutes, seconds } from '../../../base/time/duration.ts'
import type { Limits } from './limits.ts'
import type { Link } from './link.ts'
import type { Route } from './route.ts'

/** How long to wait for a free connection, or for a new one. */
const WAIT_LIMIT: Duration = seconds(5)
/** How long a connection may be idle before it is closed. */
const IDLE_LIMIT: Duration = minutes(5)

interface Waiter {
  readonly resolve: (link: Link) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

export class Pool {
  readonly #route: Route
  readonly #limits: Limits
  readonly #max: number
  /** Open connections, whether in use or not. */
  readonly #open = new Set<Link>()
  /** The most recently used comes last, and is used first. */
  readonly #idle: { readonly link: Link; readonly timer: NodeJS.Timeout }[] = []
  readonly #waiting: Waiter[] = []
  #opening = 0
  #isEnded = false

  constructor(route: Route, limits: Limits, max: number) {
    this.#route = route
    this.#limits = limits
    this.#max = max
  }

  /** Throws if there is no connection in time, or if a new one cannot be opened. */
  acquire(): Promise<Link> {
    if (this.#isEnded) return Promise.reject(new Error('the store is closed'))
    const { promise, resolve, reject } = Promise.withResolvers<Link>()
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
      reject(new Error('timeout exceeded while waiting for a connection'))
    }, WAIT_LIMIT)
    const waiter = { resolve, reject, timer }
    this.#waiting.push(waiter)
    this.#serve()
    return promise
  }

  release(link: Link): void {
    if (!link.isUsable || this.#isEnded) this.#drop(link)
    else this.#keep(link)
    this.#serve()
  }

  /** Rejects those who wait. Connections are closed by the route. */
  end(): void {
    this.#isEnded = true
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer)
    for (const waiter of this.#waiting.splice(0)) fail(waiter, new Error('the store is closed'))
  }

  #serve(): void {
    for (let link = this.#waiting.length > 0 && this.#takeIdle(); link; ) {
      const waiter = this.#waiting.shift() as Waiter
      clearTimeout(waiter.timer)
      waiter.resolve(link)
      link = this.#waiting.length > 0 && this.#takeIdle()
    }
    while (this.#opening < this.#waiting.length && this.#open.size + this.#opening < this.#max) {
      void this.#openOne()
    }
  }

  async #openOne(): Promise<void> {
    this.#opening += 1
    try {
      const link = await this.#route.open(this.#limits)
      this.#open.add(link)
      void link.ended.then(() => this.#drop(link))
      if (this.#isEnded) void link.end()
      else this.#keep(link)
    } catch (error) {
      const waiter = this.#waiting.shift()
      if (waiter !== undefined) fail(waiter, error)
    } finally {
      this.#opening -= 1
      this.#serve()
    }
  }

  #keep(link: Link): void {
    this.#route.setIdle(link, true)
    const timer = setTimeout(() => {
      this.#drop(link)
      void link.end()
    }, IDLE_LIMIT)
    timer.unref()
    this.#idle.push({ link, timer })
  }

  #takeIdle(): Link | undefined {
    for (let one = this.#idle.pop(); one !== undefined; one = this.#idle.pop()) {
      clearTimeout(one.timer)
      this.#route.setIdle(one.link, false)
      if (one.link.isUsable) return one.link
      this.#open.delete(one.link)
    }
    return undefined
  }

  #drop(link: Link): void {
    if (!this.#open.delete(link)) return
    const index = this.#idle.findIndex((one) => one.link === link)
    const [removed] = index === -1 ? [] : this.#idle.splice(index, 1)
    clearTimeout(removed?.timer)
    this.#route.setIdle(link, false)
    // Its place is free: someone may be waiting for it.
    this.#serve()
  }
}

function fail(waiter: Waiter, error: unknown): void {
  clearTimeout(waiter.timer)
  waiter.reject(error)
}
