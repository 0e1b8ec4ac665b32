/** On its own, so that the table of commands does not load what waits. */
export const WAIT = {
  wait: {
    value: 'SECONDS',
    what: 'wait until every router and instance has confirmed it, at most 60; the exit code says whether they have',
  },
} as const
