/** The stylesheet of the login pages, inline in each page and allowed by its hash (D-50). */

import { BASE_STYLES } from './base-styles.ts'
import { html } from './html.ts'
import { CODE_STYLES } from './look/code-styles.ts'
import { inlineSource } from './look/inline-source.ts'

export const STYLESHEET = html`${BASE_STYLES}
body {
  min-height: 100vh;
  min-height: 100svh;
  display: flex;
  flex-direction: column;
  padding: 1.25rem;
}
main {
  width: 100%;
  max-width: 24rem;
  margin: auto;
  padding: 2.25rem 2rem 2rem;
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: 1rem;
  box-shadow: 0 1px 2px rgb(15 20 30 / 4%), 0 12px 32px rgb(15 20 30 / 7%);
}
.mark {
  display: block;
  width: 2.5rem;
  height: 2.5rem;
  margin: 0 0 1.25rem;
  color: var(--accent);
}
.brand {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  margin: 0 0 1.25rem;
  color: var(--ink);
  font-weight: 600;
  overflow-wrap: anywhere;
}
.brand .mark {
  flex: none;
  margin: 0;
}
.logo {
  display: block;
  width: auto;
  max-width: 100%;
  height: 2.5rem;
  margin: 0 0 1.25rem;
  object-fit: contain;
  object-position: left;
}
h1 {
  margin: 0 0 0.5rem;
  font-size: 1.5rem;
  line-height: 1.25;
  font-weight: 650;
  letter-spacing: -0.015em;
  overflow-wrap: break-word;
}
h2 {
  margin: 0 0 0.25rem;
  font-size: 1.0625rem;
  line-height: 1.4;
  font-weight: 650;
}
p {
  margin: 0 0 1.5rem;
  color: var(--quiet);
  overflow-wrap: break-word;
}
main > :last-child {
  margin-bottom: 0;
}
h1 + form,
.alert {
  margin-top: 1.25rem;
}
.alert {
  padding: 0.75rem 0.875rem;
  border: 1px solid var(--alert-edge);
  border-radius: 0.5rem;
  background: var(--alert-ground);
  color: var(--alert);
  font-size: 0.9375rem;
}
label {
  display: block;
  margin: 0 0 0.375rem;
  font-size: 0.9375rem;
  font-weight: 600;
}
input {
  display: block;
  width: 100%;
  min-height: 2.875rem;
  margin: 0 0 1.125rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--field);
  color: var(--ink);
  font: inherit;
}
button {
  display: block;
  width: 100%;
  min-height: 2.875rem;
  margin: 0;
  padding: 0.5rem 1rem;
  border: 0;
  border-radius: 0.5rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:hover {
  background: var(--accent-strong);
}
input:not([type='hidden']) + button:not(.reveal) {
  margin-top: 1.75rem;
}
[tabindex='-1']:focus-visible {
  outline: 2px solid var(--line);
  outline-offset: -1px;
}
input:focus-visible {
  outline-offset: -1px;
  outline-width: 2px;
  border-color: var(--accent);
}
.signing-in {
  margin-bottom: 1.25rem;
  font-size: 0.9375rem;
}
.signing-in strong {
  color: var(--ink);
  overflow-wrap: anywhere;
}
.reveal {
  width: auto;
  min-height: 0;
  margin: -0.875rem 0 1.125rem auto;
  padding: 0.25rem;
  background: none;
  color: var(--accent);
  font-size: 0.875rem;
  font-weight: 500;
}
.reveal:hover {
  background: none;
  color: var(--accent-strong);
}
.check {
  display: flex;
  align-items: baseline;
  gap: 0.625rem;
  margin: 0 0 1.25rem;
  font-weight: 400;
}
.check input {
  flex: none;
  width: 1.125rem;
  min-height: 1.125rem;
  margin: 0;
  accent-color: var(--accent);
}
.steps .tools,
.tools {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem;
  margin: 0.75rem 0 0;
  font-size: 0.9375rem;
}
.quiet {
  width: auto;
  border: 1px solid var(--line);
  background: var(--field);
  color: var(--ink);
}
.quiet:hover {
  border-color: var(--accent);
  background: var(--field);
  color: var(--accent);
}
.tools .quiet {
  min-height: 2.25rem;
  padding: 0.25rem 0.75rem;
}
.choices {
  display: grid;
  gap: 0.625rem;
  margin: 0;
  padding: 0;
  list-style: none;
}
.choice {
  display: flex;
  align-items: center;
  justify-content: center;
  min-height: 2.875rem;
  padding: 0.5rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--field);
  color: var(--ink);
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  text-wrap: balance;
  overflow-wrap: anywhere;
}
.choice:hover {
  border-color: var(--accent);
  color: var(--accent);
}
.only {
  border-color: var(--accent);
  background: var(--accent);
  color: var(--on-accent);
}
.only:hover {
  border-color: var(--accent-strong);
  background: var(--accent-strong);
  color: var(--on-accent);
}
.or {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  margin: 1.5rem 0;
  font-size: 0.9375rem;
}
.or::before,
.or::after {
  content: '';
  flex: 1;
  border-top: 1px solid var(--edge);
}
.note,
.instead {
  margin: 1.25rem 0 0;
  font-size: 0.9375rem;
}
.note + p:not([class]) {
  margin-top: 1.25rem;
}
.instead {
  text-align: center;
}
${CODE_STYLES}.names {
  margin: -0.75rem 0 1.5rem;
  padding-left: 1.25rem;
  overflow-wrap: anywhere;
}
.start {
  margin-bottom: 1.5rem;
}
.reference {
  margin: 0;
  padding-top: 1.25rem;
  border-top: 1px solid var(--edge);
  font-size: 0.8125rem;
}
.foot {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: center;
  gap: 0.25rem 1rem;
  padding: 1.25rem 0 0;
  font-size: 0.875rem;
}
.foot p {
  margin: 0;
}
.foot ul {
  display: flex;
  flex-wrap: wrap;
  justify-content: center;
  gap: 0 0.25rem;
  margin: 0;
  padding: 0;
  list-style: none;
}
.foot a,
.foot span {
  display: block;
  padding: 0.25rem 0.5rem;
  color: var(--quiet);
}
.foot span {
  color: var(--ink);
  font-weight: 600;
}
code {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
  overflow-wrap: anywhere;
  user-select: all;
}
@media (max-width: 26rem) {
  body {
    padding: 0.75rem;
  }
  main {
    padding: 1.75rem 1.25rem 1.5rem;
  }
}
@media screen and (prefers-color-scheme: dark) {
  .logo {
    padding: 0.375rem 0.5rem;
    border-radius: 0.5rem;
    background: #ffffff;
  }
}
@media (forced-colors: active) {
  .mark {
    color: CanvasText;
  }
  button {
    border: 1px solid ButtonText;
  }
  .steps > li::before {
    border: 1px solid CanvasText;
  }
}
@media print {
  body {
    display: block;
    background: #ffffff;
    color: #000000;
  }
  main {
    border: 0;
    box-shadow: none;
  }
  .unprinted,
  .steps .unprinted,
  .signing-in,
  form,
  .instead,
  .note,
  .foot,
  .steps > li::before {
    display: none;
  }
  .printed {
    display: block;
  }
  .codes {
    background: #ffffff;
    break-inside: avoid;
  }
}
`

export const STYLESHEET_SOURCE = inlineSource(STYLESHEET)
