/** The stylesheet of the reference page: readable text, tables that fit a small screen, the colors of all pages. */

import { BASE_STYLES } from '../login/base-styles.ts'
import { html } from '../login/html.ts'
import { inlineSource } from '../login/look/inline-source.ts'

export const REFERENCE_STYLESHEET = html`${BASE_STYLES}
header, nav, main {
  max-width: 60rem;
  margin: 0 auto;
  padding: 1.5rem 1.25rem 0;
}
main {
  padding-bottom: 4rem;
}
h1 {
  margin: 0 0 0.25rem;
  font-size: 1.75rem;
  line-height: 1.2;
}
h2 {
  margin: 2.5rem 0 0.75rem;
  font-size: 1.25rem;
}
h3 {
  margin: 0;
  font-size: 1rem;
  font-weight: 600;
}
h4 {
  margin: 1rem 0 0.25rem;
  font-size: 0.9375rem;
}
p {
  margin: 0 0 0.5rem;
  color: var(--quiet);
}
nav ul {
  display: flex;
  flex-wrap: wrap;
  gap: 0.25rem 1rem;
  margin: 0;
  padding: 0;
  list-style: none;
}
details {
  margin: 0 0 0.5rem;
  padding: 0.625rem 0.875rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--card);
}
summary {
  cursor: pointer;
}
summary h3 {
  display: inline;
  font-weight: 500;
}
summary:focus-visible, a:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
  border-radius: 0.25rem;
}
code {
  font: 0.875em ui-monospace, 'SF Mono', Menlo, Consolas, monospace;
  overflow-wrap: anywhere;
}
.method {
  display: inline-block;
  min-width: 4rem;
  font-weight: 700;
  color: var(--accent);
}
.about {
  color: var(--quiet);
}
.who {
  margin-top: 0.5rem;
}
.wide {
  overflow-x: auto;
}
table {
  width: 100%;
  border-collapse: collapse;
  font-size: 0.9375rem;
}
th, td {
  padding: 0.25rem 0.75rem 0.25rem 0;
  border-top: 1px solid var(--edge);
  text-align: left;
  vertical-align: top;
}
td:first-child {
  white-space: nowrap;
}
th {
  border-top: 0;
  color: var(--quiet);
  font-weight: 500;
}
`

export const REFERENCE_STYLE_SOURCE = inlineSource(REFERENCE_STYLESHEET)
