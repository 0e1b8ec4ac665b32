/** The stylesheet of these pages: that of the login, and what shows commands. */
import { html } from '../login/html.ts'
import { brandedSheet } from '../login/look/branding.ts'
import { STYLESHEET } from '../login/styles.ts'

const INVITE_STYLESHEET = html`${STYLESHEET}.command {
  margin: 0 0 1rem;
  padding: 0.75rem 0.875rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--ground);
  font: 0.875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  user-select: all;
}
form + .command {
  margin-top: 1rem;
}
input[readonly] {
  border-color: var(--edge);
  background: var(--ground);
}
p strong {
  color: var(--ink);
  font-weight: 600;
}
.rule {
  margin: -0.625rem 0 1.125rem;
  font-size: 0.875rem;
}
.warning {
  padding: 0.75rem 0.875rem;
  border: 1px solid var(--edge);
  border-left: 4px solid var(--accent);
  border-radius: 0.5rem;
  background: var(--ground);
  color: var(--ink);
  font-size: 0.9375rem;
}
details {
  margin-top: 1.5rem;
  padding-top: 1.25rem;
  border-top: 1px solid var(--edge);
}
details p {
  margin: 0.75rem 0;
  font-size: 0.9375rem;
}
details .quiet {
  margin: 0;
  border: 1px solid var(--line);
  background: var(--field);
  color: var(--ink);
}
details .quiet:hover {
  border-color: var(--accent);
  color: var(--accent);
}
button + .quiet {
  width: 100%;
  margin-top: 0.625rem;
}
[hidden] {
  display: none;
}
.done:focus-visible {
  outline: none;
}
`

/** With the colors of the operator. */
export const inviteSheet = brandedSheet(INVITE_STYLESHEET)
