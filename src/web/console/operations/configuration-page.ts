/** GET /console/configuration: what this instance was started with. Read-only, and without secrets (D-372). */
import { html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { CONFIGURATION_PATH } from '../navigation.ts'
import { badge, section, table } from '../parts.ts'

export interface ShownSetting {
  readonly path: string
  readonly value: string
  readonly isSet: boolean
  readonly adjustedFrom: string | undefined
}

export function configurationPage(
  frame: ConsoleFrame,
  settings: readonly ShownSetting[],
): SafeHtml {
  const adjusted = settings.filter(({ adjustedFrom }) => adjustedFrom !== undefined)
  return consoleLayout(frame, {
    section: CONFIGURATION_PATH,
    title: 'Configuration',
    lead: html`<p class="lead">Read-only</p>`,
    content: html`<p>What the instance that answers was started with. To change it, edit its <code>controller.yml</code> and restart it; <code>latchkey config check</code> checks the file first. Credentials are not shown, and variables are named but not resolved.</p>
${
  adjusted.length > 0 &&
  section(
    'Adjusted',
    html`<p class="hint">These values were too short, and longer ones are used.</p>${settingsTable('Adjusted values', adjusted)}`,
  )
}
${section('All values', settingsTable('All values', settings))}`,
  })
}

function settingsTable(label: string, settings: readonly ShownSetting[]): SafeHtml {
  return table(
    label,
    [
      { title: 'Key', look: 'wide', cell: ({ path }) => html`<code>${path}</code>` },
      {
        title: 'Value',
        look: 'wide',
        cell: ({ value }) => (value === '' ? '–' : html`<code>${value}</code>`),
      },
      {
        title: 'Where from',
        cell: ({ isSet, adjustedFrom }) => {
          if (adjustedFrom !== undefined) {
            return html`${badge('warn', 'Adjusted')} <span class="hint">the file says ${adjustedFrom}</span>`
          }
          return isSet ? 'File' : badge('quiet', 'Default')
        },
      },
    ],
    settings,
  )
}
