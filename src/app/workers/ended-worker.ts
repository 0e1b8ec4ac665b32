import { RefusedStart } from '../installation/private-files.ts'

/** A worker ended before it was ready. Its own standard error has the reason, unless a signal ended it. */
export class EndedWorker extends RefusedStart {
  constructor(number: number, how: string) {
    super(`worker ${number} ended while it was starting (${how})`)
    this.name = 'EndedWorker'
  }
}
