/**
 * The work that repeats in one process of an instance: following what others change, rotation, renewal, and cleaning
 * up. With workers it is the supervisor that does it, so that the work does not multiply (D-288).
 */
import { type Duration, milliseconds, seconds } from '../base/time/duration.ts'
import type { Instant } from '../base/time/instant.ts'
import { endsWithin } from '../base/time/within.ts'
import { createEndExpired } from '../domain/sessions/ending/end-expired.ts'
import { type RepeatedWork, runInBackground } from './background.ts'
import { followAuthorities } from './compose/own-authorities.ts'
import { type Core, type Instance, LAST_ROUNDS, rotateIfDue } from './core.ts'
import { sweep } from './janitor.ts'
import { createInstancePresence } from './monitoring/instance-presence.ts'

/** D-34: an ended session is refused on every instance within a second. */
const FOLLOW_ENDINGS: Duration = milliseconds(400)
/** D-34: a changed policy, signer or CA also takes effect within a second. */
const FOLLOW_RULES: Duration = milliseconds(400)
/** D-135: tokens signed by a withdrawn key are refused on every instance within a second. */
const FOLLOW_KEYS: Duration = milliseconds(400)
const ROTATE_KEYS: Duration = seconds(60)
/** Every second beat. Far less than the time between publishing a new CA and using it (D-129). */
const FOLLOW_AUTHORITIES: Duration = milliseconds(800)
/** How long a look at our own CAs holds by the time of day, while nothing is committed: they are in use for years. */
const LOOK_AT_AUTHORITIES: Duration = seconds(10)
/** D-141: how long an instance keeps running after the secret was replaced. */
const FOLLOW_SECRET: Duration = milliseconds(800)
const RENEW_CERTIFICATES: Duration = seconds(30)
/** Connections of a session are closed within a second of its end, even if it just expired (D-42). */
const END_EXPIRED: Duration = milliseconds(400)
const SWEEP: Duration = seconds(30)
const WATCH_CLOCK: Duration = milliseconds(800)

interface ProcessHooks {
  /** After our own CAs have changed. */
  onNewAuthorities(): void
  renewCertificates(): Promise<void>
  /** After each round that may have read something new, and when a round found that there is nothing new. */
  afterReading?(outcome: 'read' | 'unchanged'): void
}

interface ChoreHooks extends ProcessHooks {
  onSecretReplaced(): void
  onDatabaseRestored(): void
}

/** What the process does all the time that has the chores of its instance. */
export interface Work extends Pick<Instance, 'secretReplaced' | 'databaseRestored'> {
  /** Waits a moment for what is running. Nothing begins after this. */
  end(): Promise<void>
}

/** Tells the other instances of this one, and begins its chores. */
export async function beginWork(
  core: Core,
  hooks: ProcessHooks,
  appliedByOthers?: Parameters<typeof createInstancePresence>[1],
): Promise<Work> {
  const secretReplaced = Promise.withResolvers<void>()
  const databaseRestored = Promise.withResolvers<void>()
  const presence = createInstancePresence(core, appliedByOthers)
  await presence.begin()
  const repeated = chores(core, {
    ...hooks,
    onSecretReplaced: secretReplaced.resolve,
    onDatabaseRestored: databaseRestored.resolve,
  })
  const works = [...presence.works, ...repeated]
  const background = runInBackground(works, core.log, core.store.changes)
  return {
    secretReplaced: secretReplaced.promise,
    databaseRestored: databaseRestored.promise,
    async end() {
      await endsWithin(LAST_ROUNDS, background.stop())
      const { routerPresence } = core.ports
      await endsWithin(LAST_ROUNDS, Promise.all([routerPresence.flush(), presence.end()]))
    },
  }
}

export function chores(core: Core, hooks: ChoreHooks): readonly RepeatedWork[] {
  const { config, ports, store, authorities, clock, clockWatch, random, log } = core
  const { signingKeys, endedSessions, rules } = ports
  const reading = (work: () => Promise<unknown>) => async () => {
    await work()
    hooks.afterReading?.('read')
  }
  const lookAtAuthorities = followAuthorities({
    home: config.home,
    authorities,
    random,
    log,
    onChange: () => hooks.onNewAuthorities(),
  })
  let lookedAt: Instant | undefined
  return [
    {
      name: 'ended sessions',
      every: FOLLOW_ENDINGS,
      follows: true,
      round: reading(() => endedSessions.refresh()),
      confirm(age) {
        endedSessions.learn([], age)
        hooks.afterReading?.('unchanged')
      },
    },
    {
      name: 'rules',
      every: FOLLOW_RULES,
      follows: true,
      round: reading(() => rules.refresh()),
      confirm: (age) => rules.confirmUnchanged(age),
    },
    {
      name: 'signing keys',
      every: FOLLOW_KEYS,
      follows: true,
      round: reading(() => signingKeys.refresh()),
      confirm() {},
    },
    {
      name: 'key rotation',
      every: ROTATE_KEYS,
      isOnBeat: true,
      round: async () => {
        await rotateIfDue(ports, log)
        const past = clockWatch.removable()
        if (past !== undefined) await signingKeys.removeGone(past)
      },
    },
    {
      name: 'own CAs',
      every: FOLLOW_AUTHORITIES,
      follows: true,
      round: reading(async () => {
        const now = clock.now()
        await lookAtAuthorities()
        lookedAt = now
      }),
      confirm() {},
      // Either way: a clock that was set back must not delay the next look.
      isDue: () =>
        lookedAt === undefined || Math.abs(clock.now() - lookedAt) >= LOOK_AT_AUTHORITIES,
    },
    {
      name: 'installation secret',
      every: FOLLOW_SECRET,
      follows: true,
      round: async () => {
        const found = await store.aside.installation.find()
        if (found?.secretFingerprint !== core.secretFingerprint) hooks.onSecretReplaced()
        else if (found.sealedHashingSecret !== core.sealedHashingSecret) hooks.onDatabaseRestored()
      },
      confirm() {},
    },
    {
      name: 'certificates',
      every: RENEW_CERTIFICATES,
      isOnBeat: true,
      round: () => hooks.renewCertificates(),
    },
    {
      name: 'expired sessions',
      every: END_EXPIRED,
      isOnBeat: true,
      ...createEndExpired(ports),
    },
    {
      name: 'sweep',
      every: SWEEP,
      isOnBeat: true,
      round: async () => {
        const past = clockWatch.removable()
        if (past !== undefined) await sweep(store, past, config.audit.retention)
      },
    },
    { name: 'clock', every: WATCH_CLOCK, isOnBeat: true, round: () => clockWatch.round() },
  ]
}
