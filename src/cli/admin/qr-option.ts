/** On its own, so that the table of commands does not load what draws the code. */
export const QR_OPTION = {
  qr: { what: 'also show the link as a QR code, to scan from this screen' },
} as const
