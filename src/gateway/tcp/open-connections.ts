/**
 * Counts the open connections of each identity, TCP or WebSocket, so that one caller cannot take all the connections that
 * a gateway can hold. D-422.
 */

/** Returns a function that releases the place; undefined if the identity has no place left. */
type TakePlace = (identityId: string) => (() => void) | undefined

export const MOST_CONNECTIONS_PER_IDENTITY = 256

export function createOpenConnections(most: number): TakePlace {
  const open = new Map<string, number>()
  return (identityId) => {
    const before = open.get(identityId) ?? 0
    if (before >= most) return undefined
    open.set(identityId, before + 1)
    let isGivenBack = false
    return () => {
      if (isGivenBack) return
      isGivenBack = true
      const left = (open.get(identityId) ?? 0) - 1
      if (left > 0) open.set(identityId, left)
      else open.delete(identityId)
    }
  }
}
