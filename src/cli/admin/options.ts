/** Options that several commands have. On their own, so that the table of commands loads nothing else with them. */

export const QR = {
  qr: { what: 'also show the link as a QR code, to scan from this screen' },
} as const

export const WAIT = {
  wait: {
    value: 'SECONDS',
    what: 'wait until every router and instance has confirmed it, at most 60; the exit code says whether they have',
  },
} as const

export const BODY = {
  body: {
    value: 'FILE',
    what: 'the whole body as JSON; - is standard input; options override it',
  },
} as const

export const YES = { yes: { what: 'do not ask for confirmation' } } as const
