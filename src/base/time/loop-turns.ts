/**
 * One long step in each turn of the event loop (D-380). Several in one turn would keep every short call of the process
 * waiting for all of them; so the others begin in the turns after it, in order.
 */
export interface LoopTurns {
  /** Returns undefined if the step may begin now, so that no promise is made in vain. */
  next(): Promise<void> | undefined
}

export function createLoopTurns(): LoopTurns {
  const waiting: (() => void)[] = []
  let isTaken = false

  function take(): void {
    isTaken = true
    setImmediate(() => {
      isTaken = false
      const begin = waiting.shift()
      if (begin === undefined) return
      take()
      begin()
    })
  }

  return {
    next() {
      if (isTaken) return new Promise((begin) => waiting.push(begin))
      take()
      return undefined
    },
  }
}
