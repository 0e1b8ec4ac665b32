/** The log of a fake server: what happened is in its answers, and tests are quiet. */
import type { Log } from '../base/log.ts'

const ignore = () => undefined

export const NO_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
