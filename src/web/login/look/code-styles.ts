/** The part of the stylesheet for codes: their field, the steps to an app, the QR code, recovery codes. */
import { html } from '../html.ts'

export const CODE_STYLES = html`.code {
  font-size: 1.25rem;
  font-variant-numeric: tabular-nums;
  letter-spacing: 0.15em;
}
.steps {
  margin: 1.5rem 0 0;
  padding: 0;
  list-style: none;
  counter-reset: step;
}
.steps > li {
  position: relative;
  padding: 0 0 2rem 2.5rem;
  counter-increment: step;
}
.steps > li:last-child {
  padding-bottom: 0;
}
.steps > li::before {
  content: counter(step);
  position: absolute;
  left: 0;
  top: 0;
  width: 1.625rem;
  height: 1.625rem;
  border-radius: 50%;
  background: var(--accent);
  color: var(--on-accent);
  font-size: 0.875rem;
  font-weight: 650;
  line-height: 1.625rem;
  text-align: center;
}
.steps p:where(:not(.alert, .note)) {
  margin: 0 0 1rem;
}
.qr {
  display: block;
  width: 100%;
  max-width: 14rem;
  margin: 0 0 1rem;
  border: 1px solid var(--edge);
  border-radius: 0.75rem;
}
summary {
  color: var(--quiet);
  cursor: pointer;
}
.steps details p {
  margin: 0.5rem 0;
  font-size: 0.9375rem;
}
.key span {
  display: inline-block;
  margin-right: 0.5em;
}
.codes {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(5rem, 1fr));
  gap: 0.25rem 0.75rem;
  margin: 0;
  padding: 0.875rem 1rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--ground);
  list-style: none;
  user-select: all;
}
.codes code {
  white-space: nowrap;
}
.printed {
  display: none;
}
.passkey {
  margin-top: 0.625rem;
}
.codes ~ .passkey {
  margin-top: 1.5rem;
}
.instead summary {
  margin-bottom: 1rem;
}
.user-code {
  margin: 0 0 1.25rem;
  padding: 0.75rem 1rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--ground);
  color: var(--ink);
  font-size: 1.5rem;
  letter-spacing: 0.1em;
  text-align: center;
}
.facts {
  display: grid;
  grid-template-columns: auto 1fr;
  gap: 0.25rem 1rem;
  margin: 0 0 1.25rem;
  font-size: 0.9375rem;
}
.facts dt {
  color: var(--quiet);
}
.facts dd {
  margin: 0;
  overflow-wrap: anywhere;
}
.answers {
  display: grid;
  gap: 0.625rem;
}
.answers .quiet {
  width: 100%;
}
`
