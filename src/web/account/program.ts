/**
 * The familiar name of the program in a User-Agent field: "Firefox on Windows" (D-180). The sender chooses the field,
 * so it proves nothing, and the page shows the field itself as well.
 */
import type { Presentation } from '../login/presentation.ts'

/** The first match counts: most browsers also name the ones before them. */
const BROWSERS = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|OPiOS)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, 'Safari'],
] as const

const SYSTEMS = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac(?:intosh| OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** For unknown programs; the whole field is shown below. */
const LONGEST = 60

export function programOf(
  { say }: Pick<Presentation, 'say'>,
  userAgent: string | undefined,
): string {
  if (userAgent === undefined || userAgent.trim() === '') return say('sessions.unknown')
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (browser === undefined) return shortened(userAgent)
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1]
  return system === undefined ? browser : say('sessions.program', { browser, system })
}

function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1).trimEnd()}…`
}
