/** GET /console: the overview. D-369, D-371. */
import { days } from '../../../base/time/duration.ts'
import { instant, minus } from '../../../base/time/instant.ts'
import { type Overview, readOverview } from '../../../domain/overview/overview.ts'
import { CONSOLE_PATH } from '../../../web/console/navigation.ts'
import { type OverviewPage, overviewPage } from '../../../web/console/overview/overview-page.ts'
import { proofName } from '../../../web/console/proof-name.ts'
import type { ConsoleRoutes } from '../console-route.ts'
import type { ConsolePorts } from '../ports.ts'

export function addOverviewScreen(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.show(CONSOLE_PATH, async ({ frame }) => {
    const overview = await readOverview(ports)
    const { at, lastBackup, expiring } = overview
    return overviewPage(frame, {
      ...overview,
      liveSessions: liveSessionsOf(overview),
      proofs: overview.proofs.map(({ amr, sessions }) => ({ name: proofName(amr), sessions })),
      expiring: expiring.rows,
      expiringCertificates: expiring.enrolledCertificates,
      lastBackup: lastBackup?.at,
      isBackupOld: lastBackup !== undefined && lastBackup.at < minus(at, days(7)),
    })
  })
}

/** The line of the day ends with the current number, that of the month with the highest of today. */
function liveSessionsOf({
  at,
  sessions,
  sessionsOverTime,
}: Overview): OverviewPage['liveSessions'] {
  const now = sessions.oidc + sessions.legacy
  const today = instant(at - (at % days(1)))
  const before = sessionsOverTime.days.filter(({ from }) => from < today)
  const highestToday = sessionsOverTime.days.find(({ from }) => from === today)?.highest ?? 0
  return {
    day: [
      ...sessionsOverTime.quarters.map((one) => ({
        from: one.at,
        sessions: one.oidc + one.legacy,
      })),
      { from: at, sessions: now },
    ],
    month: [
      ...before.map(({ from, highest }) => ({ from, sessions: highest })),
      { from: today, sessions: Math.max(now, highestToday) },
    ],
  }
}
